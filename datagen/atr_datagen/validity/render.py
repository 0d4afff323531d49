"""The validity report for readers and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from atr_datagen.validity.corpus import Metrics
from atr_datagen.validity.verdict import Verdict, judge, shown

_SIZES = ("personas", "rules", "learning_sessions", "test_sessions")
_MARKS = {True: "pass", False: "**fail**", None: "not judged"}


def as_json(metrics: Metrics) -> str:
    bounds = [
        {
            "metric": verdict.bound.metric,
            "comparison": verdict.bound.comparison,
            "bound": verdict.limit,
            "value": verdict.found,
            "pass": verdict.ok,
            **({"reason": verdict.reason} if verdict.reason else {}),
        }
        for verdict in judge(metrics)
    ]
    return json.dumps({"metrics": metrics, "bounds": bounds}, indent=1, ensure_ascii=False) + "\n"


def as_markdown(metrics: Metrics) -> str:
    verdicts = judge(metrics)
    judged = [verdict for verdict in verdicts if verdict.ok is not None]
    kept, skipped = sum(bool(verdict.ok) for verdict in judged), len(verdicts) - len(judged)
    sizes = [f"{metrics[f'counts.{name}']} {name.replace('_', ' ')}" for name in _SIZES]
    lines = [
        "# Validity report",
        "",
        f"{', '.join(sizes)}. {kept} of {len(judged)} bounds hold; {skipped} are not judged.",
        "",
        *_not_judged(verdicts),
        *_table(("bound", "value", "", "limit", "verdict"), map(_line, verdicts)),
    ]
    for section, names in groupby(metrics, key=lambda name: name.partition(".")[0]):
        cells = ((f"`{name}`", shown(metrics[name])) for name in names)
        lines += ["", f"## {section}", "", *_table(("measure", "value"), cells)]
    return "\n".join(lines) + "\n"


def _line(verdict: Verdict) -> tuple[str, ...]:
    bound = verdict.bound
    return (
        f"`{bound.metric}`",
        shown(verdict.found),
        bound.comparison,
        f"{verdict.limit:g}",
        _MARKS[verdict.ok],
    )


def _not_judged(verdicts: Iterable[Verdict]) -> Iterator[str]:
    for reason in dict.fromkeys(verdict.reason for verdict in verdicts if verdict.reason):
        count = sum(verdict.reason == reason for verdict in verdicts)
        yield f"- {count} bounds not judged: {reason}."
    yield ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
