"""The episodes of other personas, for models that learn from them."""

from __future__ import annotations

from pathlib import Path

from atr_data import Episode, load_episode
from atr_data.select import episode_files
from atr_data.shuffle import reordered


class OtherPersonas:
    """The episodes in a folder, read when they are first asked for. `seed` reorders them too."""

    def __init__(self, folder: Path, seed: int | None) -> None:
        self._folder = folder
        self._seed = seed
        self._read: dict[Path, Episode] = {}

    def than(self, episode: Episode, path: Path) -> list[Episode]:
        """The episodes of all other personas in the folder, or beside `path` when that is elsewhere.

        Raises DataError when one of them cannot be used.
        """
        inside = path.resolve().is_relative_to(self._folder.resolve())
        files = episode_files(self._folder if inside else path.parent).values()
        episodes = [self._load(file) for file in files]
        return [peer for peer in episodes if peer.persona_id != episode.persona_id]

    def _load(self, path: Path) -> Episode:
        if path not in self._read:
            self._read[path] = reordered(load_episode(path), self._seed)
        return self._read[path]
