"""Runs the benchmark: turn loop, cells, sweeps, command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atr_data.lazy_names import loaded_on_use

if TYPE_CHECKING:
    from atr_client.cell.cell_runner import run_cell
    from atr_client.cell.play_episode import EpisodeResult, play_episode
    from atr_client.gateway.stepper import EpisodeStepper
    from atr_client.session.session_runner import run_session
    from atr_client.sweep.sweep_runner import run_sweep

__all__ = ["EpisodeResult", "EpisodeStepper", "play_episode", "run_cell", "run_session", "run_sweep"]

__getattr__ = loaded_on_use(
    __name__,
    {
        "EpisodeResult": "cell.play_episode",
        "EpisodeStepper": "gateway.stepper",
        "play_episode": "cell.play_episode",
        "run_cell": "cell.cell_runner",
        "run_session": "session.session_runner",
        "run_sweep": "sweep.sweep_runner",
    },
)
