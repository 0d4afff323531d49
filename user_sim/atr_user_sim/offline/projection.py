"""A linear map of the encoder's space that makes texts which ask for the same rule alike."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


class Projection:
    """Centres, maps and brings to unit length. Kept in half precision."""

    def __init__(self, centre: Vectors, matrix: Vectors) -> None:
        self._centre = centre.astype(np.float16)
        self._matrix = matrix.astype(np.float16)

    def __call__(self, vectors: Vectors) -> Vectors:
        mapped = (vectors - self._centre.astype(np.float64)) @ self._matrix.astype(np.float64)
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
        return cls(centre.astype(np.float64), matrix.astype(np.float64))
