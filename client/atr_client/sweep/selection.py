"""Which cells of a sweep are wanted: its `include` and `exclude`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from atr_client.outputs.layout import CellKey
from atr_client.sweep.config import CellPattern, RunConfig


class Selection:
    """Tells of each cell whether it is wanted, and in the end which patterns matched none. `only` is the one
    cell that is, whatever the patterns say."""

    def __init__(self, config: RunConfig, only: CellKey | None = None) -> None:
        self._include, self._exclude, self._only = config.include, config.exclude, only
        self._used: set[str] = set()

    def wants(self, key: CellKey) -> bool:
        if self._only is not None:
            return key == self._only
        included = self._matches("include", self._include, key)
        excluded = self._matches("exclude", self._exclude, key)
        return (included or not self._include) and not excluded

    @property
    def unused(self) -> list[str]:
        """The patterns that matched no cell, by their key in the configuration."""
        sections = (("include", self._include), ("exclude", self._exclude))
        names = [f"{name}.{index}" for name, patterns in sections for index in range(len(patterns))]
        return [name for name in names if name not in self._used]

    def _matches(self, section: str, patterns: Sequence[CellPattern], key: CellKey) -> bool:
        found = [f"{section}.{index}" for index, pattern in enumerate(patterns) if _fits(pattern, key)]
        self._used.update(found)
        return bool(found)


def _fits(pattern: CellPattern, key: CellKey) -> bool:
    texts: Mapping[str, str] = {
        "persona": key.persona_id,
        "episode": key.episode_id,
        "variant": key.variant,
        "model": key.model,
        "layer": key.layer or "",
    }
    wanted: Mapping[str, Sequence[str] | None] = {name: getattr(pattern, name) for name in texts}
    fitting = (
        any(fnmatchcase(texts[name], glob) for glob in globs)
        for name, globs in wanted.items()
        if globs is not None
    )
    return all(fitting) and (pattern.trial is None or key.trial in pattern.trial)
