"""Every cell with what became of it: nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Sequence

from atr_evaluator.aggregate.figures import Column, ListTable
from atr_evaluator.aggregate.settings import ScoredCell

_SHOWN = 3
_COLUMNS = (
    Column("cell", "cell"),
    Column("state", "state"),
    Column("played", "played", "count"),
    Column("tests", "tests", "count"),
    Column("problem", "what is missing, or went wrong"),
)


def unfinished_table(cells: Sequence[ScoredCell]) -> ListTable:
    """The cells that are not complete; a test that is missing from one counts as not passed wherever tests
    are counted, and the published metrics leave the cell out."""
    rows = [
        {
            "cell": cell.cell_id,
            "state": "incomplete" if cell.document else "without a score",
            "played": len(cell.passed) if cell.document else None,
            "tests": cell.metrics.get("total_test"),
            "problem": _problem(cell),
        }
        for cell in cells
        if not cell.complete
    ]
    notes = (
        f"{len(rows)} of {len(cells)} cells are not complete. Where tests are counted, a missing one of an "
        "incomplete cell counts as not passed; the published metrics leave such a cell out.",
    )
    return ListTable("unfinished", "cells that are not complete", _COLUMNS, rows, notes if rows else ())


def _problem(cell: ScoredCell) -> str:
    missing = cell.missing
    told = f"missing: {', '.join(missing[:_SHOWN])}" if missing else ""
    more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    return "; ".join(filter(None, (cell.problem, told + more)))
