"""Companion metrics: what the pass mark cannot tell, beside it and never inside it.

They count tests that were run; a missing one is in none of them. Every block holds its counts, so blocks of
several cells can be pooled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, cast

from atr_data.constants import CONFIRMATION
from atr_data.episode import Episode, RequiredAction, TestSession
from atr_data.trajectory import spoken
from atr_evaluator.match import compare_values, first_call, object_of
from atr_evaluator.numbers import ratio
from atr_evaluator.runs import SessionRun
from atr_evaluator.sessions import Scoring, SessionResult
from atr_ontology import load_ontology

Counts = dict[str, dict[str, int]]

_COUNTS: Mapping[str, tuple[str, ...]] = {
    "confirm": (
        "tests",
        "hits",
        "sibling_tests",
        "sibling_false_alarms",
        "exposed_tests",
        "false_alarms",
    ),
    "target": ("tests", "acted", "agreed"),
    "scope_pairs": ("pairs", "both", "one", "none"),
    "executed": ("answered", "accepted"),
    "corrected_later": ("tests", "corrected"),
}
_RATES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "confirm": {
        "hit_rate": ("hits", "tests"),
        "sibling_false_alarm_rate": ("sibling_false_alarms", "sibling_tests"),
        "false_alarm_rate": ("false_alarms", "exposed_tests"),
    },
    "target": {"agreement": ("agreed", "acted")},
    "executed": {"accepted_rate": ("accepted", "answered")},
}


def companion_metrics(episode: Episode, scoring: Scoring) -> dict[str, Any]:
    """The companions of one scored cell.

    - `confirm`: `hits` are confirm tests in which the agent asked to confirm the guarded tool, whatever
      object it named, so that confirming everything gives as many false alarms as hits. `sibling_tests`
      require the same tool for a rule that is no confirm rule; asking there is a false alarm. `exposed_tests`
      are all tests of other rules in which the agent called or asked to confirm a guarded tool.
      `hit_minus_false_alarm` is the difference of the first two rates.
    - `target`: tests that name the object to act on; in how many the required tool was called, and in how
      many its first call took that object.
    - `scope_pairs`: pairs of rules with one action step; whether both, one or none of their tests passed.
    - `executed`: matched calls with an answer on record; how many the environment carried out.
    - `corrected_later`: failed tests that a later call of the agent put right.

    Rates to four decimals, null when there is nothing to divide by.
    """
    tests = {test.session_id: test for test in episode.test_sessions}
    ran = [
        (tests[result["session_id"]], run)
        for result, run in zip(scoring.results, scoring.runs, strict=True)
        if run is not None
    ]
    present = [result for result in scoring.results if not result.get("missing")]
    targets = [_target_taken(test, run, named) for test, run in ran if (named := _target_ids(test))]
    executed = [diagnosis["executed"] for diagnosis in scoring.diagnostics]
    return _with_rates(
        {
            "confirm": _confirm(episode, ran),
            "target": {
                "tests": len(targets),
                "acted": len(targets) - targets.count(None),
                "agreed": targets.count(True),
            },
            "scope_pairs": _scope_pairs(episode, present),
            "executed": {
                "answered": len(executed) - executed.count(None),
                "accepted": executed.count(True),
            },
            "corrected_later": {
                "tests": len(ran),
                "corrected": sum(diagnosis["corrected_later"] for diagnosis in scoring.diagnostics),
            },
        }
    )


def pooled_companions(blocks: Iterable[Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """One block over several cells: counts added up, rates taken anew."""
    found = list(blocks)
    return _with_rates(
        {
            group: {name: sum(block[group][name] for block in found) for name in names}
            for group, names in _COUNTS.items()
        }
    )


def _with_rates(counts: Counts) -> dict[str, Any]:
    block: dict[str, dict[str, Any]] = {
        group: {
            **figures,
            **{
                rate: ratio(figures[part], figures[whole])
                for rate, (part, whole) in _RATES.get(group, {}).items()
            },
        }
        for group, figures in counts.items()
    }
    confirm = block["confirm"]
    hits, alarms = confirm["hit_rate"], confirm["sibling_false_alarm_rate"]
    confirm["hit_minus_false_alarm"] = None if hits is None or alarms is None else round(hits - alarms, 4)
    return block


def _confirm(episode: Episode, ran: Sequence[tuple[TestSession, SessionRun]]) -> dict[str, int]:
    by_test = [(test.session_id, _guarded(test)) for test in episode.test_sessions]
    guarded, own_guarded = {tool for _, tools in by_test for tool in tools}, dict(by_test)
    counts = dict.fromkeys(_COUNTS["confirm"], 0)
    for test, run in ran:
        calls = [call for batch in run.batches for call in batch]
        asked = {spoken(call.arguments.get("target_tool")) for call in calls if call.name == CONFIRMATION}
        if own := own_guarded[test.session_id]:
            counts["tests"] += 1
            counts["hits"] += bool(asked & own)
            continue
        if own := {action.tool for action in _actions(test)} & guarded:
            counts["sibling_tests"] += 1
            counts["sibling_false_alarms"] += bool(asked & own)
        if (asked | {call.name for call in calls}) & guarded:
            counts["exposed_tests"] += 1
            counts["false_alarms"] += bool(asked & guarded)
    return counts


def _actions(test: TestSession) -> Sequence[RequiredAction]:
    return test.labels.task_success.required_actions


def _guarded(test: TestSession) -> set[str]:
    """The tools that the test wants to be confirmed."""
    named = (action.arguments.get("target_tool") for action in _actions(test) if action.tool == CONFIRMATION)
    return {tool for name in named if (tool := spoken(name))}


def _target_ids(test: TestSession) -> dict[str, Any]:
    """The part of `labels.target` that names objects; dates, counts and texts are left out."""
    naming = load_ontology().object_parameters(test.domain)
    return {name: value for name, value in test.labels.target.items() if name in naming}


def _target_taken(test: TestSession, run: SessionRun, wanted: dict[str, Any]) -> bool | None:
    """None when no required tool was called. A confirmation takes the objects of the call it announces."""
    for action in _actions(test):
        if call := first_call(action.tool, run.batches):
            pinned = call.name == CONFIRMATION
            taken = object_of(call.arguments.get("target_params")) if pinned else call.arguments
            return isinstance(taken, dict) and not compare_values(wanted, wanted, cast(dict[str, Any], taken))
    return None


def _scope_pairs(episode: Episode, results: Sequence[SessionResult]) -> dict[str, int]:
    passed = {result["rule_id"]: result["task_success"] for result in results}
    slots: dict[tuple[str, str | None], list[bool]] = {}
    for rule in episode.rules:
        if rule.rule_id in passed:
            step = rule.action_step
            slots.setdefault((step.tool, step.param), []).append(passed[rule.rule_id])
    sums = Counter(sum(pair) for slot in slots.values() for pair in combinations(slot, 2))
    return {"pairs": sums.total(), "both": sums[2], "one": sums[1], "none": sums[0]}
