"""Where points are lost: the share of every class, and what the gap from default to the oracle is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from atr_evaluator.aggregate.figures import Figure, FigureTable, share
from atr_evaluator.aggregate.memory_figures import RETAINED_NOTE, retained_figures
from atr_evaluator.aggregate.settings import Group, Setting
from atr_evaluator.losses import LOSS_CLASSES, LossClass

DEFAULT, ORACLE = "default", "oracle_target"
SPRAYED = "sprayed"

_CLASSES_NOTE = tuple(f"{name}: {meaning}" for name, meaning in LOSS_CLASSES.items())


def loss_table(found: Sequence[Group]) -> FigureTable:
    """Shares of all tests; the classes of a column sum to 100. Classes that do not occur are left out. After
    them what the memory kept of the rules that were heard."""
    occurring: set[LossClass] = {name for group in found for name in _counts(group)}
    figures = [figure for group in found for figure in _group(group, occurring)]
    notes = [note for name, note in zip(LOSS_CLASSES, _CLASSES_NOTE, strict=True) if name in occurring]
    if any(figure.measure == SPRAYED for figure in figures):
        notes.append(
            "sprayed: of the tool tests, those passed by carrying a rival out as well; beside the sum"
        )
    retained = [figure for group in found for figure in retained_figures(group)]
    notes += [RETAINED_NOTE] if retained else []
    return FigureTable("losses", "where points are lost, % of tests", [*figures, *retained], notes)


def gap_table(found: Sequence[Group]) -> FigureTable:
    """Which classes the way from default to the oracle is made of, over the tests that both have: the share
    that is lost in each class under default, minus that under the oracle. They sum to the gap."""
    by_setting: dict[Setting, dict[str, Group]] = {}
    for group in found:
        by_setting.setdefault(group.setting, {})[group.variant] = group
    figures = [
        figure
        for setting, variants in by_setting.items()
        if DEFAULT in variants and ORACLE in variants
        for figure in _gap(setting, _outcomes(variants[DEFAULT]), _outcomes(variants[ORACLE]))
    ]
    notes = [
        "gap: tests lost in each class under default, minus those under the oracle; the classes sum to it"
    ]
    return FigureTable("gap", f"from {DEFAULT} to {ORACLE}, points", figures, notes if figures else ())


def _outcomes(group: Group) -> dict[tuple[str, str], tuple[LossClass, bool]]:
    """Class and pass mark of every test, by episode and session id."""
    return {
        (cell.document["episode_id"], loss["session_id"]): (loss["loss_class"], result["task_success"])
        for cell in group.scored
        if cell.document
        for loss, result in zip(cell.losses, cell.results, strict=False)
    }


def _gap(
    setting: Setting,
    default: Mapping[tuple[str, str], tuple[LossClass, bool]],
    oracle: Mapping[tuple[str, str], tuple[LossClass, bool]],
) -> Iterator[Figure]:
    shared = default.keys() & oracle.keys()
    if not shared:
        return
    lost = Counter(default[test][0] for test in shared if not default[test][1])
    lost.subtract(oracle[test][0] for test in shared if not oracle[test][1])
    name = f"{DEFAULT} to {ORACLE}"
    yield Figure(setting, name, "gap", lost.total() / len(shared), "points", count=len(shared))
    for loss_class in LOSS_CLASSES:
        if loss_class in lost:
            yield Figure(setting, name, loss_class, lost[loss_class] / len(shared), "points")


def _group(group: Group, occurring: set[LossClass]) -> Iterator[Figure]:
    setting, variant = group.setting, group.variant
    classes: dict[str, Counter[str]] = {}
    for cell in group.scored:
        classes.setdefault(cell.persona, Counter()).update([loss["loss_class"] for loss in cell.losses])
    for name in LOSS_CLASSES:
        if name in occurring:
            counts = [(persona, found[name], found.total()) for persona, found in classes.items()]
            yield share(setting, variant, name, counts)
    tools = [
        (cell.persona, int(loss["sprayed"]), 1)
        for cell in group.scored
        for loss, result in zip(cell.losses, cell.results, strict=False)
        if result["check_type"] == "tool_identity" and not result.get("missing")
    ]
    if tools:
        yield share(setting, variant, SPRAYED, tools)


def _counts(group: Group) -> Counter[LossClass]:
    return Counter(loss["loss_class"] for cell in group.scored for loss in cell.losses)
