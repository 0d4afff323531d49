"""The weights that ship fit the program, the data and the encoder they were made with."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from atr_user_sim.offline.minilm import PIECES
from atr_user_sim.offline.wordpieces import WordPieces
from atr_user_training.made_from import RECORD, TUNING_RECORD, digest_of_code, made_from, recorded, tuned_from


@pytest.mark.parametrize(
    ("found", "file"), [(made_from, RECORD), (tuned_from, TUNING_RECORD)], ids=["heads", "encoder"]
)
def test_the_weights_are_of_this_data_and_these_programs(
    found: Callable[[], Mapping[str, str]], file: Path
) -> None:
    """What differs is named; `make train-user`, for the encoder `make tune-encoder` before it, mends it."""
    now, then = found(), recorded(file)
    if now["python"] != then["python"]:
        pytest.skip("what a module looks like depends on the version of Python")
    assert sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name)) == []


@pytest.mark.parametrize(
    ("code", "alike"),
    [
        ("def f(x):\n    return x + 2\n", False),
        ("def f(x, y=0):\n    return x + 1\n", False),
        ("def f(x):\n    # one more\n    return (x + 1)\n", True),
        ('"""Adds."""\n\ndef f(x):\n    """Adds one."""\n    return x + 1\n', True),
    ],
    ids=["number", "argument", "comment", "docstring"],
)
def test_code_that_does_something_else_is_noticed_and_words_about_it_are_not(
    tmp_path: Path, code: str, alike: bool
) -> None:
    before, after = tmp_path / "before.py", tmp_path / "after.py"
    before.write_text("def f(x):\n    return x + 1\n", encoding="utf-8")
    after.write_text(code, encoding="utf-8")
    assert (digest_of_code(before) == digest_of_code(after)) is alike


def test_most_of_what_the_shipped_users_know_needs_no_encoding() -> None:
    """Lines that changed since cost some milliseconds each until `make train-user` has run again."""
    pytest.importorskip("onnxruntime")
    from atr_user_sim.offline.text_vectors import TextVectors
    from atr_user_training.shipped_texts import shipped_texts

    texts, known = shipped_texts(), TextVectors()
    assert sum(text in known for text in texts) >= 0.9 * len(texts) > 1_000


def test_a_vector_from_the_file_is_the_one_that_the_encoder_gives() -> None:
    """To rounding: processors multiply bytes in different ways."""
    pytest.importorskip("onnxruntime")
    from atr_user_sim.offline.text_vectors import TextVectors
    from atr_user_training.shipped_texts import shipped_texts

    texts = sorted(shipped_texts())[::500]
    read, encoded = TextVectors().vectors(texts), TextVectors(file=None).vectors(texts)
    assert ((read * encoded).sum(axis=1) > 0.99).all()
    assert (abs((read * read).sum(axis=1) - 1) < 1e-5).all()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Aisle, or window-seat?", "aisle , or window - seat ?"),
        ("Naïve café — “quotes”…", "naive cafe — “ quotes ” …"),
        ("日本 pays €5.50!", "日 本 pays € ##5 . 50 !"),
        ("x" * 101, "[UNK]"),
        ("don't\tunbookable\u200b", "don ' t un ##book ##able"),
        ("", ""),
    ],
)
def test_a_text_is_cut_as_the_encoder_was_trained_to_read_it(text: str, pieces: str) -> None:
    """As the package `tokenizers` cuts them with the encoder's own settings."""
    known = PIECES.read_text(encoding="utf-8").split("\n")
    cut = [known[number] for number in WordPieces(PIECES).numbers(text)]
    assert cut == ["[CLS]", *pieces.split(), "[SEP]"]


def test_a_text_that_is_too_long_is_cut() -> None:
    assert len(WordPieces(PIECES).numbers("one " * 1_000)) == 256


_DESCRIBED = """
import hashlib, json
from atr_user_sim.calibration.records import persona_lines, questions, statements
from atr_user_sim.interface import PoolRule
from atr_user_sim.offline.classifier import described
from atr_user_sim.offline.knowledge import known_pool
persona = questions()[0].persona
rules = [PoolRule(s.rule, s.statement) for s in statements() if s.persona == persona]
pool = known_pool(rules, persona_lines())
asked = [described(q.question, pool) for q in questions()[:40]]
print(hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest())
"""


def test_what_words_tell_is_the_same_in_every_process() -> None:
    """Sets have another order in each: to the last bit, or training would not give the same bytes twice."""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _DESCRIBED],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] != ""
