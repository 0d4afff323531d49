"""How good an offer is that came at the right time: intent, target, and what its query names."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass

from atr_data.timing.decisions import Assist
from atr_data.timing.gold import Aliases, Need

WEIGHTS = {"intent": 0.5, "target": 0.3, "facts": 0.2}


@dataclass(frozen=True, slots=True)
class Content:
    """Each part in 0..1, None where there is no gold for it. `score` is the weighted mean of the parts that
    count, None when none does."""

    intent: float | None
    target: float | None
    facts: float | None
    slots: float | None
    query: float | None

    @property
    def score(self) -> float | None:
        parts = {"intent": self.intent, "target": self.target, "facts": self.facts}
        known = {name: value for name, value in parts.items() if value is not None}
        weight = sum(WEIGHTS[name] for name in known)
        return sum(WEIGHTS[name] * value for name, value in known.items()) / weight if known else None

    @property
    def right(self) -> bool:
        """Whether intent and target, where gold has them, are both right."""
        return self.intent in (None, 1.0) and self.target in (None, 1.0)


def judge_content(need: Need, assist: Assist) -> Content:
    """Compares an offer with what its need asked for."""
    return Content(
        intent=None if need.intent is None else float(assist.intent == need.intent),
        target=None if need.target is None else float(assist.target == need.target),
        facts=fact_f1(need.facts, need.foils, assist.query or "") if need.facts else None,
        slots=_slot_f1(need.slots, assist.slots) if need.slots else None,
        query=None if need.query is None else query_f1(need.query, assist.query or ""),
    )


def fact_f1(facts: tuple[Aliases, ...], foils: tuple[Aliases, ...], query: str) -> float:
    """Facts named are hits, facts left out misses, foils named false hits."""
    words = tokens(query)
    hits = sum(_named(fact, words) for fact in facts)
    false_hits = sum(_named(foil, words) for foil in foils)
    total = 2 * hits + false_hits + (len(facts) - hits)
    return 2 * hits / total if total else 0.0


def _named(aliases: Aliases, words: list[str]) -> bool:
    return any(_within(tokens(alias), words) for alias in aliases)


def _within(part: list[str], whole: list[str]) -> bool:
    size = len(part)
    return size > 0 and any(whole[i : i + size] == part for i in range(len(whole) - size + 1))


def query_f1(gold: str, given: str) -> float:
    """F1 over tokens, as often as they occur."""
    wanted, got = Counter(tokens(gold)), Counter(tokens(given))
    common = (wanted & got).total()
    return 2 * common / (wanted.total() + got.total()) if common else 0.0


def tokens(text: str) -> list[str]:
    """Words of letters and digits, case folded; characters of CJK scripts stand alone."""
    found: list[str] = []
    word = ""
    for character in unicodedata.normalize("NFKC", text).casefold():
        if _is_cjk(character):
            found.extend([word, character] if word else [character])
            word = ""
        elif character.isalnum():
            word += character
        elif word:
            found.append(word)
            word = ""
    return [*found, word] if word else found


def _is_cjk(character: str) -> bool:
    return (
        "\u3040" <= character <= "\u30ff"
        or "\u3400" <= character <= "\u9fff"
        or "\uac00" <= character <= "\ud7af"
        or "\U00020000" <= character <= "\U0003ffff"
    )


def _slot_f1(gold: dict[str, str], given: dict[str, str]) -> float:
    common = len(gold.items() & given.items())
    return 2 * common / (len(gold) + len(given)) if common else 0.0
