"""The line under a result table that says whether a score is above what guessing brings.

Every model is held against the best rule-blind model that has run on the same tests: the same episode, in the
same order of its objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from atr_client.agents import RULE_BLIND_MODELS
from atr_client.outputs.evaluations import read_evaluation
from atr_client.outputs.layout import CellFolder, model_name
from atr_client.outputs.scored_cells import scored_cell
from atr_client.outputs.stored_cells import CellRecord
from atr_evaluator import LEVEL, Comparison
from atr_evaluator.aggregate.blind import comparison
from atr_evaluator.aggregate.settings import Group, ScoredCell

NONE_RAN = "no rule-blind model has run on these tests (run adds them with --nulls)"


_PARTS = frozenset(f"model-{model_name(model)}" for model in RULE_BLIND_MODELS)
"""Of the names of their cells' folders."""


def rule_blind_cells(cells: Sequence[ScoredCell], root: Path | None) -> list[ScoredCell]:
    """The cells of rule-blind models among the scored ones, and all others below the outputs root."""
    found = {Path(cell.folder).resolve(): cell for cell in cells if cell.blind}
    scored = (path.parent for path in root.glob("*/*/*/eval.json")) if root else ()
    for folder in (path.resolve() for path in scored if not _PARTS.isdisjoint(path.name.split("__"))):
        cell = CellFolder(folder)
        if folder not in found and CellRecord.of(cell).model in RULE_BLIND_MODELS:
            found[folder] = scored_cell(cell, read_evaluation(cell))
    return [found[folder] for folder in sorted(found)]


def validity_line(model: str, found: Sequence[Group], blind: Sequence[ScoredCell]) -> str:
    """One clause per variant of the model's scored cells; those without a comparison share one."""
    if model in RULE_BLIND_MODELS:
        return "validity: this model never learns a rule; it is what others are held against"
    compared = {group.variant: comparison(group.scored, blind) for group in found}
    lines = [f"  {_clause(variant, *best)}" for variant, best in compared.items() if best]
    if not lines:
        return f"validity: {NONE_RAN}"
    if alone := [variant for variant, best in compared.items() if not best]:
        lines.append(f"  {', '.join(alone)}: {NONE_RAN}")
    title = f"validity (one-sided exact McNemar test on the same tests, p < {LEVEL:g}):"
    return "\n".join((title, *lines))


def _clause(variant: str, name: str, best: Comparison) -> str:
    verdict = "above" if best.above else "NOT above"
    return (
        f"{variant} {_percent(best.passed, best)} is {verdict} {_percent(best.blind_passed, best)}, "
        f"the best rule-blind score ({name}; p = {best.p_value:.2g})"
    )


def _percent(passed: int, comparison: Comparison) -> str:
    return f"{100 * passed / comparison.tests:.1f}"
