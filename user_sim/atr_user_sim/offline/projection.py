"""A linear map of the encoder's space that makes texts which ask for the same rule alike."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Projection:
    """Centres, maps and brings to unit length. Kept in half precision."""

    def __init__(self, centre: NDArray[np.floating], matrix: NDArray[np.floating]) -> None:
        self._centre = centre.astype(np.float16)
        self._matrix = matrix.astype(np.float16)
        self._single = self._centre.astype(np.float32), self._matrix.astype(np.float32)

    def __call__(self, vectors: Vectors) -> Vectors:
        centre, matrix = self._single
        mapped = (vectors - centre) @ matrix
        return cast(Vectors, mapped / np.linalg.norm(mapped, axis=-1, keepdims=True))

    def to_json(self) -> dict[str, Any]:
        return {
            "shape": list(self._matrix.shape),
            "centre": base64.b64encode(self._centre.astype("<f2").tobytes()).decode(),
            "matrix": base64.b64encode(self._matrix.astype("<f2").tobytes()).decode(),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Projection:
        centre = np.frombuffer(base64.b64decode(raw["centre"]), "<f2")
        matrix = np.frombuffer(base64.b64decode(raw["matrix"]), "<f2").reshape(raw["shape"])
        return cls(centre, matrix)
