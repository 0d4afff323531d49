"""Which of the objects shown so far is meant: what the request states, then what a remembered statement
leans to, then what most people would take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import fsum
from typing import cast

from atr_client.agents.amounts import Bound, bounds, count_near, date_bounds, dates
from atr_client.agents.reading import Row
from atr_data.english.lexicon import lexicon, scales, when_and_what
from atr_data.english.words import AGENTS, rarity
from atr_ontology import names_object

STATEMENT_WEIGHT = 3.0
WHEN_WEIGHT = 0.3
_MONEY = ("price", "cost", "fee", "rate")
_COUNTED_IN_MONEY = frozenset(AGENTS.stems("each person ticket night month piece apiece total plus head"))
_PLACES = ("max_guests", "capacity", "available_seats", "seats_left", "max_party")
_PEOPLE = ("guest", "people", "adult", "passenger", "traveler", "traveller", "person", "of us")


def best_rows(rows: Sequence[Row], request: str, statement: str) -> list[Row]:
    """Those within the limits of the request, the fittest first."""
    fitting = within_limits(rows, request)
    words = [AGENTS.stems(row.text) for row in fitting]
    weight = rarity(words)
    asked = set(AGENTS.stems(request))
    leanings = evidence(fitting, statement, request)
    scores = [
        fsum(weight[word] for word in set(row_words) & asked) + STATEMENT_WEIGHT * leaning
        for row_words, leaning in zip(words, leanings, strict=True)
    ]
    order = sorted(
        range(len(fitting)),
        key=lambda i: (
            -round(scores[i], 6),
            _unasked_words(words[i], weight) if statement else 0,
            _stock_order(fitting[i]),
        ),
    )
    return [fitting[i] for i in order]


def evidence(rows: Sequence[Row], statement: str, request: str = "") -> list[float]:
    """How far a statement speaks for each object, or against it when negative. What all objects share says
    nothing; what is rare among them says most. What only tells when the statement holds counts little: its
    opening clause, and what the request speaks of too."""
    if not statement:
        return [0.0] * len(rows)
    leans = _weighed(statement, request)
    terms = [_signs(row.spoken) for row in rows]
    weight = rarity([set(row_terms.items()) for row_terms in terms])
    fits = [
        fsum(leans[name] * sign * weight[name, sign] for name, sign in row_terms.items() if name in leans)
        for row_terms in terms
    ]
    ranks = [_ranked(rows, name, lean) for name, lean in leans.items()]
    return [fit + fsum(rank[i] for rank in ranks) for i, fit in enumerate(fits)]


def within_limits(rows: Sequence[Row], request: str) -> list[Row]:
    """The objects that meet what the request states: amounts, dates, places for all, and words that are the
    value of a field. A limit that none meets is passed over."""
    kept = list(rows)
    people = count_near(request, _PEOPLE) or 0
    for bound in bounds(request):
        kept = [row for row in kept if _meets(row, bound)] or kept
    limits = date_bounds(request)
    for limit in limits:
        kept = [row for row in kept if all(map(limit.allows, _days(row)))] or kept
    for date in dates(request):
        if date not in [limit.day for limit in limits]:
            kept = [row for row in kept if date in row.text] or kept
    kept = [row for row in kept if (_number(row, _PLACES) or people) >= people] or kept
    asked = set(AGENTS.stems(request))
    for key in {key: None for row in kept for key in row.fields if not names_object(key)}:
        kept = [row for row in kept if _is_named(row.fields.get(key), asked)] or kept
    return kept


def _weighed(statement: str, request: str) -> dict[str, float]:
    opening, decision = when_and_what(statement)
    leans: dict[str, float] = {name: WHEN_WEIGHT * sign for name, sign in _signs(opening).items()}
    leans.update(_signs(decision))
    return {name: WHEN_WEIGHT * lean if name in _signs(request) else lean for name, lean in leans.items()}


@lru_cache(maxsize=1 << 12)
def _signs(text: str) -> Mapping[str, int]:
    """The terms of a text; what it says both ways is left out."""
    found: Counter[str] = Counter()
    for name, sign in {(term.name, term.sign) for term in lexicon("topics").terms(text)}:
        found[name] += sign
    return {name: sign for name, sign in found.items() if sign}


def _ranked(rows: Sequence[Row], meaning: str, lean: float) -> list[float]:
    """For a meaning that numbers can meet: 1 for the object that meets it best, down to 0."""
    direction, names = scales().get(meaning, (0, ()))
    values = [_number(row, names) for row in rows]
    known = sorted({value for value in values if value is not None}, reverse=direction * lean > 0)
    if len(known) < 2:
        return [0.0] * len(rows)
    best = abs(lean)
    return [0.0 if value is None else best * (1 - known.index(value) / (len(known) - 1)) for value in values]


def _meets(row: Row, bound: Bound) -> bool:
    in_money = not bound.unit or bound.unit in _COUNTED_IN_MONEY
    value = _number(row, _MONEY) if in_money else _measure(row, bound.unit)
    return value is None or bound.allows(value)


def _days(row: Row) -> list[str]:
    return [found for value in row.fields.values() if isinstance(value, str) for found in dates(value)]


def _measure(row: Row, unit: str) -> float | None:
    named = (key for key in row.fields if unit in [AGENTS.stem(word) for word in AGENTS.tokens(key)])
    return next((number for key in named if (number := _as_number(row.fields[key])) is not None), None)


def _is_named(value: object, asked: set[str]) -> bool:
    """Whether all the words of a text, or of an item of a list, are among those asked for."""
    if isinstance(value, list):
        return any(_is_named(item, asked) for item in cast(list[object], value))
    words = AGENTS.stems(value) if isinstance(value, str) else []
    return bool(words) and asked.issuperset(words)


def _unasked_words(words: Sequence[str], weight: Mapping[str, float]) -> int:
    """Of equals the one described more plainly fits better: each further word may be a reservation."""
    return sum(weight[word] > 0 for word in words)


def _stock_order(row: Row) -> tuple[float, float, float]:
    rating = _number(row, ("rating",)) or 0.0
    popularity = _number(row, ("review", "popularity", "units_sold", "attendance", "visits")) or 0.0
    return -rating, -popularity, _number(row, _MONEY) or 0.0


def _number(row: Row, names: Sequence[str]) -> float | None:
    """The first number in a field of one of these names."""
    for name in names:
        for key, value in row.fields.items():
            if name in key and (number := _as_number(value)) is not None:
                return number
    return None


def _as_number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
