"""The published metrics of every setting, with intervals and numbers of personas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from atr_data.variants import VARIANTS
from atr_evaluator.aggregate.figures import Figure, FigureTable, Kind
from atr_evaluator.aggregate.published import (
    Accuracy,
    AggregateCell,
    Mean,
    accuracies,
    acquisition,
    gap_recovered,
    panel_of,
)
from atr_evaluator.aggregate.settings import Group, Setting

_NOTES = (
    "by the published formulas, over complete cells: TSAcc weighs personas alike, TS-micro tests; RuleAsk is "
    "questions per learning session, RuleCov the share of rules that were heard.",
    "AcqPrec is distinct rules heard by all such questions, so that repeats and misses lower it; hit rate is "
    "hits by classified questions. AppliedRate counts covered rules alone, AcqPrec all.",
    "GapRec: how much of the way from default to oracle_target is gone, by TSAcc.",
    "intervals: 95 percent, by drawing whole personas, 1000 times. In brackets: the number of personas.",
)


def published_table(found: Sequence[Group]) -> FigureTable:
    figures = [figure for figures in _by_setting(found) for figure in figures]
    return FigureTable("published", "published metrics", figures, _NOTES)


def _by_setting(found: Sequence[Group]) -> Iterator[list[Figure]]:
    settings: dict[Setting, list[Group]] = {}
    for group in found:
        settings.setdefault(group.setting, []).append(group)
    for setting, members in settings.items():
        cells = [cell for group in members for cell in _cells(group)]
        rows = accuracies(cells)
        yield [figure for group in members for figure in _group(setting, group, cells, rows)]


def _cells(group: Group) -> list[AggregateCell]:
    model, variant = group.setting.model, group.variant
    return [
        AggregateCell(cell.persona, panel_of(variant), variant, model, cell.metrics)
        for cell in group.scored
        if not cell.missing
    ]


def _group(
    setting: Setting, group: Group, cells: Sequence[AggregateCell], rows: Sequence[Accuracy]
) -> Iterator[Figure]:
    variant = group.variant
    own = next((row for row in rows if row.variant == variant), None)
    if own is None:
        yield Figure(setting, variant, "TSAcc", None)
        return
    interval = (own.ci_lo, own.ci_hi) if own.n_personas > 1 else None
    yield Figure(setting, variant, "TSAcc", own.macro, interval=interval, count=own.n_personas)
    yield Figure(setting, variant, "TS-micro", own.micro)
    if variant in VARIANTS and VARIANTS[variant].is_oracle:
        return
    if found := acquisition(cells, rows, variant, setting.model):
        yield _mean(setting, variant, "RuleAsk", found.ask_rate, "rate")
        yield _mean(setting, variant, "RuleCov", found.coverage)
        yield _mean(setting, variant, "AcqPrec", found.acquisition_precision)
        yield _hit_rate(group)
        yield _mean(setting, variant, "AppliedRate", found.applied_rate)
    gap = gap_recovered(rows, variant, setting.model)
    if variant != "default":
        yield Figure(setting, variant, "GapRec", None if gap is None else gap / 100)


def _hit_rate(group: Group) -> Figure:
    hits = sum(cell.metrics.get("ls_cls_hits") or 0 for cell in group.scored)
    classified = sum(cell.metrics.get("ls_cls_classified") or 0 for cell in group.scored)
    return Figure(group.setting, group.variant, "hit rate", hits / classified if classified else None)


def _mean(setting: Setting, variant: str, measure: str, found: Mean, kind: Kind = "share") -> Figure:
    interval = found.ci if found.count > 1 else None
    return Figure(setting, variant, measure, found.macro, kind, interval, found.count or None)
