"""The upper layers of the encoder in torch, to be trained: texts of a batch lie behind one another without
padding, but for the attention, and are multiplied in half precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_HEADS, _HEAD = 12, 32
_WIDTH = _HEADS * _HEAD
_LOST = 0.1
_PARTS = 3
"""A batch is cut in as many, by length, so that little is padded."""


class UpperLayers:
    """`weights` by names as in `tuned_model.layer_weights`."""

    def __init__(self, torch: Any, weights: Mapping[str, Any], layers: Sequence[int]) -> None:
        self._torch, self._layers = torch, layers
        self._of = {
            name: torch.nn.Parameter(torch.tensor(np.ascontiguousarray(values)))
            for name, values in weights.items()
        }

    @property
    def parameters(self) -> list[Any]:
        return list(self._of.values())

    def weights(self) -> dict[str, Any]:
        return {name: values.detach().numpy() for name, values in self._of.items()}

    def means(self, states: Sequence[Any]) -> Any:
        """The unit vector of each text, of what the lower layers have for its pieces; some of it is lost by
        chance, as training wants."""
        order = sorted(range(len(states)), key=lambda number: len(states[number]))
        size = -(-len(order) // _PARTS)
        parts = [order[start : start + size] for start in range(0, len(order), size)]
        found = self._torch.cat([self._means([states[number] for number in part]) for part in parts])
        return found[self._torch.tensor(order).argsort()]

    def _means(self, states: Sequence[Any]) -> Any:
        torch = self._torch
        sizes = torch.tensor([len(state) for state in states])
        there = torch.arange(int(sizes.max()))[None] < sizes[:, None]
        found = torch.from_numpy(np.concatenate(states))
        with torch.autocast("cpu", torch.bfloat16):
            for layer in self._layers:
                found = self._layer(layer, found, there)
        found = found.float()
        sums = torch.stack([part.sum(0) for part in found.split(sizes.tolist())])
        return torch.nn.functional.normalize(sums, dim=1)

    def _layer(self, layer: int, pieces: Any, there: Any) -> Any:
        torch, functional = self._torch, self._torch.nn.functional
        at = f"{layer}.attention"
        query, key, value = (
            self._padded(self._mapped(f"{at}.self.{name}", pieces), there)
            for name in ("query", "key", "value")
        )
        bias = torch.where(there, 0.0, -1e9)[:, None, None, :]
        shares = torch.softmax((query @ key.transpose(-1, -2)).float() * _HEAD**-0.5 + bias, -1)
        seen = (shares.to(value.dtype) @ value).transpose(1, 2).reshape(*there.shape, _WIDTH)[there]
        pieces = self._added(f"{at}.output", pieces, self._mapped(f"{at}.output.dense", seen))
        inner = functional.gelu(self._mapped(f"{layer}.intermediate.dense", pieces))
        return self._added(f"{layer}.output", pieces, self._mapped(f"{layer}.output.dense", inner))

    def _mapped(self, name: str, pieces: Any) -> Any:
        return self._torch.nn.functional.linear(pieces, self._of[name].T, self._of[f"{name}.bias"])

    def _added(self, name: str, pieces: Any, more: Any) -> Any:
        functional = self._torch.nn.functional
        weight, bias = (self._of[f"{name}.LayerNorm.{part}"] for part in ("weight", "bias"))
        kept = functional.dropout(more, _LOST, True)
        return functional.layer_norm(pieces + kept, (_WIDTH,), weight, bias, 1e-12)

    def _padded(self, pieces: Any, there: Any) -> Any:
        """By text, head, place."""
        padded = pieces.new_zeros(*there.shape, _WIDTH)
        padded[there] = pieces
        return padded.view(*there.shape, _HEADS, _HEAD).transpose(1, 2)
