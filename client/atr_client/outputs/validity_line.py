"""The line under a result table that says whether a score is above what guessing brings.

Every model is held against the best rule-blind model that has run on the same tests: the same episode, in the
same order of its objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from atr_client.agents import RULE_BLIND_MODELS
from atr_client.outputs.evaluations import read_evaluation
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.rows import Row
from atr_client.outputs.stored_cells import CellRecord
from atr_data.variants import variant_rank
from atr_evaluator import LEVEL, Comparison, compare_outcomes

Test = tuple[str | int | None, ...]
"""Episode id, digest of the episode, seed of its order, session id."""

Outcomes = Mapping[Test, bool]
"""Whether a test that was run was passed; of several results of a test the last counts."""

NONE_RAN = "no rule-blind model has run on these tests (run adds them with --nulls)"


def rule_blind_outcomes(rows: Iterable[Row], root: Path | None) -> dict[str, list[Outcomes]]:
    """What the rule-blind models passed, in the scored cells of `rows` and all others below the outputs root:
    one entry per model and variant."""
    folders = {Path(row["runs_dir"]).resolve() for row in rows if row["model"] in RULE_BLIND_MODELS}
    if root:
        folders |= {path.parent.resolve() for path in root.glob("*/*/*__model-offline-*/eval.json")}
    passed: dict[tuple[str, str], dict[Test, bool]] = {}
    for folder in sorted(folders):
        record = CellRecord.of(CellFolder(folder))
        if record.model in RULE_BLIND_MODELS:
            passed.setdefault((record.model, record.variant or ""), {}).update(_outcomes(folder, record))
    found: dict[str, list[Outcomes]] = {}
    for (model, _), outcomes in passed.items():
        found.setdefault(model, []).append(outcomes)
    return found


def validity_line(model: str, rows: Sequence[Row], blind: Mapping[str, Sequence[Outcomes]]) -> str:
    """One clause per variant of the model's scored cells."""
    if model in RULE_BLIND_MODELS:
        return "validity: this model never learns a rule; it is what others are held against"
    if not blind:
        return f"validity: {NONE_RAN}"
    variants: dict[str, dict[Test, bool]] = {}
    for row in rows:
        folder = Path(row["runs_dir"])
        record = CellRecord.of(CellFolder(folder))
        variants.setdefault(row["variant"] or "", {}).update(_outcomes(folder, record))
    ordered = sorted(variants, key=variant_rank)
    clauses = [f"\n  {_clause(variant, variants[variant], blind)}" for variant in ordered]
    return f"validity (one-sided exact McNemar test on the same tests, p < {LEVEL:g}):{''.join(clauses)}"


def _clause(variant: str, outcomes: Outcomes, blind: Mapping[str, Sequence[Outcomes]]) -> str:
    compared = list(_comparisons(outcomes, blind))
    if not compared:
        return f"{variant}: {NONE_RAN}"
    name, best = max(compared, key=lambda pair: pair[1].blind_passed)
    verdict = "above" if best.above else "NOT above"
    return (
        f"{variant} {_percent(best.passed, best)} is {verdict} {_percent(best.blind_passed, best)}, "
        f"the best rule-blind score ({name}; p = {best.p_value:.2g})"
    )


def _comparisons(
    outcomes: Outcomes, blind: Mapping[str, Sequence[Outcomes]]
) -> Iterator[tuple[str, Comparison]]:
    for name, runs in sorted(blind.items()):
        for run in runs:
            if found := compare_outcomes(outcomes, run):
                yield name, found


def _percent(passed: int, comparison: Comparison) -> str:
    return f"{100 * passed / comparison.tests:.1f}"


def _outcomes(folder: Path, record: CellRecord) -> dict[Test, bool]:
    """None of a cell whose score is gone or damaged."""
    evaluation = read_evaluation(CellFolder(folder))
    if evaluation is None:
        return {}
    episode = (evaluation["episode_id"], record.episode_sha256, record.shuffle_references)
    return {
        (*episode, result["session_id"]): result["task_success"]
        for result in evaluation["session_results"]
        if not result.get("missing")
    }
