"""What sessions on disk have cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from atr_client.outputs.layout import CellFolder
from atr_data import DataError, load_trajectory
from atr_data.trajectory import Trajectory
from atr_data.usage import Usage


def on_disk(folders: Iterable[CellFolder]) -> Iterator[Trajectory]:
    """The whole trajectories of some cells; torn files and foreign ones are passed over."""
    for folder in folders:
        for path in sorted(folder.trajectories.glob("*.json")):
            try:
                yield load_trajectory(path)
            except DataError:
                continue


def spent(folders: Iterable[CellFolder]) -> Usage:
    """The calls of all roles in the finished sessions. Calls of a session that was cut off left no trace."""
    return sum((usage for t in on_disk(folders) for usage in t.token_usage.values()), Usage())
