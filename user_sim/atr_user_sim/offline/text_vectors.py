"""Vectors of texts, each encoded once: those of the question lines that ship are in a file, by the digest of
the text. A vector is kept as one byte a number, read from the file or not, so that it is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from atr_user_sim.offline.head import WEIGHTS
from atr_user_sim.offline.minilm import TUNING, MiniLM

Vectors = NDArray[np.float32]
_Bytes = NDArray[np.int8]

VECTORS = "vectors.npz"
"""In a folder of weights, of the encoder with the tuning there."""

_DIGEST_BYTES = 8


class TextVectors:
    """By the encoder with a tuning. `file` has vectors that need no encoding. The model is made at once, so
    that ImportError comes before anything is judged; its weights are read when a text comes that the file
    does not know."""

    def __init__(self, tuning: Path = WEIGHTS / TUNING, file: Path | None = WEIGHTS / VECTORS) -> None:
        self._model = MiniLM(tuning)
        self._known = dict(_read(file)) if file and file.exists() else {}

    def vectors(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._vector(text) for text in texts])

    def __contains__(self, text: str) -> bool:
        """Whether it needs no encoding."""
        return _digest(text) in self._known

    def save(self, file: Path, texts: Iterable[str] | None = None) -> None:
        """Those of the texts, or all, in the order of their digests: the same bytes for the same texts."""
        kept = self._known if texts is None else {_digest(text): self._bytes(text) for text in texts}
        digests = sorted(kept)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as out:
            np.savez(
                out,
                digests=np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _DIGEST_BYTES),
                vectors=np.stack([kept[digest] for digest in digests]),
            )

    def _vector(self, text: str) -> Vectors:
        found = self._bytes(text).astype(np.float32)
        return cast(Vectors, found / np.linalg.norm(found))

    def _bytes(self, text: str) -> _Bytes:
        digest = _digest(text)
        if digest not in self._known:
            vector = self._model.vector(text)
            self._known[digest] = np.rint(vector * (127 / np.abs(vector).max())).astype(np.int8)
        return self._known[digest]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:_DIGEST_BYTES]


@cache
def _read(file: Path) -> dict[bytes, _Bytes]:
    with np.load(file) as stored:
        digests, vectors = stored["digests"], stored["vectors"]
    return {digest.tobytes(): vector for digest, vector in zip(digests, vectors, strict=True)}
