"""The files that a score is made from: each read once, digested and taken in."""

from __future__ import annotations

import hashlib
import logging
import os
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from atr_data.episode import Episode
from atr_data.errors import DataError
from atr_data.json_text import episode_json
from atr_data.reading import StrPath, read_bytes
from atr_data.shared_memory import SharedMemory
from atr_data.skimming import skim_trajectory
from atr_data.trajectory import Trajectory

logger = logging.getLogger(__name__)


class InputsDigest:
    """SHA-256 over the episode, the variant and the files that a score is made from. The parts carry their
    length, so that no two inputs run together; a file that cannot be read counts as empty."""

    def __init__(self, episode: Episode, variant: str | None) -> None:
        self._digest = _digest_of(episode_json(episode)).copy()
        self._add((variant or "").encode())

    def add(self, name: str, content: bytes) -> None:
        encoded = os.fsencode(name)
        self._digest.update(b"%b%b%b" % (_length(encoded), encoded, _length(content)))
        self._digest.update(content)

    @property
    def text(self) -> str:
        return self._digest.hexdigest()

    def _add(self, part: bytes) -> None:
        self._digest.update(_length(part))
        self._digest.update(part)


@lru_cache(maxsize=4)
def _digest_of(episode: bytes) -> Any:
    """With which the digests of all its cells begin."""
    return hashlib.sha256(_length(episode) + episode)


def _length(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big")


class ReadTrajectories:
    """The trajectories of a cell that can be parsed, by the name of their file, without the memory text in
    their prompts; the others are told in `errors`. Raises DataError when there is no folder of them."""

    def __init__(self, cell_dir: Path, digest: InputsDigest | None) -> None:
        self.parsed: dict[str, Trajectory] = {}
        self.errors: list[dict[str, str]] = []
        self._memory = SharedMemory()
        for file in trajectory_files(cell_dir):
            self._read(file, digest)

    def _read(self, file: os.DirEntry[str], digest: InputsDigest | None) -> None:
        content = b""
        try:
            content = read_bytes(file.path)
            self.parsed[file.name.removesuffix(".json")] = skim_trajectory(file.path, content, self._memory)
        except DataError as error:
            logger.warning("%s is skipped: %s", file.path, error.reason)
            reason = f"{error.key}: {error.reason}" if error.key else error.reason
            self.errors.append({"file": file.name, "reason": reason})
        finally:
            if digest is not None:
                digest.add(file.name, content)


def trajectory_files(cell_dir: Path) -> list[os.DirEntry[str]]:
    """By name. Raises DataError when a cell has no folder for them."""
    folder = cell_dir / "trajectories"
    if not folder.is_dir():
        raise DataError("there is no such folder; a cell that ran has one", path=folder)
    with os.scandir(folder) as entries:
        return sorted((one for one in entries if one.name.endswith(".json")), key=attrgetter("name"))


def content_of(path: StrPath) -> bytes:
    """What cannot be read counts as empty; it is among the parse errors."""
    try:
        return read_bytes(path)
    except DataError:
        return b""
