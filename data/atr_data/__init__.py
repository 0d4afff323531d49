"""What is written down: episodes, trajectories, call logs; how they are loaded, checked and authored."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atr_data.episode import Episode
    from atr_data.errors import DataError
    from atr_data.load import load_episode, load_trajectory
    from atr_data.select import packaged_episodes_dir, select_episodes
    from atr_data.trajectory import Trajectory
    from atr_data.validate import Finding, validate_episode

__all__ = [
    "DataError",
    "Episode",
    "Finding",
    "Trajectory",
    "load_episode",
    "load_trajectory",
    "packaged_episodes_dir",
    "select_episodes",
    "validate_episode",
]

_HOME = {
    "DataError": "errors",
    "Episode": "episode",
    "Finding": "validate",
    "Trajectory": "trajectory",
    "load_episode": "load",
    "load_trajectory": "load",
    "packaged_episodes_dir": "select",
    "select_episodes": "select",
    "validate_episode": "validate",
}


def __getattr__(name: str) -> Any:
    """Loads the public names on first use: a command's `--help` must not wait for pydantic."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
