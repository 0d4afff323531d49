"""Choosers of a param_id test that never saw its rule: they go by place, number or wording alone.

A policy gives every candidate a value (None: below all numbers) and takes the highest; of several alike, one
at random. Scores are expected values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from atr_data.episode import Reference
from atr_datagen.text import flat, jaccard, words
from atr_datagen.validity.corpus import Corpus, Metrics, Pool, mean

Values = Sequence[float | None]
Scores = Mapping[str, Mapping[str, float]]
"""Policy to rule id to how likely the policy picks exactly the gold."""

KINDS = ("rating", "price", "popularity", "proximity", "availability")
HISTORY = "history overlap"
"""The one policy that reads the learning sessions; not counted among the blind ones."""
_LURES = {"rating": 1, "popularity": 1, "price": -1}
_DISTANT = -1e9
_PATTERNS = {
    "rating": (r"rating|score|stars", r"count"),
    "price": (r"price|cost|fee|fare", r"previous"),
    "popularity": (
        r"review|sold|popular|attend|booking|visit(s|ors)|follower|rank|crowd",
        r"rating|score|duration|hours|minutes",
    ),
    "proximity": (r"distance|minutes|detour|walk|_km|_mi", None),
    "availability": (r"available|stock|seats|capacity", None),
}


def pick_probability(values: Values, golds: frozenset[int]) -> float:
    """How likely the highest values, as many as there are golds, are just the golds."""
    numbers = [-math.inf if value is None else value for value in values]
    cut = sorted(numbers, reverse=True)[len(golds) - 1]
    above = {place for place, value in enumerate(numbers) if value > cut}
    level = {place for place, value in enumerate(numbers) if value == cut}
    if not above <= golds <= above | level:
        return 0.0
    return 1 / math.comb(len(level), len(golds) - len(above))


def feature(reference: Reference, kind: str) -> float | None:
    """The object's number of a kind, higher where it draws more; None when it has none."""
    named = {name.lower(): value for name, value in reference.attributes.items()}
    if kind == "price" and isinstance(named.get("price_range"), str):
        return float(named["price_range"].count("$")) or None
    for name, value in named.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        sign = _sign(name, kind)
        if sign:
            return sign * float(value)
    return None


@cache
def _sign(name: str, kind: str) -> int:
    """1 or -1 when a field of that name is of the kind, else 0."""
    wanted, unwanted = _PATTERNS[kind]
    if not re.search(wanted, name) or (unwanted and re.search(unwanted, name)):
        return 0
    return -1 if kind == "proximity" or "rank" in name else 1


def policy_values(pool: Pool, history: frozenset[str]) -> dict[str, Values]:
    size = len(pool.references)
    told = words(pool.case.test.instruction)
    features = {kind: [feature(r, kind) for r in pool.references] for kind in KINDS}
    found: dict[str, Values] = {
        "random": [0] * size,
        "first listed": [-place for place in range(size)],
        "last listed": list(range(size)),
    }
    for kind, numbers in features.items():
        found |= _by_number(kind, numbers)
    alike = [sum(jaccard(mine, other) for other in pool.words) for mine in pool.words]
    texts = [len(flat(reference.attributes)) for reference in pool.references]
    fields = [len(reference.attributes) for reference in pool.references]
    shared = pool.words[0].intersection(*pool.words)
    return {
        **found,
        "rating within budget": _within_budget(pool, features),
        "rating + popularity + price": _all_lures(features),
        "instruction overlap": [len(mine & told) for mine in pool.words],
        "most attributes": fields,
        "fewest attributes": [-count for count in fields],
        "longest text": texts,
        "odd one out": [-value for value in alike],
        "typical one": alike,
        HISTORY: [len((mine - shared) & history) for mine in pool.words],
    }


def _by_number(kind: str, numbers: Values) -> dict[str, Values]:
    ranked = sorted({number for number in numbers if number is not None}, reverse=True)
    second = {"most": ranked[1], "least": ranked[-2]} if len(ranked) > 2 else {}

    def next_to(end: str) -> Values:
        return [float(number == second[end]) for number in numbers] if second else [0] * len(numbers)

    return {
        f"most {kind}": numbers,
        f"least {kind}": [None if number is None else -number for number in numbers],
        f"2nd most {kind}": next_to("most"),
        f"2nd least {kind}": next_to("least"),
    }


def _within_budget(pool: Pool, features: Mapping[str, Values]) -> Values:
    amounts = re.findall(r"\$\s?([\d,]+(?:\.\d+)?)", pool.case.test.instruction)
    if not amounts:
        return features["rating"]
    limit = max(float(amount.replace(",", "")) for amount in amounts)
    return [
        (rating or 0) if (price or 0) <= limit else None
        for rating, price in zip(features["rating"], features["price"], strict=True)
    ]


def _all_lures(features: Mapping[str, Values]) -> Values:
    totals = [0] * len(features["rating"])
    for kind, sign in _LURES.items():
        numbers = [_DISTANT if number is None else number for number in features[kind]]
        ranked = sorted(numbers)
        totals = [t + sign * ranked.index(n) for t, n in zip(totals, numbers, strict=True)]
    return totals


def policy_scores(corpus: Corpus) -> dict[str, dict[str, float]]:
    scores: dict[str, dict[str, float]] = {}
    for pool in corpus.pools:
        history = corpus.history.get(pool.case.episode.persona_id, frozenset())
        for name, values in policy_values(pool, history).items():
            scores.setdefault(name, {})[pool.case.rule.rule_id] = pick_probability(values, pool.golds)
    return scores


def blind_policies(scores: Scores) -> list[str]:
    return [name for name in scores if name != HISTORY]


def param_id_shortcuts(scores: Scores) -> Metrics:
    rates = {name: mean(list(hits.values())) for name, hits in scores.items()}
    best, policy = max([(rates[name], name) for name in blind_policies(scores)], default=(0.0, "-"))
    return {
        "shortcut.param_id_best": best,
        "shortcut.param_id_best_policy": policy,
        "shortcut.param_id_random": rates.get("random", 0.0),
        "shortcut.history_param_id": rates.get(HISTORY, 0.0),
    }


def policy_table(scores: Scores) -> list[tuple[str, float]]:
    """Policies with their hit rates, best first."""
    rates = [(mean(list(hits.values())), name) for name, hits in scores.items()]
    return [(name, rate) for rate, name in sorted(rates, reverse=True)]


def pools(corpus: Corpus) -> Metrics:
    """Where the gold stands among the candidates."""
    total = max(1, len(corpus.of_type("param_id")))
    sizes = [len(pool.references) for pool in corpus.pools]
    standing = {kind: [s for pool in corpus.pools if (s := _standing(pool, kind))] for kind in KINDS}

    def share(kind: str, end: int) -> float:
        return mean([float(ends[end]) for ends in standing[kind]])

    return {
        "pool.param_id_min_candidates": min(sizes, default=0),
        "pool.param_id_candidates": " ".join(f"{n}:{sizes.count(n)}" for n in sorted(set(sizes))),
        "pool.multi_gold_sessions": sum(len(pool.golds) > 1 for pool in corpus.pools),
        "pool.gold_first_share": sum(0 in pool.golds for pool in corpus.pools) / total,
        "pool.gold_last_share": sum(len(pool.references) - 1 in pool.golds for pool in corpus.pools) / total,
        "pool.decoy_beats_gold_rating_and_popularity": sum(map(_outshone, corpus.pools)) / total,
        "pool.gold_best_rating_share": share("rating", 0),
        "pool.gold_worst_rating_share": share("rating", 1),
        "pool.gold_most_popularity_share": share("popularity", 0),
        "pool.gold_least_popularity_share": share("popularity", 1),
        "pool.gold_nearest_proximity_share": share("proximity", 0),
        "pool.gold_farthest_proximity_share": share("proximity", 1),
        "pool.gold_best_price_share": share("price", 1),
        "pool.gold_dearest_share": share("price", 0),
    }


def _standing(pool: Pool, kind: str) -> tuple[bool, bool] | None:
    """Whether a single gold has the highest and the lowest number of a kind; None where that says nothing."""
    numbers = [feature(reference, kind) for reference in pool.references]
    known = [number for number in numbers if number is not None]
    gold = numbers[min(pool.golds)]
    if len(known) < 2 or len(pool.golds) > 1 or gold is None:
        return None
    return gold == max(known), gold == min(known)


def _outshone(pool: Pool) -> bool:
    """Whether a decoy beats a single gold on rating and popularity, as far as both have them."""
    if len(pool.golds) != 1:
        return False
    gold = pool.references[min(pool.golds)]

    def beats(other: Reference, compare: Callable[[float, float], bool]) -> bool:
        pairs = ((feature(other, kind), feature(gold, kind)) for kind in ("rating", "popularity"))
        return all(a is None or b is None or compare(a, b) for a, b in pairs)

    return any(beats(r, lambda a, b: a > b) for r in pool.references if r is not gold)
