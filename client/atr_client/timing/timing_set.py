"""The set that a run plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from atr_data.timing.set_folder import UserFiles, load_set
from atr_evaluator.timing import UserPlay, set_hash


@dataclass(frozen=True, slots=True)
class TimingSet:
    """The users of a set and the folder that holds them. `name` tells it from every other set."""

    folder: Path
    users: Sequence[UserFiles]
    sha256: str

    @classmethod
    def load(cls, folder: Path) -> TimingSet:
        """Raises DataError, and TimingError with a code, for a set that cannot be used."""
        users = load_set(folder)
        return cls(folder, users, set_hash([UserPlay(one.stream, one.gold) for one in users]))

    @property
    def name(self) -> str:
        return f"{self.users[0].stream.header.source.split}-{self.sha256[:8]}"
