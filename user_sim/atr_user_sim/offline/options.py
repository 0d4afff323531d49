"""Options that an agent lists, and the one that agrees with what the user wants."""

from __future__ import annotations

import re
from collections.abc import Sequence

from atr_data.english.words import USER
from atr_user_sim.offline.facts import Fact

_MARKED = re.compile(
    r"(?:^|\s)(?:\(?\d{1,2}[.)]|[-*•])\s+(?P<item>.+?)(?=\s+\(?\d{1,2}[.)]\s|\n\s*[-*•]\s|\n\s*\n"
    r"|\n(?=\S)|$)",
    re.S,
)
_AMOUNT = re.compile(r"[$€£]\s?(\d+(?:[.,]\d+)?)|\b(\d+(?:\.\d+)?)\s?(?:dollars|euros|usd|eur)\b", re.I)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def options_in(text: str) -> list[str]:
    """The items of a numbered or bulleted list, in order; a list needs two. Questions are no options."""
    found = [match["item"].strip() for match in _MARKED.finditer(text)]
    items = [item.strip("* ") for item in found if not item.rstrip("* ").endswith("?")]
    return items if len(items) > 1 else []


def choose(options: Sequence[str], facts: Sequence[Fact], *, cheapest: bool) -> str | None:
    """The option within the stated bounds that shares most words with the facts; of equals the cheapest one
    when the user wants that, else None: no option stands out."""
    within = [option for option in options if not over_bound(option, facts)]
    if not within:
        return None
    wanted = {word for fact in facts for word in USER.stems(fact.said)}
    stems = {option: frozenset(USER.stems(option)) for option in options}
    common = frozenset[str].intersection(*stems.values())
    shared = {option: len((stems[option] - common) & wanted) for option in within}
    best = [option for option in within if shared[option] == max(shared.values())]
    if len(best) > 1 and cheapest and all(map(_amount, best)):
        return min(best, key=_amount)
    return best[0] if len(best) == 1 else None


def over_bound(text: str, facts: Sequence[Fact]) -> bool:
    """Whether the text names an amount of money above a bound that the user has."""
    bounds = [float(found[0]) for fact in facts if fact.is_bound and (found := _NUMBER.search(fact.said))]
    return bool(bounds) and _amount(text) > min(bounds)


def _amount(text: str) -> float:
    found = _AMOUNT.search(text)
    return float((found[1] or found[2]).replace(",", ".")) if found else 0.0
