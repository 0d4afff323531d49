"""Whatever a model says, the conversation goes on: the next request is one that a strict provider takes.

One table of odd replies goes over all four wires, each with its real SDK, in a session that calls real tools.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.remote import open_wire
from atr_client.models.wire import Endpoint, Wire, WireRequest
from atr_client.models.wire_formats import WireFormat
from atr_client.session.environments import open_environment
from atr_client.session.recorder import SessionRecorder
from atr_client.session.session_runner import run_session
from atr_client.session.turns import SessionSettings
from atr_data.calls import CallLog, CallRecord, read_calls
from atr_data.trajectory import Message, ToolCall, Trajectory
from tests.support.cells import small_episode
from tests.support.mock_provider import CannedServer
from tests.support.strict_provider import CHECKS, MISSING, ROOTS, Call, checked, reply_of

WIRES: Sequence[WireFormat] = ("openai_chat", "openai_responses", "anthropic", "google")
EPISODE = small_episode(learning=0, tests=1)
LONG = "search_" * 40


@dataclass(frozen=True)
class WireAgent:
    wire: Wire

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        return await self.wire.send(WireRequest(messages, tools))


async def play(
    wire: WireFormat, server: CannedServer, folder: Path, *replies: object, **endpoint: Any
) -> tuple[Trajectory, list[CallRecord]]:
    """A session in which the model gives these replies and then finishes."""
    finish = reply_of(wire, ("end", "finish_session", MISSING))
    server.queue(*(checked(server, wire, reply) for reply in (*replies, finish)))
    to = Endpoint("test-model", "none", f"{server.url}{ROOTS[wire]}", timeout=10.0, **endpoint)
    session, path = EPISODE.test_sessions[0], folder / "calls.jsonl"
    opened = open_wire(wire, to)
    try:
        with CallLog(path) as log:
            recorder = SessionRecorder(log, 1, session.session_id, "test", "default")
            async with open_environment(EPISODE, session, recorder) as environment:
                trajectory = await run_session(
                    episode=EPISODE,
                    session=session,
                    variant="default",
                    model=WireAgent(opened),
                    memory_context=None,
                    user=None,
                    environment=environment,
                    settings=SessionSettings(max_steps=50),
                )
    finally:
        await opened.aclose()
    assert trajectory.termination_reason == "agent_stop"
    assert Trajectory.model_validate_json(trajectory.model_dump_json()) == trajectory
    return trajectory, [record for record in read_calls(path) if isinstance(record, CallRecord)]


def sent_names(wire: WireFormat, body: Any) -> list[str]:
    if wire == "openai_chat":
        return [c["function"]["name"] for m in body["messages"] for c in m.get("tool_calls") or ()]
    if wire == "openai_responses":
        return [item["name"] for item in body["input"] if item.get("type") == "function_call"]
    if wire == "anthropic":
        return [b["name"] for m in body["messages"] for b in m["content"] if b["type"] == "tool_use"]
    return [p["functionCall"]["name"] for c in body["contents"] for p in c["parts"] if "functionCall" in p]


NAMES: dict[str, Any] = {
    "special_token": "archive_files<|channel|>commentary",
    "namespace": "functions.archive_files",
    "space": "archive files",
    "empty": "",
    "blank": " \n",
    "too_long": LONG,
    "other_script": "архив_файлов",
    "begins_with_a_digit": "3d_search",
    "signs_only": "<|.|>",
    "surrogate": "a\ud800b",
    "missing": MISSING,
    "null": None,
    "number": 7,
    "object": {"name": "archive_files"},
}


@pytest.mark.parametrize("wire", WIRES)
async def test_a_name_is_kept_in_transcript_and_log_and_goes_back_legal(
    wire: WireFormat, canned_server: CannedServer, tmp_path: Path
):
    reply = reply_of(wire, *((f"c{n}", name, "{}") for n, name in enumerate(NAMES.values())))
    trajectory, calls = await play(wire, canned_server, tmp_path, reply)
    kept = {what: name if isinstance(name, str) else "" for what, name in NAMES.items()}
    kept |= {"surrogate": "a?b", "number": "7"}
    said = [call.name for call in trajectory.messages[2].tool_calls or ()]
    assert dict(zip(NAMES, said, strict=True)) == kept
    assert [(call.tool, call.is_error) for call in calls] == [(name, True) for name in said]
    answers = [message.content or "" for message in trajectory.messages[3 : 3 + len(NAMES)]]
    assert all("Unknown tool" in answer for answer in answers)
    assert trajectory.reply_faults == {"unknown_tool": len(NAMES)}
    for name, sent in zip(said, sent_names(wire, canned_server.bodies[1]), strict=True):
        assert sent not in ("archive_files", "", name)


@pytest.mark.parametrize("wire", WIRES)
async def test_legal_names_stay_and_illegal_ones_do_not_meet(
    wire: WireFormat, canned_server: CannedServer, tmp_path: Path
):
    names = [
        "archive_files",
        "archive files",
        "archive.files",
        "archive  files",
        "",
        LONG,
        f"{LONG}x",
        "n-1_A",
    ]
    calls: list[Call] = [(f"c{number}", name, "{}") for number, name in enumerate(names)]
    await play(wire, canned_server, tmp_path, reply_of(wire, *calls))
    sent = sent_names(wire, canned_server.bodies[1])
    assert (sent[0], sent[-1]) == ("archive_files", "n-1_A")
    assert len(set(sent)) == len(names)
    assert all(name.startswith("archive_files_") for name in sent[1:4])


FILE = {"file_ids": ["fil_1"]}
ARGUMENTS: dict[str, tuple[Any, str | None]] = {
    "text": (json.dumps(FILE), None),
    "object": (FILE, None),
    "null": (None, None),
    "missing": (MISSING, None),
    "empty_text": ("", None),
    "blank_text": (" \n", None),
    "null_text": ("null", None),
    "broken_text": ('{"file_ids": ["fi', "arguments are not JSON"),
    "single_quotes": ("{'file_ids': []}", "arguments are not JSON"),
    "list": ([1, 2], "got array"),
    "list_text": ("[1, 2]", "got array"),
    "number": (1.5, "got number"),
    "boolean": (False, "got boolean"),
    "text_in_text": ('"archive"', "got string"),
    "not_a_number": ('{"file_ids": NaN}', "finite"),
    "not_a_number_in_an_object": ({"file_ids": float("inf")}, "finite"),
    "long_number": ('{"file_ids": 1' + "0" * 5000 + "}", "arguments are not JSON"),
    "deep": ('{"a":' * 100 + "1" + "}" * 100, "nested"),
    "surrogate": ('{"file_ids": "\\ud800"}', "surrogate"),
}


@pytest.mark.parametrize("wire", WIRES)
async def test_arguments_go_back_as_an_object_and_stay_in_the_log_as_sent(
    wire: WireFormat, canned_server: CannedServer, tmp_path: Path
):
    sent = [(what, "archive_files", arguments) for what, (arguments, _) in ARGUMENTS.items()]
    trajectory, calls = await play(wire, canned_server, tmp_path, reply_of(wire, *sent))
    said = trajectory.messages[2].tool_calls or ()
    for call, record, (arguments, problem) in zip(said, calls, ARGUMENTS.values(), strict=True):
        read = FILE if arguments in (FILE, json.dumps(FILE)) else {}
        assert (call.arguments, record.arguments) == (read, read), call.id
        assert (problem or "") in (call.parse_error or ""), call.id
        assert (call.parse_error is None) == (problem is None), call.id
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments) if problem else None
        assert record.raw_arguments == call.raw_arguments == (raw if problem else None), call.id
        assert record.note == (problem and "answered by the harness"), call.id


IDS: dict[str, list[Any]] = {
    "missing": [MISSING, MISSING],
    "null": [None],
    "empty": [""],
    "number": [12],
    "twice": ["c1", "c1", "c1"],
    "odd_signs": ["call:1", "call.1", "call 1"],
    "special_token": ["<|id|>"],
    "other_script": ["вызов"],
    "too_long": ["c" * 200, "c" * 201],
    "longest": ["c" * 64, "c" * 64],
    "object": [{"id": 1}],
}


@pytest.mark.parametrize("wire", WIRES)
async def test_ids_are_legal_and_single_and_results_name_them(
    wire: WireFormat, canned_server: CannedServer, tmp_path: Path
):
    replies = [
        reply_of(wire, *((call_id, "archive_files", FILE) for call_id in ids))
        for ids in IDS.values()
        for _ in range(2)
    ]
    trajectory, calls = await play(wire, canned_server, tmp_path, *replies)
    results = [message.tool_call_id for message in trajectory.messages if message.role == "tool"]
    assert results[:-1] == [call.call_id for call in calls]
    assert len(set(results)) == len(results) == 2 * sum(map(len, IDS.values())) + 1


SAID: Sequence[str | None] = ("Let me see.", "", " \n", None)


@pytest.mark.parametrize("wire", WIRES)
async def test_contents_of_any_kind_go_back(wire: WireFormat, canned_server: CannedServer, tmp_path: Path):
    with_calls = [reply_of(wire, ("c", "archive_files", FILE), content=said) for said in SAID]
    alone = [reply_of(wire, content=said) for blank in SAID[1:] for said in (blank, SAID[0])]
    trajectory, _ = await play(wire, canned_server, tmp_path, *with_calls, *alone)
    contents = [message.content for message in trajectory.messages if message.role == "assistant"]
    assert [said or None for said in contents[:-1]] == [*(said or None for said in SAID), *[SAID[0]] * 3]
    assert trajectory.reply_faults["empty_reply"] == 3


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("faithful", [True, False])
async def test_calls_of_another_provider_go_back_legal_too(
    wire: WireFormat, faithful: bool, canned_server: CannedServer
):
    calls = [ToolCall(id="ü:1", name="a b", arguments=FILE), ToolCall(id="", name="", parse_error="no")]
    messages = [
        Message(role="system", content="s"),
        Message(role="user", content="u"),
        Message(role="assistant", tool_calls=calls),
        *(Message(role="tool", content="r", tool_call_id=call.id) for call in calls),
    ]
    to = Endpoint("m", "none", f"{canned_server.url}{ROOTS[wire]}", faithful_replay=faithful)
    opened = open_wire(wire, to)
    canned_server.queue(checked(canned_server, wire, reply_of(wire, content="Fine.")))
    try:
        assert (await opened.send(WireRequest(messages))).content == "Fine."
    finally:
        await opened.aclose()


def test_the_strict_provider_refuses_what_this_is_about() -> None:
    """Nothing is proven by a server that takes everything."""
    chat = {"role": "assistant", "tool_calls": [{"id": "a b", "function": {"name": "", "arguments": "null"}}]}
    assert len(list(CHECKS["openai_chat"]({"messages": [chat]}))) == 4
    item = {"type": "function_call", "id": "x", "call_id": "é", "name": "a.b", "arguments": None}
    assert len(list(CHECKS["openai_responses"]({"input": [item, item]}))) == 9
    block = {"type": "tool_use", "id": "", "name": "é", "input": [1]}
    assert len(list(CHECKS["anthropic"]({"messages": [{"role": "user", "content": [block]}]}))) == 4
    part = {"functionCall": {"id": "", "name": "x y", "args": []}}
    assert len(list(CHECKS["google"]({"contents": [{"parts": [part, {}]}]}))) == 6
