"""The workstream server under any order of calls, right and wrong."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atr_servers.timing.sitting import ERRORS_IN_A_ROW
from atr_servers.timing.tools import Workstream
from tests.support.timing_sets import event, tiny_stream

MOMENTS = (0, 20, 40, 60, 90, 130)
STREAM = tiny_stream([*(event(at) for at in MOMENTS), event(45, self_help=True), event(100, self_help=True)])
ORDINARY = [f"e{at}" for at in MOMENTS]
QUIET = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

junk = st.none() | st.booleans() | st.integers(-3, 12) | st.floats() | st.text(max_size=5) | st.just([1])
ids = st.sampled_from([*ORDINARY, "h45", "h100", "e999", "current"])
calls = st.one_of(
    st.tuples(st.just("start_sitting"), st.fixed_dictionaries({}, optional={"x": junk})),
    st.tuples(
        st.just("stay_silent"),
        st.fixed_dictionaries({"event_id": ids}, optional={"for_events": junk, "confidence": junk}),
    ),
    st.tuples(
        st.just("assist"),
        st.fixed_dictionaries(
            {"event_id": ids},
            optional={
                "intent": st.sampled_from(["coding", "cooking"]),
                "slots": st.dictionaries(st.text(max_size=3), junk, max_size=9),
                "query": junk,
                "target": junk,
            },
        ),
    ),
    st.tuples(st.just("recent"), st.fixed_dictionaries({"seconds": junk})),
    st.tuples(st.sampled_from(["search_past", "habits", "nonsense", ""]), st.just({})),
)


def made(workstream: Workstream, call: tuple[str, dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    name, arguments = call
    current = workstream.state.current
    if arguments.get("event_id") == "current":
        arguments = {**arguments, "event_id": current.event_id if current else "e0"}
    return workstream.call(name, arguments)


@QUIET
@given(st.lists(calls, max_size=40))
def test_whatever_is_called_the_sitting_stays_whole(sequence: list[tuple[str, dict[str, Any]]]) -> None:
    workstream = Workstream(STREAM, "s1")
    state, in_a_row, errors = workstream.state, 0, 0
    for call in sequence:
        before, decided, running = state.current, state.decided, state.status == "running"
        answer, is_error = made(workstream, call)
        json.dumps(answer, allow_nan=False)
        errors += is_error
        in_a_row = in_a_row + 1 if is_error else 0
        if is_error:
            assert set(answer) == {"code", "message", "hint"}
            assert state.decided == decided
            assert state.current in (before, None)
            assert (state.status == "aborted") is (
                (running and in_a_row >= ERRORS_IN_A_ROW) or (not running and state.status == "aborted")
            )
        elif call[0] in ("stay_silent", "assist"):
            assert state.decided > decided
        shown = [*answer.get("passed", []), *filter(None, [answer.get("current")]), *answer.get("events", [])]
        now = state.current.t_release.isoformat() if state.current else "9"
        assert all(one["time"] <= now for one in shown)
    log = state.log()
    assert [decision.event_id for decision in log.decisions] == ORDINARY[: len(log.decisions)]
    assert sum(log.protocol_errors.values()) == errors
    assert (log.status == "finished") is (len(log.decisions) == len(ORDINARY) and log.status != "aborted")


@QUIET
@given(st.lists(st.integers(1, 10), min_size=6, max_size=6))
def test_silence_over_several_events_is_silence_at_each(counts: list[int]) -> None:
    workstream = Workstream(STREAM, "s1")
    answer, _ = workstream.call("start_sitting", {})
    seen = [answer["current"]["event_id"]]
    for count in counts:
        if answer["current"] is None:
            break
        arguments = {"event_id": answer["current"]["event_id"], "for_events": count}
        answer, _ = workstream.call("stay_silent", arguments)
        seen += [one["event_id"] for one in answer["passed"]]
        seen += [answer["current"]["event_id"]] if answer["current"] else []
    assert seen == [event.event_id for event in STREAM.events]
    assert workstream.state.status == "finished"
