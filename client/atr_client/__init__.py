"""Runs the benchmark: turn loop, cells, sweeps, command line.

The names of the public API are imported when they are first used, so that a command's help answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from atr_client.cell_run import run_cell as run_cell
    from atr_client.session import run_session as run_session
    from atr_client.sweep import run_sweep as run_sweep

_HOMES = {"run_cell": "cell_run", "run_session": "session", "run_sweep": "sweep"}

__all__ = ["run_cell", "run_session", "run_sweep"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
