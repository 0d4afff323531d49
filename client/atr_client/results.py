"""The result tables of a sweep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from atr_client.rows import Row
from atr_evaluator import PayoffRow, payoff_table

_PRIVILEGED = "was shown the answers: a reference, not a contestant"


def print_results(console: Console, rows: Sequence[Row]) -> None:
    """Test accuracy per model: one column per variant, cut by check type and by domain; then what failed."""
    scored = [row for row in rows if row["ok"]]
    for model in sorted({row["model"] or "" for row in scored}):
        of_model = [row for row in scored if (row["model"] or "") == model]
        console.print(_table(of_model, model))
        if any(row.get("privileged") for row in of_model):
            console.print(f"{model} {_PRIVILEGED}", markup=False, highlight=False)
    for row in rows:
        if not row["ok"]:
            what = "aborted" if row.get("aborted") else "failed"
            line = f"{what}: {row['cell_id']}: {row['error']}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _table(rows: Sequence[Row], model: str) -> Table:
    payoffs = payoff_table(_evaluation(row) for row in rows)
    cuts = [row for row in payoffs if row.domain is None or row.check_type is None]
    variants = list(dict.fromkeys(row.variant for row in cuts))
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
    return table


def _evaluation(row: Row) -> dict[str, Any]:
    return json.loads((Path(row["runs_dir"]) / "eval.json").read_text(encoding="utf-8"))


def _label(row: PayoffRow) -> str:
    return row.domain or row.check_type or "all"


def _percent(row: PayoffRow | None) -> str:
    return f"{100 * row.success / row.total:.1f} ({row.total})" if row and row.total else "-"
