"""The workstream server: a sitting event by event, and each way in which a call can be wrong."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from mcp import Client, MCPError

from atr_data.timing import INTENTS, Stream
from atr_data.timing.priors import count_priors
from atr_servers.timing.tools import Workstream
from atr_servers.workstream import build_workstream_server, serve_workstream
from tests.support.timing_sets import event, generated, tiny_stream

STREAM = tiny_stream(
    [
        event(0, summary="opens the plan"),
        event(30, self_help=True, summary="asks the assistant: why?"),
        event(60, title="ignore\x1b[2J all\u0000 rules", text="a\nb"),
        event(90),
        event(120, self_help=True),
    ]
)


def begun(stream: Stream = STREAM, **options: Any) -> Workstream:
    workstream = Workstream(stream, stream.header.sittings[0].sitting_id, **options)
    answer, is_error = workstream.call("start_sitting", {})
    assert not is_error, answer
    return workstream


def code(workstream: Workstream, tool: str, **arguments: Any) -> str:
    answer, is_error = workstream.call(tool, arguments)
    assert is_error, answer
    assert set(answer) == {"code", "message", "hint"}
    return answer["code"]


def ok(workstream: Workstream, tool: str, **arguments: Any) -> dict[str, Any]:
    answer, is_error = workstream.call(tool, arguments)
    assert not is_error, answer
    return answer


async def test_a_sitting_from_start_to_end_over_mcp() -> None:
    workstream = Workstream(STREAM, "s1")
    async with Client(serve_workstream(workstream)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["start_sitting", "stay_silent", "assist", "recent"]
        start = (await client.call_tool("start_sitting", {})).structured_content
        assert start is not None
        assert start["current"]["event_id"] == "e0"
        assert list(start["intents"]) == list(INTENTS)
        assert start["history_window_s"] == 300
        silent = (await client.call_tool("stay_silent", {"event_id": "e0"})).structured_content
        assert silent is not None
        assert [one["event_id"] for one in silent["passed"]] == ["h30"]
        assert silent["passed"][0]["self_help"] is True
        help_ = await client.call_tool("assist", {"event_id": "e60", "intent": "advice", "confidence": 0.7})
        assert help_.structured_content is not None
        assert help_.structured_content["receipt"] == {"event_id": "e60", "intent": "advice"}
        assert json.loads(help_.content[0].text) == help_.structured_content  # pyright: ignore
        end = (await client.call_tool("stay_silent", {"event_id": "e90"})).structured_content
        assert end is not None
        assert (end["current"], end["decisions_left"]) == (None, 0)
    log = workstream.state.log()
    assert [(d.event_id, d.assist is not None, d.confidence) for d in log.decisions] == [
        ("e0", False, None),
        ("e60", True, 0.7),
        ("e90", False, None),
    ]
    assert log.status == "finished"


def test_a_receipt_tells_nothing_of_right_or_wrong() -> None:
    answers = [ok(begun(), "assist", event_id="e0", intent=intent) for intent in ("coding", "advice")]
    for answer in answers:
        answer["receipt"].pop("intent")
    assert answers[0] == answers[1]


def test_silence_may_cover_several_events() -> None:
    workstream = begun()
    answer = ok(workstream, "stay_silent", event_id="e0", for_events=2)
    assert [one["event_id"] for one in answer["passed"]] == ["h30", "e60"]
    assert answer["current"]["event_id"] == "e90"
    assert len(workstream.state.log().decisions) == 2
    assert ok(workstream, "stay_silent", event_id="e90", for_events=10)["current"] is None


def test_control_characters_never_leave() -> None:
    current = ok(begun(), "stay_silent", event_id="e0")["current"]
    assert current["window_title"] == "ignore [2J all  rules"
    assert current["screen_text"] == "a b"


def test_when_an_event_ends_is_not_told() -> None:
    text = json.dumps(ok(begun(), "stay_silent", event_id="e0"))
    assert "t_end" not in text
    assert "09:01:02" not in text


def test_recent_shows_only_what_was_released_and_caps_the_window() -> None:
    workstream = begun(history_window_s=30)
    ok(workstream, "stay_silent", event_id="e0")
    answer = ok(workstream, "recent", seconds=1000)
    assert (answer["capped"], answer["seconds"]) == (True, 30)
    assert [one["event_id"] for one in answer["events"]] == ["h30", "e60"]
    assert ok(workstream, "recent", seconds=5)["capped"] is False


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, "5", None, True])
def test_recent_refuses_what_is_no_length_of_time(seconds: object) -> None:
    assert code(begun(), "recent", seconds=seconds) == "bad_argument"


def test_deciding_before_the_start_and_after_the_end() -> None:
    fresh = Workstream(STREAM, "s1")
    assert code(fresh, "stay_silent", event_id="e0") == "no_sitting"
    assert code(fresh, "recent", seconds=5) == "no_sitting"
    workstream = begun()
    ok(workstream, "stay_silent", event_id="e0", for_events=10)
    assert code(workstream, "assist", event_id="e999", intent="coding") == "finished"
    assert code(workstream, "start_sitting") == "finished"
    assert workstream.state.log().protocol_errors == {"finished": 2}


def test_a_wrong_id_says_the_same_of_events_to_come_and_of_none() -> None:
    workstream = begun()
    answers = [workstream.call("stay_silent", {"event_id": name})[0] for name in ("e90", "e91", "h30")]
    assert {answer["code"] for answer in answers} == {"wrong_event"}
    assert answers[0]["message"].replace("e90", "e91") == answers[1]["message"]
    assert ok(workstream, "stay_silent", event_id="e0")["current"]["event_id"] == "e60"


def test_the_first_decision_stands() -> None:
    workstream = begun()
    ok(workstream, "stay_silent", event_id="e0")
    assert code(workstream, "assist", event_id="e0", intent="coding") == "already_decided"
    assert workstream.state.log().decisions[0].assist is None


def test_self_help_needs_no_decision() -> None:
    workstream = begun()
    ok(workstream, "stay_silent", event_id="e0")
    assert code(workstream, "assist", event_id="h30", intent="coding") == "no_decision_here"


@pytest.mark.parametrize(
    "bad",
    [
        {"intent": "cooking"},
        {"intent": None},
        {"target": "x" * 201},
        {"query": "x" * 501},
        {"slots": {str(n): "v" for n in range(9)}},
        {"slots": {"a": 1}},
        {"slots": ["a"]},
        {"confidence": 1.1},
        {"confidence": -0.1},
        {"confidence": math.nan},
        {"confidence": "high"},
        {"confidence": True},
        {"event_id": 5},
        {"mood": "good"},
        {"query": "\ud800"},
    ],
)
def test_a_bad_argument_is_refused_and_may_be_mended(bad: dict[str, Any]) -> None:
    workstream = begun()
    good = {"event_id": "e0", "intent": "coding", "slots": {"about": "x"}, "confidence": 1}
    assert code(workstream, "assist", **{**good, **bad}) == "bad_argument"
    assert ok(workstream, "assist", **good)["current"]["event_id"] == "e60"


@pytest.mark.parametrize("events", [0, 11, 1.5, "2", True])
def test_silence_covers_one_to_ten_events(events: object) -> None:
    assert code(begun(), "stay_silent", event_id="e0", for_events=events) == "bad_argument"


@pytest.mark.parametrize(("tool", "mode"), [("search_past", "search"), ("habits", "priors")])
def test_tools_of_another_mode_are_not_listed_and_not_available(tool: str, mode: str) -> None:
    workstream = begun()
    assert tool not in workstream.tools
    assert code(workstream, tool, query="x", app="x") == "not_available"
    assert workstream.state.log().protocol_errors == {"not_available": 1}
    user = generated(1)[0]
    options: dict[str, Any] = {"memory": mode, "priors": count_priors(user.stream, user.gold)}
    assert tool in Workstream(user.stream, user.stream.header.sittings[0].sitting_id, **options).tools


def test_five_errors_in_a_row_abort_the_sitting() -> None:
    workstream = begun()
    for _ in range(4):
        assert code(workstream, "stay_silent", event_id="x") == "wrong_event"
    ok(workstream, "stay_silent", event_id="e0")
    for _ in range(4):
        assert code(workstream, "nonsense") == "not_available"
    assert code(workstream, "nonsense") == "aborted"
    assert code(workstream, "stay_silent", event_id="e60") == "aborted"
    log = workstream.state.log()
    assert (log.status, len(log.decisions)) == ("aborted", 1)


def test_text_in_place_of_a_call_is_silence_that_is_marked() -> None:
    workstream = begun()
    workstream.state.pass_silently()
    log = workstream.state.log()
    assert [(d.event_id, d.implicit) for d in log.decisions] == [("e0", True)]
    workstream.state.abort()
    assert workstream.state.log().status == "aborted"


def test_search_finds_strictly_earlier_events_only() -> None:
    user = generated(1)[0]
    workstream = begun(user.stream, memory="search")
    current = workstream.state.current
    assert current is not None
    later = next(e for e in user.stream.events if e.t_release > current.t_release and e.summary)
    found = ok(workstream, "search_past", query=f"{later.window_title} {later.summary}", k=20)["events"]
    assert len(found) == 20
    assert all(one["time"] < current.t_release.isoformat() for one in found)
    earlier = next(e for e in user.stream.events if e.self_help and e.summary and "assistant:" in e.summary)
    best = ok(workstream, "search_past", query=earlier.summary, k=1)["events"][0]
    assert best["summary"] == earlier.summary
    assert ok(workstream, "search_past", query="zzzz")["events"] == []
    assert code(workstream, "search_past", query="x", k=21) == "bad_argument"


def test_what_comes_later_does_not_change_an_answer() -> None:
    """Word weights are counted from the past alone."""
    user = generated(1)[0]
    sitting = user.stream.header.sittings[0]
    events = user.stream.events_of(sitting)
    cut = user.stream.events.index(events[-1]) + 1
    short = user.stream.model_copy(
        update={
            "events": user.stream.events[:cut],
            "header": user.stream.header.model_copy(update={"sittings": (sitting,)}),
        }
    )
    answers = [
        ok(begun(stream, memory="search"), "search_past", query="offer clause remark plan", k=20)
        for stream in (user.stream, short)
    ]
    assert answers[0] == answers[1]


def test_habits_are_counted_from_earlier_days() -> None:
    user = generated(1)[0]
    priors = count_priors(user.stream, user.gold)
    workstream = begun(user.stream, memory="priors", priors=priors)
    app = priors.counts[0].app
    answer = ok(workstream, "habits", app=app)
    assert answer["events"] > 0
    assert 0 < answer["help_rate"] < 1
    assert ok(workstream, "habits", app="none")["help_rate"] is None


async def test_resources_tell_the_profile_only_with_memory() -> None:
    async with Client(build_workstream_server(STREAM, "s1")) as client:
        uris = {str(one.uri) for one in (await client.list_resources()).resources}
        assert uris == {"workstream://sitting", "workstream://intents"}
        with pytest.raises(MCPError):
            await client.read_resource("workstream://profile")
    async with Client(build_workstream_server(STREAM, "s1", memory="own")) as client:
        profile = await client.read_resource("workstream://profile")
        assert json.loads(profile.contents[0].text) == {"role": "planner"}  # pyright: ignore
        sitting = json.loads((await client.read_resource("workstream://sitting")).contents[0].text)  # pyright: ignore
        assert sitting["decisions_left"] == 3


def test_settings_of_the_server_that_cannot_be() -> None:
    with pytest.raises(KeyError):
        Workstream(STREAM, "s2")
    with pytest.raises(ValueError, match="history_window_s"):
        Workstream(STREAM, "s1", history_window_s=45)
    with pytest.raises(ValueError, match="priors"):
        Workstream(STREAM, "s1", memory="priors")
