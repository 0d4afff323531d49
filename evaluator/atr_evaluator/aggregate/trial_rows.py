"""Repeated trials: pass@k and pass^k of every setting that was played more than once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from atr_evaluator.aggregate.bootstrap import Interval, mean_interval
from atr_evaluator.aggregate.figures import Column, ListTable
from atr_evaluator.aggregate.settings import Group, Setting, varying
from atr_evaluator.aggregate.trials import Trials, over_trials, trials_of

_COLUMNS = (
    Column("setting", "model"),
    Column("variant", "variant"),
    Column("k", "k", "count"),
    Column("pass_at_k", "pass@k, %", "share"),
    Column("pass_at_k_interval", "interval"),
    Column("pass_hat_k", "pass^k, %", "share"),
    Column("pass_hat_k_interval", "interval"),
    Column("tests", "tests", "count"),
    Column("short", "tests with fewer", "count"),
    Column("not_played", "not played", "count"),
)
_NOTES = (
    "pass@k: at least one of k trials passed, 1 - C(n-c, k) / C(n, k) for c of n; pass^k: all k did, "
    "C(c, k) / C(n, k); the mean over tests with k trials or more. A trial that the surroundings broke is "
    "no trial: it is left out and counted as not played. Intervals: 95 percent, by drawing whole personas.",
)


def trial_table(found: Sequence[Group]) -> ListTable:
    """Empty where nothing was played twice."""
    pooled: dict[tuple[Setting, str], list[Group]] = {}
    for group in found:
        pooled.setdefault((replace(group.setting, trial=1), group.variant), []).append(group)
    repeated = {key: members for key, members in pooled.items() if len(members) > 1}
    names = varying(setting for setting, _ in repeated)
    rows = [
        {"setting": setting.label(names), "variant": variant, **row}
        for (setting, variant), members in repeated.items()
        for row in _rows(members)
    ]
    return ListTable("trials", "repeated trials", _COLUMNS, rows, _NOTES if rows else ())


def _rows(members: Sequence[Group]) -> Iterator[dict[str, object]]:
    runs: list[dict[tuple[str, str], bool]] = []
    expected: set[tuple[str, str]] = set()
    for group in members:
        played: dict[tuple[str, str], bool] = {}
        for cell in group.cells:
            played |= {(cell.persona, name): passed for name, passed in cell.passed.items()}
            expected |= {(cell.persona, result["session_id"]) for result in cell.results}
        runs.append(played)
    trials = trials_of(runs)
    broken = len(expected) * len(runs) - sum(one.played for one in trials.values())
    for over in over_trials(trials, len(runs)):
        yield {
            "k": over.k,
            "pass_at_k": over.pass_at_k,
            "pass_at_k_interval": _interval(trials, over.k, every=False),
            "pass_hat_k": over.pass_hat_k,
            "pass_hat_k_interval": _interval(trials, over.k, every=True),
            "tests": over.tests,
            "short": over.short,
            "not_played": broken,
        }


def _interval(trials: dict[tuple[str, str], Trials], k: int, *, every: bool) -> Interval | None:
    """None of a single persona."""
    personas: dict[Hashable, list[float]] = {}
    for (persona, _), one in trials.items():
        if one.played >= k:
            personas.setdefault(persona, []).append(one.all_of(k) if every else one.any_of(k))
    if len(personas) < 2:
        return None
    return mean_interval([sum(values) / len(values) for values in personas.values()])
