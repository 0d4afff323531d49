"""Runs the benchmark: turn loop, cells, sweeps, command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atr_client.cell.cell_runner import run_cell
    from atr_client.cell.play_episode import EpisodeResult, play_episode
    from atr_client.gateway.stepper import EpisodeStepper
    from atr_client.session.session_runner import run_session
    from atr_client.sweep.sweep_runner import run_sweep

__all__ = ["EpisodeResult", "EpisodeStepper", "play_episode", "run_cell", "run_session", "run_sweep"]

_HOME = {
    "EpisodeResult": "cell.play_episode",
    "EpisodeStepper": "gateway.stepper",
    "play_episode": "cell.play_episode",
    "run_cell": "cell.cell_runner",
    "run_session": "session.session_runner",
    "run_sweep": "sweep.sweep_runner",
}


def __getattr__(name: str) -> Any:
    """Loads the public names on first use: a command's `--help` must not wait for them."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
