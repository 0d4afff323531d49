"""Whether a test session could read the rule that it is about."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Readability
from atr_data.variants import VARIANTS

_BETWEEN_WORDS = re.compile(r"[\W_]+")


def context_digest(context: str | None) -> str:
    """SHA-256 of the memory context that a session sees; of the empty text when it sees none."""
    return hashlib.sha256((context or "").encode()).hexdigest()


def rule_readability(
    episode: Episode, session: LearningSession | TestSession, variant: str, memory_text: str | None
) -> tuple[bool | None, Readability | None]:
    """Whether the memory text of a test session holds the answer of its rule, and how that was decided
    (evaluation.md section 11). An oracle was told the rule, and so can read it. Nothing is said of a learning
    session, and of a test whose rule has no answer."""
    if session.session_type == "learning":
        return None, None
    rule = episode.rule(session.rule_id)
    if rule is None or not (answer := folded(rule.canonical_answer)):
        return None, None
    told = VARIANTS[variant].is_oracle
    readable = told or f" {answer} " in f" {folded(memory_text or '')} "
    return readable, Readability(
        method="told" if told else "verbatim", memory_sha256=context_digest(memory_text)
    )


@lru_cache(maxsize=8)
def folded(text: str) -> str:
    """The words of a text, whatever their case, white space and punctuation. Kept for the tests of a cell,
    which see one text."""
    return _BETWEEN_WORDS.sub(" ", text.casefold()).strip()
