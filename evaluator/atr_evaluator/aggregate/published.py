"""The aggregate metrics of the benchmark, by its formulas (evaluation.md sections 7.2 and 7.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from atr_data.variants import VARIANTS
from atr_evaluator.aggregate.bootstrap import RESAMPLES, Interval, mean, mean_interval

Panel = Literal["main", "oracle"]
_ORACLE = "oracle_target"
_SMALLEST_GAP = 1e-9


@dataclass(frozen=True, slots=True)
class AggregateCell:
    """One complete cell as the aggregate tables see it; `metrics` are those of its `eval.json`, and what is
    null or lacking among them counts as 0."""

    persona: str
    panel: Panel
    variant: str
    model: str
    metrics: Mapping[str, Any]

    def count(self, name: str) -> int:
        return self.metrics.get(name) or 0

    @property
    def coverage(self) -> float:
        told: Mapping[str, float | None] = self.metrics.get("rule_coverage") or {}
        return told.get("ratio") or 0.0


@dataclass(frozen=True, slots=True)
class Accuracy:
    """TSAcc of one variant of one model. `macro` weighs personas alike, `micro` tests; the interval is that
    of `macro`. `per_persona` in the order of the cells."""

    variant: str
    model: str
    panel: Panel
    macro: float
    ci_lo: float
    ci_hi: float
    micro: float
    n_personas: int
    n_ts_total: int
    per_persona: Sequence[float]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over personas that have a value; all None when none has."""

    macro: float | None = None
    ci: Interval | None = None
    count: int = 0

    @classmethod
    def over(cls, values: Sequence[float], resamples: int) -> Mean:
        return cls(mean(values), mean_interval(values, resamples), len(values)) if values else cls()


@dataclass(frozen=True, slots=True)
class Acquisition:
    """How the rules of one variant of one model were come by. Shares, `gap_recovered` in percent."""

    variant: str
    model: str
    ask_rate: Mean
    coverage: Mean
    acquisition_precision: Mean
    applied_rate: Mean
    gap_recovered: float | None


def accuracies(cells: Iterable[AggregateCell], resamples: int = RESAMPLES) -> list[Accuracy]:
    """TSAcc by variant, model and panel, in the order of the cells. Cells without tests do not count."""
    groups: dict[tuple[str, str, Panel], list[AggregateCell]] = {}
    for cell in cells:
        if cell.count("total_test"):
            groups.setdefault((cell.variant, cell.model, cell.panel), []).append(cell)
    return [_accuracy(*group, members, resamples) for group, members in groups.items()]


def _accuracy(
    variant: str, model: str, panel: Panel, cells: Sequence[AggregateCell], resamples: int
) -> Accuracy:
    passed = [cell.count("success_count") for cell in cells]
    tests = [cell.count("total_test") for cell in cells]
    shares = [part / whole for part, whole in zip(passed, tests, strict=True)]
    low, high = mean_interval(shares, resamples)
    micro = sum(passed) / sum(tests)
    return Accuracy(variant, model, panel, mean(shares), low, high, micro, len(cells), sum(tests), shares)


def acquisition(
    cells: Sequence[AggregateCell],
    found: Sequence[Accuracy],
    variant: str,
    model: str,
    resamples: int = RESAMPLES,
) -> Acquisition | None:
    """How a variant of a model came by rules, from its main cells; `found` are the accuracies of all. None
    when no persona has a learning session."""
    personas = [p for p in _by_persona(cells, variant, model) if p.sessions]
    if not personas:
        return None

    def over(value: Callable[[_Persona], float | None]) -> Mean:
        return Mean.over([v for p in personas if (v := value(p)) is not None], resamples)

    return Acquisition(
        variant,
        model,
        ask_rate=over(lambda p: p.asks / p.sessions),
        coverage=over(lambda p: mean(p.ratios)),
        acquisition_precision=over(lambda p: p.gained / p.asks if p.asks else None),
        applied_rate=over(lambda p: p.applied / p.known if p.known else None),
        gap_recovered=gap_recovered(found, variant, model),
    )


@dataclass(slots=True)
class _Persona:
    sessions: int = 0
    asks: int = 0
    gained: int = 0
    applied: int = 0
    known: int = 0
    ratios: list[float] = field(default_factory=list[float])

    def add(self, cell: AggregateCell) -> None:
        applied, wasted = cell.count("covered_hit_pass"), cell.count("covered_hit_fail")
        uncovered = cell.count("uncovered_hit_pass") + cell.count("uncovered_hit_fail")
        self.sessions += cell.count("total_learning")
        self.asks += cell.count("ls_send_calls_routed_rule")
        self.gained += applied + wasted + uncovered
        self.applied += applied
        self.known += applied + wasted
        self.ratios.append(cell.coverage)


def _by_persona(cells: Iterable[AggregateCell], variant: str, model: str) -> list[_Persona]:
    """In the order in which personas first occur among all cells."""
    personas: dict[str, _Persona] = {}
    for cell in cells:
        persona = personas.setdefault(cell.persona, _Persona())
        if (cell.variant, cell.model, cell.panel) == (variant, model, "main"):
            persona.add(cell)
    return list(personas.values())


def gap_recovered(found: Sequence[Accuracy], variant: str, model: str) -> float | None:
    """How much of the way from default to the oracle a variant goes, in percent; it may be below 0 and above
    100. None where one of the three is missing, or there is no way to go."""
    macros = {(row.variant, row.panel): row.macro for row in found if row.model == model}
    own = macros.get((variant, panel_of(variant)))
    default, oracle = macros.get(("default", "main")), macros.get((_ORACLE, "oracle"))
    if own is None or default is None or oracle is None or abs(oracle - default) <= _SMALLEST_GAP:
        return None
    return (own - default) / (oracle - default) * 100


def panel_of(variant: str) -> Panel:
    return "oracle" if variant in VARIANTS and VARIANTS[variant].is_oracle else "main"
