"""The result tables of a sweep."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from atr_client.rows import Row
from atr_evaluator import PayoffRow, payoff_table
from atr_ontology import DOMAINS

_CHECK_TYPES = ("param_id", "param_enum", "tool_identity", "confirm")
_PRIVILEGED = "* was shown the answers: a reference, not a contestant"
Cut = Callable[[PayoffRow], str | None]


def print_results(console: Console, rows: Sequence[Row]) -> None:
    """Test accuracy by model and variant, with its cuts by check type and by domain; then what failed."""
    scored = [row for row in rows if row["ok"]]
    evaluations = {model: _evaluations(scored, model) for model in _models(scored)}
    privileged = {row["model"] for row in scored if row.get("privileged")}
    if evaluations:
        pooled = {model: payoff_table(found) for model, found in evaluations.items()}
        by_type = {m: [row for row in table if row.domain is None] for m, table in pooled.items()}
        by_domain = {m: [row for row in table if row.check_type is None] for m, table in pooled.items()}
        console.print(
            _table("Test accuracy by check type", by_type, privileged, _CHECK_TYPES, lambda r: r.check_type)
        )
        console.print(_table("Test accuracy by domain", by_domain, privileged, DOMAINS, lambda r: r.domain))
    if privileged:
        console.print(_PRIVILEGED, markup=False)
    for row in rows:
        if not row["ok"]:
            what = "aborted" if row.get("aborted") else "failed"
            console.print(f"{what}: {row['cell_id']}: {row['error']}", markup=False, soft_wrap=True)


def _models(rows: Sequence[Row]) -> list[str]:
    return sorted({row["model"] or "" for row in rows})


def _evaluations(rows: Sequence[Row], model: str) -> list[dict[str, Any]]:
    paths = [Path(row["runs_dir"]) / "eval.json" for row in rows if (row["model"] or "") == model]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def _table(
    title: str,
    by_model: dict[str, list[PayoffRow]],
    privileged: set[str],
    columns: Sequence[str],
    cut_of: Cut,
) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("model", no_wrap=True)
    table.add_column("variant", no_wrap=True)
    for name in ("n", "all", *columns):
        table.add_column(name.replace("_", " "), justify="right")
    for model, rows in by_model.items():
        for variant in dict.fromkeys(row.variant for row in rows):
            cuts = {cut_of(row): row for row in rows if row.variant == variant}
            total = cuts[None]
            cells = [_percent(cuts.get(name)) for name in columns]
            mark = "*" if model in privileged else ""
            table.add_row(model + mark, variant, str(total.total), _percent(total), *cells)
    return table


def _percent(row: PayoffRow | None) -> str:
    return "-" if row is None or not row.total else f"{100 * row.success / row.total:.1f}"
