"""Results as text tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atr_client.models.meter import dollars
from atr_client.timing.gates import Gate

_COLUMNS = ("P_T", "R_T", "F1_T", "F1_E2E", "content", "false_alarms_per_hour", "assists", "needs")
_SNAPSHOT_COLUMNS = ("MCC", "accuracy", "precision", "recall", "F1", "auroc", "items", "unanswered")
_SAME = ("rules", "set_sha256")


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Texts: the names of the columns, a row per player, and what stands below."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]

    def markdown(self) -> str:
        ruled = [self.columns, tuple("---" for _ in self.columns), *self.rows]
        return "\n".join([*_lines(ruled), "", *self.notes])


def sitting_table(
    results: Mapping[str, Mapping[str, Any]], costs: Mapping[str, float | None] | None = None
) -> ResultTable:
    """`costs` in US dollars, None: unknown; their column is there when something was paid.

    Raises ValueError when results differ in a rule or the set: they do not belong in one table.
    """
    first = next(iter(results.values()))
    if any(result[key] != first[key] for result in results.values() for key in _SAME):
        raise ValueError("results of different rules or sets do not belong in one table")
    paid = _paid(costs)
    rows = [
        (
            name,
            _cell(result["utility"]),
            _interval(result["utility_interval"]),
            *(_cell(result[column]) for column in _COLUMNS),
            *([_dollars(paid.get(name))] if paid else []),
        )
        for name, result in results.items()
    ]
    bounds = ", ".join(f"{bound} at lambda {cost}" for cost, bound in first["guess_bound"].items())
    rules = ", ".join(f"{name} {value:g}" for name, value in first["rules"].items())
    notes = (
        f"Guess bound: {bounds}.",
        f"Rules: {rules}.",
        "Replay is open loop: an offer changes nothing that follows.",
    )
    return ResultTable(("player", "utility", "95 %", *_COLUMNS, *(["cost"] if paid else [])), rows, notes)


def snapshot_table(
    results: Mapping[str, Mapping[str, Any]], costs: Mapping[str, float | None] | None = None
) -> ResultTable:
    """As `sitting_table`, of snapshots."""
    if len({result["set_sha256"] for result in results.values()}) > 1:
        raise ValueError("results of different sets do not belong in one table")
    paid = _paid(costs)
    rows = [
        (
            name,
            *(_cell(result[column]) for column in _SNAPSHOT_COLUMNS),
            *([_dollars(paid.get(name))] if paid else []),
        )
        for name, result in results.items()
    ]
    columns = ("player", *_SNAPSHOT_COLUMNS, *(["cost"] if paid else []))
    return ResultTable(columns, rows, ("Always saying yes has an F1 of 0.667 on any balanced set.",))


def _paid(costs: Mapping[str, float | None] | None) -> Mapping[str, float | None]:
    known: Mapping[str, float | None] = costs or {}
    return known if any(cost != 0 for cost in known.values()) else {}


def render_gates(gates: Sequence[Gate], means: Mapping[str, float]) -> str:
    """Gates and the mean utility of every chooser, in Markdown."""
    rows = [("gate", "bound", "measured", "holds"), ("---",) * 4]
    rows += [(gate.name, gate.bound, gate.measured, "yes" if gate.holds else "NO") for gate in gates]
    players = [("player", "utility"), ("---", "---")]
    players += [(name, f"{mean:.3f}") for name, mean in sorted(means.items(), key=lambda item: -item[1])]
    details = [f"{gate.name}: {gate.detail}" for gate in gates if gate.detail]
    return "\n".join([*_lines(rows), "", *details, "", *_lines(players)])


def _lines(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]


def _interval(bounds: Sequence[float] | None) -> str:
    return "-" if bounds is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"


def _dollars(cost: float | None) -> str:
    return "unknown" if cost is None else dollars(cost)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
