"""Every chart of the report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from atr_evaluator.aggregate.figures import FigureTable, Table
from atr_evaluator.aggregate.settings import Setting, varying
from atr_evaluator.report.chart_parts import WIDE, Chart, Frame
from atr_evaluator.report.conduct_charts import asking_chart, cost_chart, coverage_chart, quarter_chart
from atr_evaluator.report.outcome_charts import (
    check_type_chart,
    domain_chart,
    gap_chart,
    loss_chart,
    passed_chart,
)

_MAKERS: Sequence[tuple[str, Callable[[FigureTable, Frame], Chart | None]]] = (
    ("accuracy", passed_chart),
    ("losses", loss_chart),
    ("gap", gap_chart),
    ("published", asking_chart),
    ("published", coverage_chart),
    ("asking", quarter_chart),
    ("accuracy", domain_chart),
    ("accuracy", check_type_chart),
    ("accuracy", cost_chart),
)
"""The table that a chart is drawn from, in the order of the page."""


def charts(tables: Sequence[Table], hidden: Collection[Setting] = (), width: int = WIDE) -> list[Chart]:
    """Every chart that the tables have figures for, without the settings that are `hidden`."""
    by_name = {table.name: table for table in tables if isinstance(table, FigureTable)}
    every = list(dict.fromkeys(f.setting for table in by_name.values() for f in table.figures))
    names = varying(every)
    frame = Frame({setting: setting.label(names) for setting in every if setting not in hidden}, width)
    found = (make(by_name[name], frame) for name, make in _MAKERS if name in by_name)
    return [chart for chart in found if chart]
