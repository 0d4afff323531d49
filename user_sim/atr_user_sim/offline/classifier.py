"""Which statement of a pool answers a question, if any: features of words and meaning, judged by what was
learned from labelled questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from atr_user_sim.interface import ClassifierVerdict, PoolRule
from atr_user_sim.lines import RuleLines
from atr_user_sim.offline.head import WEIGHTS, head_name, trained_head, weights
from atr_user_sim.offline.knowledge import KnownPool, known_pool
from atr_user_sim.offline.minilm import TUNING, TextEncoder, check_installed, installed
from atr_user_sim.offline.question_signs import question_signs
from atr_user_sim.offline.statements import read_question
from atr_user_sim.offline.word_features import Columns, word_features

TextComparison = Literal["lexical", "minilm"]


class OfflineClassifier:
    """`encoder` None: words alone. `lines` are what the user knows of her rules beside their statements, by
    rule id; a pool of which a rule has none is judged by the statements alone. What it reads of a pool it
    keeps."""

    def __init__(
        self,
        encoder: TextEncoder | None = None,
        lines: Mapping[str, RuleLines] | None = None,
        folder: Path = WEIGHTS,
    ) -> None:
        self._encoder = encoder
        self._lines: Mapping[str, RuleLines] = {} if lines is None else lines
        self._folder = folder
        self._pools: dict[tuple[PoolRule, ...], _Prepared] = {}

    def with_lines(self, lines: Mapping[str, RuleLines]) -> OfflineClassifier:
        """The same one for another user; the encoder is shared."""
        return OfflineClassifier(self._encoder, lines, self._folder)

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        if not pool:
            return ClassifierVerdict(None)
        known = tuple(pool)
        if known not in self._pools:
            self._pools[known] = _Prepared(known_pool(known, self._lines), self._encoder, self._folder)
        chosen = self._pools[known].choose(question)
        return ClassifierVerdict(None if chosen is None else known[chosen].rule_id)


class _Prepared:
    """A pool with its vectors and the head that fits what is known of it."""

    def __init__(self, pool: KnownPool, encoder: TextEncoder | None, folder: Path) -> None:
        self._pool = pool
        self._encoder = encoder
        self._vectors: Any = None
        if encoder:
            from atr_user_sim.offline.meaning_features import PoolVectors

            self._vectors = PoolVectors(pool, encoder, trained_projection(folder))
        name = head_name(encoder=encoder is not None, lines=pool.has_lines)
        self._head = trained_head(folder, name)

    def choose(self, question: str) -> int | None:
        columns = described(question, self._pool)
        if self._encoder:
            tables = self._vectors.features(self._encoder.vectors([question]))
            columns |= {name: table[0].tolist() for name, table in tables.items()}
        return self._head.choose(columns)


def described(question: str, pool: KnownPool) -> Columns:
    """What the words of a question tell, per rule of a pool."""
    asked = read_question(question)
    signs = {name: [value] * len(pool.rules) for name, value in question_signs(asked).items()}
    return word_features(asked, pool) | signs


@cache
def trained_projection(folder: Path) -> Any:
    from atr_user_sim.offline.projection import Projection

    return Projection.from_json(weights(folder, "projection"))


def default_comparison() -> TextComparison:
    """The encoder where it is installed."""
    return "minilm" if installed() else "lexical"


def offline_classifier(
    comparison: TextComparison | None = None, lines: Mapping[str, RuleLines] | None = None
) -> OfflineClassifier:
    """By default as `default_comparison` says. Raises ImportError, which names what to install."""
    return OfflineClassifier(offline_encoder(comparison or default_comparison()), lines)


def offline_encoder(comparison: TextComparison, folder: Path = WEIGHTS) -> TextEncoder | None:
    """None for `lexical`; else the one that the folder's weights are made for, one for the whole process.
    Raises ImportError as `offline_classifier` does."""
    if comparison == "lexical":
        return None
    check_installed()
    return _encoder(folder)


@cache
def _encoder(folder: Path) -> TextEncoder:
    from atr_user_sim.offline.text_vectors import VECTORS, TextVectors

    return TextVectors(folder / TUNING, folder / VECTORS)
