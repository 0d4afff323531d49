"""Signs of what sort of question it is: of one case or of a kind, open or a choice, broad or narrow."""

from __future__ import annotations

import re
from collections.abc import Mapping

from atr_user_sim.offline.statements import Question

_SIGNS: Mapping[str, re.Pattern[str]] = {
    "points": re.compile(r"\b(?:this|these|that|those)\b", re.I),
    "dated": re.compile(
        r"\b(?:tonight|today|tomorrow|now|(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday"
        r"|next week|this week)\b",
        re.I,
    ),
    "digit": re.compile(r"\d"),
    "habit": re.compile(
        r"\b(?:always|usually|generally|in general|typically|normally|as a rule|from now on|prefer\w*"
        r"|ever|whenever)\b",
        re.I,
    ),
    "or": re.compile(r"\bor\b", re.I),
    "which": re.compile(r"^(?:what|which)", re.I),
    "how": re.compile(r"\bhow\b", re.I),
    "when": re.compile(r"\bwhen\b", re.I),
    "if": re.compile(r"\bif\b", re.I),
    "broad": re.compile(
        r"\b(?:anything|something|general|overall|everything|things|approach|habits?|rules?)\b", re.I
    ),
    "state": re.compile(r"^(?:is|are|does|do|did|was|has|have)\b", re.I),
    "proposal": re.compile(r"^(?:should|shall|may|can|could|would)\b", re.I),
    "definite": re.compile(r"\bthe\b", re.I),
    "your": re.compile(r"\byour\b", re.I),
    "name": re.compile(r"(?<=[a-z,] )[A-Z][a-z]+"),
    "colon": re.compile(r":"),
    "me": re.compile(r"\b(?:me|i)\b", re.I),
    "kind": re.compile(r"\b(?:kind|sort|type)s?\b", re.I),
    "past": re.compile(r"\b(?:did|was|were|has|have)\b", re.I),
    "who": re.compile(r"\b(?:who|whom|where|why)\b", re.I),
    "any": re.compile(r"\b(?:an?|any|some)\b", re.I),
}


def question_signs(question: Question) -> dict[str, float]:
    """How often each sign occurs, and how long the question is."""
    text = question.whole.text
    found = {f"sign_{name}": float(len(pattern.findall(text))) for name, pattern in _SIGNS.items()}
    return found | {"length": float(len(text.split())), "stems": float(len(question.whole.stems))}
