"""The result tables of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from atr_client.models.meter import dollars
from atr_client.outputs.companion_table import LEGEND, companion_table
from atr_client.outputs.evaluations import read_evaluation, told_differences
from atr_client.outputs.fitting import print_line, print_table
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.rows import Row, made_calls
from atr_client.outputs.user_line import user_line
from atr_client.outputs.validity_line import rule_blind_outcomes, validity_line
from atr_data import DataError
from atr_evaluator import PayoffRow, payoff_table, pooled_companions

_PRIVILEGED = "was shown the answers: a reference, not a contestant"


def print_results(console: Console, rows: Sequence[Row], root: Path | None = None) -> None:
    """Test accuracy per model: one column per variant, cut by check type and by domain; the companion
    metrics; who played the user; how it compares with guessing, for which cells below the outputs root count
    as well; then, once, what the companion metrics mean, where trajectories and call log differ, and what
    failed. A cell without a score counts for nothing: a variant that has no other cells shows `-`."""
    scored = [row for row in rows if row["ok"]]
    blind = rule_blind_outcomes(scored, root)
    for model in sorted({row["model"] or "" for row in rows if row["ok"] or row["variant"]}):
        of_model = [row for row in scored if (row["model"] or "") == model]
        unscored = [row for row in rows if not row["ok"] and (row["model"] or "") == model]
        print_table(console, _table(of_model, model, [row["variant"] for row in unscored if row["variant"]]))
        if not of_model:
            continue
        print_table(console, _companions(of_model))
        if user := user_line(of_model):
            print_line(console, user)
        if any(row.get("privileged") for row in of_model):
            print_line(console, f"{model} {_PRIVILEGED}")
        for line in validity_line(model, of_model, blind).splitlines():
            print_line(console, line, indent="    ")
    if scored:
        console.print()
        for line in LEGEND:
            print_line(console, line, indent="    ")
    for row in scored:
        if row.get("verified") is False:
            for told in told_differences(_evaluation(row)):
                print_line(console, f"not verified: {row['cell_id']}: {told}")
    for row in rows:
        if not row["ok"]:
            what = next((word for word in ("aborted", "stopped") if row.get(word)), "failed")
            print_line(console, f"{what}: {row['cell_id']}: {row['error']}", indent="    ")


def _table(rows: Sequence[Row], model: str, unscored: Sequence[str]) -> Table:
    payoffs = payoff_table(_evaluation(row) for row in rows)
    cuts = [row for row in payoffs if row.domain is None or row.check_type is None]
    variants = list(dict.fromkeys([*(row.variant for row in cuts), *unscored]))
    privileged = any(row.get("privileged") for row in rows)
    title = f"{model} (privileged)" if privileged else model
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    table.add_column("% passed (tests)")
    for variant in variants:
        table.add_column(variant, justify="right")
    kinds = list(dict.fromkeys((row.domain is not None, _label(row)) for row in cuts))
    for kind in sorted(kinds, key=lambda kind: kind[0]):
        found = {row.variant: row for row in cuts if (row.domain is not None, _label(row)) == kind}
        table.add_row(kind[1], *(_percent(found.get(variant)) for variant in variants))
    if not kinds:
        table.add_row("all", *("-" for _ in variants))
    if any(made_calls(row) for row in rows):
        table.add_row("cost", *(_cost(rows, variant) for variant in variants))
    return table


def _cost(rows: Sequence[Row], variant: str) -> str:
    costs = [row.get("cost_usd") for row in rows if row["variant"] == variant]
    if not costs:
        return "-"
    known = [cost for cost in costs if cost is not None]
    return dollars(sum(known)) if len(known) == len(costs) else "unknown"


def _companions(rows: Sequence[Row]) -> Table:
    """Scores of an older version have none."""
    evaluations = [_evaluation(row) for row in rows]
    blocks: dict[str, list[dict[str, Any]]] = {row.variant: [] for row in payoff_table(evaluations)}
    for evaluation in evaluations:
        if found := evaluation.get("companions"):
            blocks[evaluation["variant"] or ""].append(found)
    return companion_table({variant: pooled_companions(found) for variant, found in blocks.items()})


def _evaluation(row: Row) -> dict[str, Any]:
    """Of a cell that was scored just now, or whose score was looked at."""
    path = Path(row["runs_dir"])
    if (found := read_evaluation(CellFolder(path))) is None:
        raise DataError("is gone or damaged; score the cell again", path=path / "eval.json")
    return found


def _label(row: PayoffRow) -> str:
    return row.domain or row.check_type or "all"


def _percent(row: PayoffRow | None) -> str:
    return f"{100 * row.success / row.total:.1f} ({row.total})" if row and row.total else "-"
