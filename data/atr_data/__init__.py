"""What is written down: episodes, trajectories, call logs; how they are loaded, checked and authored."""

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
