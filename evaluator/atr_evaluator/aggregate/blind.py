"""What a model that never learns a rule passes on the same tests."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from atr_evaluator.aggregate.figures import Figure
from atr_evaluator.aggregate.settings import Group, ScoredCell
from atr_evaluator.validity import Comparison, compare_outcomes

Outcomes = Mapping[Hashable, bool]


def best_blind(group: Group, blind: Sequence[ScoredCell]) -> Iterator[Figure]:
    """The best rule-blind score on the tests of a group, and whether the group is above it; nothing where no
    such model ran on all of them, or the group is one."""
    compared = comparison(group.cells, blind)
    if compared is None or any(cell.blind for cell in group.cells):
        return
    name, found = compared
    share = found.blind_passed / found.tests
    yield Figure(group.setting, group.variant, "best rule-blind", share, count=found.tests)
    note = f"{'yes' if found.above else 'NO'} ({name})"
    yield Figure(group.setting, group.variant, "above it", found.p_value, "p", note=note)


def comparison(cells: Sequence[ScoredCell], blind: Iterable[ScoredCell]) -> tuple[str, Comparison] | None:
    """With the name of the rule-blind model."""
    own = outcomes(cells)
    runs: dict[tuple[str, str, int], list[ScoredCell]] = {}
    for cell in blind:
        runs.setdefault((cell.setting.model, cell.variant, cell.setting.trial), []).append(cell)
    found = [
        (model, compared)
        for (model, _, _), members in sorted(runs.items())
        if (compared := compare_outcomes(own, outcomes(members)))
    ]
    return max(found, key=lambda pair: pair[1].blind_passed, default=None)


def outcomes(cells: Iterable[ScoredCell]) -> Outcomes:
    """Whether each test that was played was passed."""
    return {
        (cell.setting.dataset, cell.document["episode_id"], cell.episode_digest, session_id): passed
        for cell in cells
        if cell.document
        for session_id, passed in cell.passed.items()
    }
