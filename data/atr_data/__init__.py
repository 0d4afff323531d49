"""What is written down: episodes, trajectories, call logs; how they are loaded, checked and authored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atr_data.lazy_names import loaded_on_use

if TYPE_CHECKING:
    from atr_data.episode import Episode
    from atr_data.errors import DataError
    from atr_data.load import load_episode, load_trajectory
    from atr_data.select import named_episode, named_episodes, packaged_episodes_dir, select_episodes
    from atr_data.trajectory import Trajectory
    from atr_data.validate import Finding, validate_episode

__all__ = [
    "DataError",
    "Episode",
    "Finding",
    "Trajectory",
    "load_episode",
    "load_trajectory",
    "named_episode",
    "named_episodes",
    "packaged_episodes_dir",
    "select_episodes",
    "validate_episode",
]

__getattr__ = loaded_on_use(
    __name__,
    {
        "DataError": "errors",
        "Episode": "episode",
        "Finding": "validate",
        "Trajectory": "trajectory",
        "load_episode": "load",
        "load_trajectory": "load",
        "named_episode": "select",
        "named_episodes": "select",
        "packaged_episodes_dir": "select",
        "select_episodes": "select",
        "validate_episode": "validate",
    },
)
