"""What a table is made of: single figures, put into rows and columns only when they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Literal, cast

from atr_evaluator.aggregate.bootstrap import (
    ENOUGH_PERSONAS,
    NO_INTERVAL,
    Interval,
    share_interval,
    wilson_interval,
)
from atr_evaluator.aggregate.settings import Setting

Kind = Literal["text", "share", "points", "rate", "count", "dollars", "p"]
"""How a figure reads: a share in percent, a difference of shares in points, a plain number, how many, US
dollars, a p-value."""

ABSENT = "-"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of one variant in one setting. `interval` at 95 percent; `count` is what it rests on."""

    setting: Setting
    variant: str
    measure: str
    value: float | int | None
    kind: Kind = "share"
    interval: Interval | None = None
    count: int | None = None
    note: str = ""

    @property
    def text(self) -> str:
        return " ".join(
            filter(None, (self.note or text_of(self.value, self.kind), self.ends, self._rests_on))
        )

    @property
    def short(self) -> str:
        """Without the interval."""
        return " ".join(filter(None, (self._value, self._rests_on)))

    @property
    def ends(self) -> str:
        """The interval, "" where there is none."""
        if self.value is None or self.interval is None or isnan(self.interval[0]):
            return ""
        return interval_text(self.interval, self.kind)

    @property
    def _value(self) -> str:
        return self.note or text_of(self.value, self.kind)

    @property
    def _rests_on(self) -> str:
        return "" if self.value is None or self.count is None else f"({self.count:,})"


@dataclass(frozen=True, slots=True)
class FigureTable:
    """Measures down, variants across, one block per setting. `name` is a plain word for files; a measure is
    in the order in which it first occurs."""

    name: str
    title: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()

    @property
    def settings(self) -> list[Setting]:
        return list(dict.fromkeys(figure.setting for figure in self.figures))

    def block(self, setting: Setting) -> tuple[list[str], list[tuple[str, list[str]]]]:
        """The variants of a setting, and a row of texts for each measure."""
        own = [figure for figure in self.figures if figure.setting == setting]
        variants = list(dict.fromkeys(figure.variant for figure in own))
        cells = {(figure.measure, figure.variant): figure.text for figure in own}
        measures = dict.fromkeys(figure.measure for figure in own)
        return variants, [(m, [cells.get((m, variant), ABSENT) for variant in variants]) for m in measures]


@dataclass(frozen=True, slots=True)
class Column:
    key: str
    title: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class ListTable:
    """One row after the other; the values of a row by the keys of the columns."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = field(default_factory=tuple)

    def text(self, row: Mapping[str, Any], column: Column) -> str:
        return text_of(row[column.key], column.kind)


Table = FigureTable | ListTable


def text_of(value: Any, kind: Kind) -> str:
    if value is None or value == "" or (isinstance(value, float) and isnan(value)):
        return ABSENT
    if isinstance(value, tuple):
        return interval_text(cast(Interval, value), "share")
    match kind:
        case "share":
            return f"{100 * value:.1f}"
        case "points":
            return f"{100 * value:+.1f}"
        case "rate":
            return f"{value:.2f}"
        case "count":
            return f"{value:,}"
        case "dollars":
            return f"${value:,.2f}" if value >= 0.1 or not value else f"${value:.4f}"
        case "p":
            return f"{value:.3f}" if value >= 0.001 else "<0.001"
        case _:
            return str(value)


def interval_text(interval: Sequence[float], kind: Kind) -> str:
    return f"[{', '.join(text_of(end, kind) for end in interval)}]"


def share(setting: Setting, variant: str, measure: str, counts: Iterable[tuple[str, int, int]]) -> Figure:
    """A share over persona, part and whole of each cell. The interval draws personas where there are enough
    that differ; else it is Wilson's, over tests."""
    clusters: dict[str, tuple[int, int]] = {}
    for persona, part, whole in counts:
        before = clusters.get(persona, (0, 0))
        clusters[persona] = before[0] + part, before[1] + whole
    told = [one for one in clusters.values() if one[1]]
    part, whole = sum(one[0] for one in told), sum(one[1] for one in told)
    if not whole:
        return Figure(setting, variant, measure, None)
    drawn = share_interval(told) if len(told) >= ENOUGH_PERSONAS else NO_INTERVAL
    interval = drawn if drawn[0] < drawn[1] else wilson_interval(part, whole)
    return Figure(setting, variant, measure, part / whole, interval=interval, count=whole)
