"""The encoder's file with what was learned added to its weights: a difference of low rank to each matrix of
the upper layers, and one to each of the rows beside them. Written into the bytes of the ONNX file, which is a
protobuf message, so that the runtime adds them once, when it loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Difference = Mapping[str, NDArray[np.floating]]
"""By the name of a matrix with `.down` and `.up` (its inputs to the rank, the rank to its outputs), or of a
row: `3.attention.self.query.up`, `3.attention.self.query.bias`, `3.output.LayerNorm.weight`."""

_LAYERS = "inner.encoder.layer."
_GRAPH, _NODE, _TENSOR, _GRAPH_OUTPUT = 7, 1, 5, 12
_FIRST = 1
_INPUT, _OUTPUT, _OPERATION = 1, 2, 4
_DIMENSION, _KIND, _NAME, _BYTES = 1, 2, 8, 9
_FLOAT = 1
_WHOLE, _SIZED = 0, 2
_FIXED = {1: 8, 5: 4}


def tuned(model: bytes, difference: Difference) -> bytes:
    """Raises KeyError for a name that the model does not have."""
    graph, changed = _Graph(model), bytearray(model)
    added = b""
    for name, values in difference.items():
        if name.endswith(".up"):
            continue
        if name.endswith(".down"):
            matrix = name.removesuffix(".down")
            weight = graph.weight_beside(f"{_LAYERS}{matrix}.bias")
            added += _sum(weight, values, difference[f"{matrix}.up"])
            changed[graph.made_at[weight]] = _other_name(weight).encode()
        else:
            row = graph.row(_LAYERS + name)
            changed[graph.tensors[_LAYERS + name]] = (row + values.astype(np.float32)).astype("<f4").tobytes()
    return bytes(changed) + _sized(_GRAPH, added)


def showing(model: bytes, layer: int) -> tuple[bytes, str]:
    """The model with one more output, named: what the layer reads."""
    name = _Graph(model).read_beside(f"{_LAYERS}{layer}.attention.self.query.bias")
    return model + _sized(_GRAPH, _sized(_GRAPH_OUTPUT, _sized(_FIRST, name.encode()))), name


def layer_weights(model: bytes, layer: int) -> dict[str, NDArray[np.float32]]:
    """Matrices (inputs by outputs) and rows of one layer, under the names that a difference gives them."""
    graph, start = _Graph(model), f"{_LAYERS}{layer}."
    found: dict[str, NDArray[np.float32]] = {}
    for name in graph.tensors:
        if name.startswith(start):
            short = name.removeprefix(_LAYERS)
            found[short] = graph.row(name)
            if short.endswith(".bias") and "LayerNorm" not in short:
                found[short.removesuffix(".bias")] = graph.matrix_beside(name)
    return found


class _Graph:
    """`tensors` and `made_at` say where in the file the bytes of a tensor are, and the name of what a node
    makes."""

    def __init__(self, model: bytes) -> None:
        self._model = model
        (graph,) = (value for field, value in _fields(model) if field == _GRAPH)
        self.tensors: dict[str, slice] = {}
        self.made_at: dict[str, slice] = {}
        self._makers: dict[str, list[str]] = {}
        self._with_bias: dict[str, str] = {}
        for field, value in _fields(model, graph):
            if field == _TENSOR:
                parts: dict[int, slice] = dict(_fields(model, value))
                self.tensors[model[parts[_NAME]].decode()] = parts.get(_BYTES, slice(0, 0))
            elif field == _NODE:
                self._add_node(list(_fields(model, value)))

    def _add_node(self, parts: list[tuple[int, slice]]) -> None:
        taken = [self._model[place].decode() for field, place in parts if field == _INPUT]
        made = {self._model[place].decode(): place for field, place in parts if field == _OUTPUT}
        self.made_at |= made
        self._makers |= dict.fromkeys(made, taken)
        self._with_bias |= {bias: taken[0] for bias in taken[1:] if bias.endswith(".bias")}

    def row(self, name: str) -> NDArray[np.float32]:
        return np.frombuffer(self._model[self.tensors[name]], "<f4").astype(np.float32)

    def weight_beside(self, bias: str) -> str:
        """The matrix of the product to which the bias is added."""
        return self._makers[self._with_bias[bias]][1]

    def read_beside(self, bias: str) -> str:
        """What that matrix is multiplied with."""
        return self._makers[self._with_bias[bias]][0]

    def matrix_beside(self, bias: str) -> NDArray[np.float32]:
        """That matrix: a byte a number in the file, times a scale for each output."""
        plain, scale = self._makers[self.weight_beside(bias)]
        scales = self.row(scale)
        numbers = np.frombuffer(self._model[self.tensors[self._makers[plain][0]]], np.int8)
        return numbers.astype(np.float32).reshape(-1, len(scales)) * scales


def _sum(weight: str, down: NDArray[np.floating], up: NDArray[np.floating]) -> bytes:
    """Nodes that make `weight` of what it was, under its other name, and the product of the two."""
    tensors = _tensor(f"{weight}.down", down) + _tensor(f"{weight}.up", up)
    product = _node("MatMul", (f"{weight}.down", f"{weight}.up"), f"{weight}.difference")
    return tensors + product + _node("Add", (_other_name(weight), f"{weight}.difference"), weight)


def _other_name(name: str) -> str:
    """Of the same length, so that nothing in the file moves."""
    return name[:-1].swapcase() + name[-1]


def _tensor(name: str, values: NDArray[np.floating]) -> bytes:
    dimensions = b"".join(_number(_DIMENSION << 3) + _number(size) for size in values.shape)
    kind = _number(_KIND << 3) + _number(_FLOAT)
    content = _sized(_NAME, name.encode()) + _sized(_BYTES, values.astype("<f4").tobytes())
    return _sized(_TENSOR, dimensions + kind + content)


def _node(operation: str, taken: tuple[str, ...], made: str) -> bytes:
    inputs = b"".join(_sized(_INPUT, name.encode()) for name in taken)
    return _sized(_NODE, inputs + _sized(_OUTPUT, made.encode()) + _sized(_OPERATION, operation.encode()))


def _sized(field: int, content: bytes) -> bytes:
    return _number(field << 3 | _SIZED) + _number(len(content)) + content


def _number(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _fields(message: bytes, within: slice = slice(None)) -> Iterator[tuple[int, Any]]:
    """Of the part of a message. Numbers come as numbers, of all else comes where it is."""
    place, end, _ = within.indices(len(message))
    while place < end:
        key, place = _read_number(message, place)
        kind = key & 7
        if kind == _WHOLE:
            value, place = _read_number(message, place)
        else:
            size, place = _read_number(message, place) if kind == _SIZED else (_FIXED[kind], place)
            value, place = slice(place, place + size), place + size
        yield key >> 3, value


def _read_number(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place
