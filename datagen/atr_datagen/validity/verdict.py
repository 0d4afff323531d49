"""The bounds that a dataset must keep, and which of them a part of it can be held to."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from atr_datagen.validity.corpus import Metrics, number

Comparison = Literal["==", "<=", ">="]
_COMPARE = {"==": operator.eq, "<=": operator.le, ">=": operator.ge}


class Scope(IntEnum):
    """From how many personas on a bound is judged."""

    ANY = 1
    FIVE = 5
    WHOLE = 20


_REASONS = {
    Scope.FIVE: "a mean over the rules of few personas is left to chance",
    Scope.WHOLE: "a total, or a share of few rules, says something only of the whole set",
}


@dataclass(frozen=True, slots=True)
class Bound:
    """`small` is the bound for five personas and more where that of the whole set is too tight for a part."""

    metric: str
    comparison: Comparison
    value: float
    scope: Scope = Scope.WHOLE
    small: float | None = None
    in_sample: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """`ok` is None when the bound was not judged; `reason` says why then."""

    bound: Bound
    limit: float
    found: float
    ok: bool | None
    reason: str = ""

    def __str__(self) -> str:
        mark = {True: "pass", False: "FAIL", None: "-"}[self.ok]
        text = (
            f"{mark:<4}  {self.bound.metric:<42} {shown(self.found)} {self.bound.comparison} {self.limit:g}"
        )
        return f"{text}  (not judged: {self.reason})" if self.reason else text


def shown(value: float | int | str) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


Expected = Mapping[str, tuple[float, float]]
"""Measure to its mean and standard deviation over the draws of faces."""
DEVIATIONS = 3
"""How far above its expectation an in-sample measure may lie."""


def judge(metrics: Metrics, expected: Expected | None = None) -> list[Verdict]:
    """One verdict per bound. A part of the dataset is held to the bounds that make sense for its size, and
    in-sample measures to their expectation where one is given."""
    personas = int(metrics["counts.personas"])
    return [_verdict(bound, number(metrics, bound.metric), personas, expected or {}) for bound in GATES]


def _verdict(bound: Bound, found: float, personas: int, expected: Expected) -> Verdict:
    if bound.in_sample and bound.metric in expected:
        mean, deviation = expected[bound.metric]
        limit = round(mean + DEVIATIONS * deviation, 3)
        return Verdict(bound, limit, found, within(bound, found, limit))
    if personas >= bound.scope:
        return Verdict(bound, bound.value, found, within(bound, found, bound.value))
    if bound.small is not None and personas >= Scope.FIVE:
        return Verdict(bound, bound.small, found, within(bound, found, bound.small))
    return Verdict(bound, bound.value, found, None, _REASONS[bound.scope])


def within(bound: Bound, found: float, limit: float) -> bool:
    return bool(_COMPARE[bound.comparison](found, limit))


def _bounds() -> Iterator[Bound]:
    any_, five = Scope.ANY, Scope.FIVE
    yield Bound("counts.personas", "==", 20)
    yield Bound("counts.rules", "==", 284)
    yield Bound("counts.test_sessions", "==", 284)
    yield Bound("counts.learning_sessions", "==", 568)
    yield Bound("structure.errors", "==", 0, any_)
    yield Bound("dist.check_type.confirm", ">=", 20)
    yield Bound("dist.check_type.tool_identity", ">=", 58)
    yield Bound("dist.domain_min_rules", ">=", 40)
    yield Bound("dist.tools_never_exercised", "==", 0)
    yield Bound("dist.tool_min_sessions", ">=", 3)
    yield Bound("dist.signal_rules_share", ">=", 0.97, five)
    yield Bound("pool.param_id_min_candidates", ">=", 4, any_)
    yield Bound("pool.gold_first_share", "<=", 0.30, small=0.35)
    yield Bound("pool.gold_last_share", "<=", 0.30)
    yield Bound("pool.gold_best_rating_share", "<=", 0.15, five)
    yield Bound("pool.gold_worst_rating_share", "<=", 0.35)
    yield Bound("pool.gold_most_popularity_share", "<=", 0.15, five)
    yield Bound("pool.gold_least_popularity_share", "<=", 0.35)
    yield Bound("pool.gold_best_price_share", "<=", 0.20, five)
    yield Bound("pool.gold_dearest_share", "<=", 0.35)
    yield Bound("shortcut.limit_twin", "<=", 0.36, small=0.45)
    yield Bound("shortcut.param_id_best", "<=", 0.32, small=0.40)
    yield Bound("shortcut.history_param_id", "<=", 0.32, small=0.40)
    yield Bound("shortcut.param_enum_majority", "<=", 0.46, in_sample=True)
    yield Bound("shortcut.enum_group_max_share", "<=", 0.50, in_sample=True)
    yield Bound("shortcut.tool_identity_majority", "<=", 0.64, in_sample=True)
    yield Bound("shortcut.tool_family_max_share", "<=", 0.67, in_sample=True)
    yield Bound("shortcut.tool_identity_overlap", "<=", 0.25)
    yield Bound("shortcut.stock_value_share", "<=", 0.30)
    yield Bound("shortcut.naive_default_agent", "<=", 0.18, five)
    yield Bound("scoring.target_unchecked_share", "==", 0.0, any_)
    yield Bound("shortcut.best_in_sample", "<=", 0.45, in_sample=True)
    yield Bound("shortcut.best_lopo", "<=", 0.36, small=0.45)
    yield Bound("shortcut.best_lopo_confirming_everything", "<=", 0.45)
    yield Bound("ask.distinct_slots", ">=", 42)
    yield Bound("ask.ten_slot_coverage", "<=", 0.45)
    yield Bound("ask.same_slot_rule_pairs_within_persona", ">=", 30)
    yield Bound("oracle.lexical_param_id", "<=", 0.50, five)
    yield Bound("oracle.lexical_param_enum", "<=", 0.55, five)
    yield Bound("oracle.lexical_overall", "<=", 0.50, five)
    yield Bound("leak.enum_literal_in_instruction", "==", 0, any_)
    yield Bound("leak.tool_words_in_instruction", "==", 0, any_)
    yield Bound("leak.gold_word_excess", "<=", 0.03, five)
    yield Bound("leak.rule_words_in_instruction_mean", "<=", 0.15, five)
    yield Bound("leak.id_shares_rule_word", "==", 0, any_)
    yield Bound("leak.confirm_listed_only_on_confirm", "==", 0, any_)
    yield Bound("leak.ls_enum_gold_use", "<=", 0.36, five)
    yield Bound("leak.ls_tool_gold_use", "<=", 0.55, five)
    yield Bound("leak.ls_rule_containment_high", "==", 0, any_)
    yield Bound("leak.opening_reveals_param", "==", 0, any_)
    yield Bound("dup.rule_pairs_ge_0.6", "==", 0, any_)
    yield Bound("dup.rule_pairs_ge_0.4", "<=", 6, any_)
    yield Bound("dup.instruction_pairs_ge_0.6", "==", 0, any_)
    yield Bound("dup.binding_top_share", "<=", 0.035)
    yield Bound("dup.distinct_openings", ">=", 480)
    yield Bound("dup.top_opening_share", "<=", 0.006)
    yield Bound("dup.distinct_trajectories", ">=", 120)
    yield Bound("dup.top_trajectory_share", "<=", 0.05)
    yield Bound("dup.ls_pairs_ge_0.6", "==", 0, any_)
    yield Bound("dup.cross_persona_ref_names", "<=", 12, any_)


GATES: tuple[Bound, ...] = tuple(_bounds())
