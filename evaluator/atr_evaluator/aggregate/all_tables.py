"""The tables that a folder of cells gives."""

from __future__ import annotations

from collections.abc import Sequence

from atr_evaluator.aggregate import TABLE_NAMES
from atr_evaluator.aggregate.accuracy_figures import accuracy_table
from atr_evaluator.aggregate.asking_figures import asking_table
from atr_evaluator.aggregate.cell_rows import unfinished_table
from atr_evaluator.aggregate.companion_figures import companion_table
from atr_evaluator.aggregate.comparison_rows import comparison_table
from atr_evaluator.aggregate.ending_figures import ending_table
from atr_evaluator.aggregate.figures import ListTable, Table
from atr_evaluator.aggregate.loss_figures import gap_table, loss_table
from atr_evaluator.aggregate.memory_figures import memory_table
from atr_evaluator.aggregate.published_figures import published_table
from atr_evaluator.aggregate.settings import ScoredCell, groups
from atr_evaluator.aggregate.trial_rows import trial_table


def all_tables(cells: Sequence[ScoredCell], chosen: Sequence[str] = TABLE_NAMES) -> list[Table]:
    """The chosen tables in their order; empty ones are left out. Cells of rule-blind models are shown, and
    are what others are held against."""
    found = groups(cells)
    blind = [cell for cell in cells if cell.blind]
    makers = {
        "accuracy": lambda: accuracy_table(found, blind),
        "published": lambda: published_table(found),
        "losses": lambda: loss_table(found),
        "gap": lambda: gap_table(found),
        "asking": lambda: asking_table(found),
        "companions": lambda: companion_table(found),
        "endings": lambda: ending_table(found),
        "memory": lambda: memory_table(found),
        "trials": lambda: trial_table(found),
        "comparisons": lambda: comparison_table(found),
        "unfinished": lambda: unfinished_table(cells),
    }
    return [table for name in TABLE_NAMES if name in chosen and not is_empty(table := makers[name]())]


def is_empty(table: Table) -> bool:
    return not (table.rows if isinstance(table, ListTable) else table.figures)
