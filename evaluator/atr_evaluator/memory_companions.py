"""What a cell's memory kept of what was heard, and what it cost: companions of the pass mark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator.asking import asking_of
from atr_evaluator.numbers import ratio

_ANSWERS = ("stored", "findable", "found")
RETAINED = ("heard", *_ANSWERS, *(f"{name}_known" for name in _ANSWERS))
COSTS: tuple[str, ...] = (
    "tests",
    "pushed_characters",
    "tool_calls",
    "returned_characters",
    "milliseconds",
    "stored_bytes",
    "discarded_writes",
)
_RATES = {f"{name}_rate": (name, f"{name}_known") for name in _ANSWERS}


def memory_companions(episode: Episode, trajectories: Sequence[Trajectory]) -> dict[str, Any]:
    """`retained`: of the tests whose rule was heard in a learning session (`heard`), in how many the rule's
    answer was anywhere in the frozen memory (`stored`), could be brought up by a session about its topic
    (`findable`), and was read (`found`); each beside the number of tests of which that is known, with a rate
    to four decimals. `memory`: what the memory cost the tests in all, and the bytes that the snapshot
    holds, summed over tests."""
    heard = {hit.rule_id for hit in asking_of(t for t in trajectories if t.session_type == "learning").hits}
    rules = {test.session_id: test.rule_id for test in episode.test_sessions}
    tests = [t for t in trajectories if t.session_type == "test" and t.session_id in rules]
    counts = dict.fromkeys(RETAINED, 0)
    costs = dict.fromkeys(COSTS, 0)
    for test in tests:
        if rules[test.session_id] in heard:
            counts["heard"] += 1
            kept = test.retention
            known = {
                "stored": kept.stored if kept else None,
                "findable": kept.findable if kept else None,
                "found": test.rule_readable,
            }
            for name, answer in known.items():
                counts[f"{name}_known"] += answer is not None
                counts[name] += answer is True
        if use := test.memory_use:
            costs["tests"] += 1
            costs["milliseconds"] += round(1000 * use.seconds)
            for name in COSTS:
                costs[name] += getattr(use, name, 0)
    return {"retained": _with_rates(counts), "memory": costs}


def pooled_memory(blocks: Iterable[Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Both groups over several cells: counts added up, rates taken anew. A block without them counts for
    nothing."""
    found = list(blocks)
    retained = {name: sum(block.get("retained", {}).get(name, 0) for block in found) for name in RETAINED}
    costs = {name: sum(block.get("memory", {}).get(name, 0) for block in found) for name in COSTS}
    return {"retained": _with_rates(retained), "memory": costs}


def _with_rates(counts: dict[str, int]) -> dict[str, Any]:
    return {**counts, **{rate: ratio(counts[part], counts[whole]) for rate, (part, whole) in _RATES.items()}}
