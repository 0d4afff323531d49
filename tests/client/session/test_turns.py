"""What the turn loop does beyond the conformance vectors: unusable arguments, deadlines, offered tools."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters

from atr_client.cell.episode_runner import offline_users
from atr_client.errors import CellAbort, ModelError
from atr_client.models.base import AgentModel, Finish, ModelReply, Privileged, ToolSpec
from atr_client.session.environments import open_environment
from atr_client.session.recorder import SessionRecorder
from atr_client.session.session_runner import run_session
from atr_client.session.turns import SessionSettings, ToolOutcome
from atr_data.calls import CallLog, CallRecord, read_calls
from atr_data.episode import Episode
from atr_data.trajectory import Message, ToolCall, Trajectory
from atr_servers import build_server
from atr_user_sim.interface import SimulatedUser, SimulatorReply, UserTurn
from tests.support.cells import small_episode

FILE = {"id": "fil_1", "type": "file", "attributes": {"name": "scan.pdf", "file_type": "pdf"}}
EPISODE = Episode.model_validate(
    {
        "episode_id": "pat_seed000",
        "raw_persona": {"persona_id": "pat", "narrative": "Pat."},
        "structured_persona": {},
        "rules": [],
        "learning_sessions": [],
        "test_sessions": [
            {
                "session_id": "pat_t",
                "domain": "workspace",
                "rule_id": "r",
                "instruction": "List my files.",
                "local_env": {"tools": ["list_files", "delete_files"], "references": [FILE]},
                "labels": {},
            }
        ],
    }
)
SESSION = EPISODE.test_sessions[0]
FINISH = ModelReply(tool_calls=[ToolCall(id="end", name="finish_session")])


class Script:
    """An agent that says what it is told to, one reply a call."""

    def __init__(self, *replies: ModelReply) -> None:
        self.replies = list(replies)
        self.seen: list[list[Message]] = []

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        self.seen.append(list(messages))
        return self.replies.pop(0)


def one_call(name: str, arguments: dict[str, Any], parse_error: str | None = None) -> ModelReply:
    return ModelReply(tool_calls=[ToolCall(id="c1", name=name, arguments=arguments, parse_error=parse_error)])


async def play(agent: Script, folder: Path, **settings: Any) -> tuple[Trajectory, list[CallRecord]]:
    path = folder / "calls.jsonl"
    with CallLog(path) as log:
        recorder = SessionRecorder(log, 1, SESSION.session_id, "test", "default")
        async with open_environment(EPISODE, SESSION, recorder) as environment:
            trajectory = await run(agent, environment, **settings)
    return trajectory, [record for record in read_calls(path) if isinstance(record, CallRecord)]


async def run(agent: AgentModel, environment: Any, **settings: Any) -> Trajectory:
    return await run_session(
        episode=EPISODE,
        session=SESSION,
        variant="default",
        model=agent,
        memory_context=None,
        user=None,
        environment=environment,
        settings=SessionSettings(**settings),
    )


async def test_arguments_that_did_not_parse_never_reach_the_environment(tmp_path: Path) -> None:
    agent = Script(one_call("delete_files", {}, "arguments are not JSON: Expecting value"), FINISH)
    trajectory, calls = await play(agent, tmp_path)
    answer = trajectory.messages[3]
    assert answer.tool_error is True
    assert "not JSON" in json.loads(answer.content or "")["error"]
    assert [(c.tool, c.is_error, c.note) for c in calls] == [
        ("delete_files", True, "answered by the harness")
    ]
    assert calls[0].seconds == 0.0
    call = (trajectory.messages[2].tool_calls or [])[0]
    assert (call.arguments, call.parse_error) == ({}, "arguments are not JSON: Expecting value")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"location": float("nan")}, "finite"),
        ({"location": "\ud800"}, "text"),
        ({"location": json.loads("[" * 100 + "]" * 100)}, "deep"),
        ({"location": "x" * (2 << 20)}, "large"),
    ],
)
async def test_arguments_no_wire_can_carry_are_refused_and_logged(
    tmp_path: Path, arguments: dict[str, Any], word: str
) -> None:
    trajectory, calls = await play(Script(one_call("list_files", arguments), FINISH), tmp_path)
    assert trajectory.messages[3].tool_error is True
    assert word in (trajectory.messages[3].content or "")
    assert [(call.arguments, call.is_error) for call in calls] == [({}, True)]
    assert calls[0].raw_arguments == json.dumps(arguments)
    assert trajectory.termination_reason == "agent_stop"
    assert Trajectory.model_validate_json(trajectory.model_dump_json()) == trajectory


async def test_text_no_encoding_can_carry_is_written_with_replacement_signs(tmp_path: Path) -> None:
    odd = ModelReply("a\ud800b", [ToolCall(id="i\udfff", name="nope\ud800")], reasoning_content="r\ud800")
    trajectory, calls = await play(Script(odd, FINISH), tmp_path)
    assert trajectory.messages[2].content == "a?b"
    assert trajectory.messages[2].reasoning_content == "r?"
    assert [(call.call_id, call.tool) for call in calls] == [("i?", "nope?")]
    assert Trajectory.model_validate_json(trajectory.model_dump_json()) == trajectory


@pytest.mark.parametrize(
    ("payload", "goes_back"),
    [([{"type": "thought", "signature": "z"}], True), ({"parts": []}, True), (None, True), ([{1}], False)],
)
async def test_what_a_provider_wants_back_goes_back_with_its_format(
    tmp_path: Path, payload: Any, goes_back: bool
) -> None:
    reply = ModelReply("Hm.", native_assistant_payload=payload, native_payload_format="lab_v1")
    trajectory, _ = await play(agent := Script(reply, FINISH), tmp_path)
    kept = payload if goes_back else None
    for message in (agent.seen[1][-1], trajectory.messages[2]):
        assert (message.native_assistant_payload, message.native_payload_format) == (kept, "lab_v1")


async def test_a_call_id_that_comes_again_in_a_turn_or_later_becomes_another(tmp_path: Path) -> None:
    twice = ModelReply(
        tool_calls=[ToolCall(id="c1", name="list_files"), ToolCall(id="c1", name="list_files")]
    )
    trajectory, calls = await play(Script(twice, one_call("list_files", {}), FINISH), tmp_path)
    assert [call.call_id for call in calls] == ["c1", "c1_again_1", "c1_again_2"]
    assert trajectory.messages[6].tool_call_id == "c1_again_2"
    assert trajectory.reply_faults == {"duplicate_call_id": 2}


@pytest.mark.parametrize(
    ("finish", "fault"),
    [("length", "truncated"), ("refusal", "refusal"), ("content_filter", "content_filter")],
)
async def test_a_reply_that_the_provider_ended_early_is_counted(
    tmp_path: Path, finish: Finish, fault: str
) -> None:
    trajectory, _ = await play(Script(ModelReply("so far", finish=finish), FINISH), tmp_path)
    assert trajectory.reply_faults == {fault: 1}


@pytest.mark.parametrize(
    ("replies", "faults", "reason"),
    [
        ([ModelReply()] * 3, {"empty_reply": 3}, "agent_empty_response"),
        ([ModelReply(), ModelReply(" \n"), FINISH], {"empty_reply": 2}, "agent_stop"),
        ([ModelReply(finish="length")] * 2, {"empty_reply": 2, "truncated": 2}, "agent_stop"),
        ([one_call("list_files", {}, "no JSON")], {"unusable_arguments": 1}, "agent_stop"),
        (
            [one_call("fly", {}), one_call("finish_session ", {})],
            {"duplicate_call_id": 1, "unknown_tool": 2},
            "agent_stop",
        ),
    ],
)
async def test_what_is_wrong_with_replies_is_counted_by_name_and_ends_nothing_but_silence(
    tmp_path: Path, replies: Sequence[ModelReply], faults: dict[str, int], reason: str
) -> None:
    trajectory, _ = await play(Script(*replies, FINISH), tmp_path)
    assert (trajectory.reply_faults, trajectory.termination_reason) == (faults, reason)
    assert list(trajectory.reply_faults) == sorted(faults)


@pytest.mark.parametrize("left", [{}, {"location": "a"}, {"location": float("nan")}])
async def test_what_a_wire_could_not_read_stands_in_the_log_as_it_came(
    tmp_path: Path, left: dict[str, Any]
) -> None:
    call = ToolCall(
        id="c", name="list_files", arguments=left, parse_error="no JSON", raw_arguments='{"a\ud800'
    )
    trajectory, calls = await play(Script(ModelReply(tool_calls=[call]), FINISH), tmp_path)
    assert [(call.arguments, call.raw_arguments) for call in calls] == [({}, '{"a?')]
    assert "no JSON" in (trajectory.messages[3].content or "")


def endless() -> dict[str, Any]:
    knot: dict[str, Any] = {}
    knot["again"] = knot
    return knot


def bottomless() -> dict[str, Any]:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"in": deep}
    return deep


@pytest.mark.parametrize(
    ("arguments", "raw"), [(endless(), None), (bottomless(), None), ({"a": {1}}, '{"a": "{1}"}')]
)
async def test_arguments_that_python_cannot_spell_have_no_text_in_the_log(
    tmp_path: Path, arguments: dict[str, Any], raw: str | None
) -> None:
    trajectory, calls = await play(Script(one_call("list_files", arguments), FINISH), tmp_path)
    assert [(call.arguments, call.raw_arguments, call.is_error) for call in calls] == [({}, raw, True)]
    assert trajectory.termination_reason == "agent_stop"


async def test_a_dropped_argument_is_noted_in_the_call_log(tmp_path: Path) -> None:
    reply = one_call("list_files", {"wait_for_previous": True})
    trajectory, calls = await play(Script(reply, FINISH), tmp_path)
    assert trajectory.messages[3].tool_error is False
    assert calls[0].note == "dropped arguments: wait_for_previous"
    assert calls[0].arguments == {"wait_for_previous": True}
    assert calls[0].result == trajectory.messages[3].content


@pytest.mark.parametrize(
    ("seconds", "reason", "steps"), [(0.05, "timeout", 1), (30.0, "agent_stop", 2), (None, "agent_stop", 2)]
)
async def test_the_deadline_is_looked_at_between_steps_and_cuts_nothing_off(
    seconds: float | None, reason: str, steps: int
) -> None:
    class Slow:
        async def tools(self) -> Sequence[ToolSpec]:
            return []

        async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
            await anyio.sleep(0.04)
            return ToolOutcome(f"{call.name} of {turn_idx}", False)

    calls = [ToolCall(id=name, name=name) for name in ("list_files", "delete_files", "move_files")]
    trajectory = await run(Script(ModelReply(tool_calls=calls), FINISH), Slow(), timeout=seconds)
    assert (trajectory.termination_reason, trajectory.step_count) == (reason, steps)
    assert [message.content for message in trajectory.messages[3:6]] == [
        "list_files of 2",
        "delete_files of 2",
        "move_files of 2",
    ]


async def test_an_agent_that_cannot_be_asked_ends_no_session_whatever_the_deadline() -> None:
    class Hanging:
        async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
            await anyio.sleep(0.1)
            raise ModelError("no answer within 0.1 seconds")

    class Nothing:
        async def tools(self) -> Sequence[ToolSpec]:
            return []

        async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
            raise AssertionError("nothing is called")

    with pytest.raises(CellAbort, match="no answer within") as caught:
        await run(Hanging(), Nothing(), timeout=0.05)
    assert caught.value.module == "agent"


async def test_the_time_before_the_first_reply_counts_against_the_deadline() -> None:
    class SlowToList:
        async def tools(self) -> Sequence[ToolSpec]:
            await anyio.sleep(0.05)
            return []

    trajectory = await run(Script(FINISH), SlowToList(), timeout=0.02)
    assert (trajectory.termination_reason, trajectory.step_count) == ("timeout", 0)
    assert 0.05 <= trajectory.duration_seconds < 3600


async def test_a_server_that_offers_other_tools_than_the_session_names_stops_the_cell(tmp_path: Path) -> None:
    other = build_server("workspace", [], None, ["list_files"])
    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, SESSION.session_id, "test", "default")
        async with open_environment(EPISODE, SESSION, recorder, target=other) as environment:
            with pytest.raises(CellAbort, match="offers 2 tools, not 3") as caught:
                await environment.tools()
    assert (caught.value.module, caught.value.session_id) == ("environment", "pat_t")


async def test_an_error_inside_an_environment_comes_out_as_it_was_raised(tmp_path: Path) -> None:
    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, SESSION.session_id, "test", "default")
        with pytest.raises(LookupError, match="mine"):
            async with open_environment(EPISODE, SESSION, recorder):
                raise LookupError("mine")


@pytest.mark.parametrize("command", ["no-such-program", "sleep"])
async def test_a_server_that_cannot_be_reached_aborts_the_cell(tmp_path: Path, command: str) -> None:
    """Because there is none, or because it ends before it says a word."""
    there = shutil.which(command) if command == "sleep" else str(tmp_path / command)
    gone = StdioServerParameters(command=there or "", args=["0"])
    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, SESSION.session_id, "test", "default")
        with pytest.raises(CellAbort, match="cannot connect"):
            async with open_environment(EPISODE, SESSION, recorder, target=gone):
                pass


async def test_a_privileged_model_is_shown_the_session(tmp_path: Path) -> None:
    def peeking(episode: Episode, session: Any) -> Script:
        assert (episode, session) == (EPISODE, SESSION)
        return Script(FINISH)

    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, SESSION.session_id, "test", "default")
        async with open_environment(EPISODE, SESSION, recorder) as environment:
            trajectory = await run_session(
                episode=EPISODE,
                session=SESSION,
                variant="default",
                model=Privileged(peeking),
                memory_context="remembered",
                user=None,
                environment=environment,
                settings=SessionSettings(),
            )
    assert trajectory.termination_reason == "agent_stop"
    assert "<context>\nremembered\n</context>" in (trajectory.messages[0].content or "")


async def test_a_server_that_dies_in_mid_session_aborts_the_cell_and_scores_nothing(tmp_path: Path) -> None:
    """The environment runs as a process of its own here, and is killed before the second call."""
    episode_file, pid_file = tmp_path / "episode.json", tmp_path / "pid"
    episode_file.write_text(EPISODE.model_dump_json(), encoding="utf-8")
    session = ["--episode", str(episode_file), "--session", "pat_t"]
    server = ["-m", "atr_servers.cli", "serve", "workspace", *session]
    note_pid = f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))"
    start = f"import os, sys; {note_pid}; os.execv(sys.executable, {[sys.executable, *server]!r})"
    target = StdioServerParameters(command=sys.executable, args=["-c", start])

    class Killing(Script):
        async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
            if len(self.seen) == 1:
                os.kill(int(pid_file.read_text()), signal.SIGKILL)
            return await super().respond(messages, tools)

    agent = Killing(one_call("list_files", {}), one_call("list_files", {}), FINISH)
    path = tmp_path / "calls.jsonl"
    with CallLog(path) as log:
        recorder = SessionRecorder(log, 1, SESSION.session_id, "test", "default")
        with pytest.raises(CellAbort, match="tools/list"), anyio.fail_after(20):
            async with open_environment(EPISODE, SESSION, recorder, target=target) as environment:
                with pytest.raises(CellAbort) as caught:
                    await run(agent, environment)
                assert caught.value.module == "environment"
                await environment.tools()
    answered = [record for record in read_calls(path) if isinstance(record, CallRecord)]
    assert [(call.tool, call.is_error) for call in answered] == [("list_files", False)]


@pytest.mark.parametrize("order", [("good", "bad"), ("bad", "good"), ("bad", "good", "bad")])
async def test_one_productive_call_makes_a_turn_productive_wherever_it_stands(order: Sequence[str]) -> None:
    """Five idle turns would end a learning session."""
    trajectory = await learn([order] * 5)
    assert (trajectory.termination_reason, trajectory.step_count) == ("max_steps", 5)


@pytest.mark.parametrize("body", ['{"count": 0, "files": []}', "error"])
async def test_five_turns_without_a_productive_call_end_a_learning_session(body: str) -> None:
    trajectory = await learn([("bad", "bad")] * 6, bad=body)
    assert (trajectory.termination_reason, trajectory.termination_subreason) == (
        "task_no_progress",
        "tool_loop",
    )
    assert trajectory.step_count == 5


@pytest.mark.parametrize(
    "body", ["", "done", "[]", "0", '"count"', '["count"]', '{"count": 1}', '{"count": null}']
)
async def test_an_answer_is_productive_unless_it_counts_nothing(body: str) -> None:
    trajectory = await learn([("bad",)] * 6, bad=body)
    assert (trajectory.termination_reason, trajectory.step_count) == ("max_steps", 6)


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ([[]] * 5, ("task_no_progress", "stu_loop")),
        ([[]] * 4 + [["bad"]] + [[]] * 4, ("max_steps", None)),
        ([[]] * 4 + [["bad"]] + [[]] * 5, ("task_no_progress", "stu_loop")),
        ([["bad"]] * 4 + [[]] + [["bad"]] * 4, ("max_steps", None)),
        ([["bad"]] * 4 + [[]] + [["bad"]] * 5, ("task_no_progress", "tool_loop")),
        ([["bad"]] * 4 + [["send_to_user"]] + [["bad"]] * 4, ("max_steps", None)),
    ],
)
async def test_a_turn_of_the_other_kind_starts_the_count_again(
    turns: Sequence[Sequence[str]], reason: tuple[str, str | None]
) -> None:
    trajectory = await learn(turns, text="Hm.", user=Patient())
    assert (trajectory.termination_reason, trajectory.termination_subreason) == reason
    assert trajectory.step_count == len(turns)


@pytest.mark.parametrize(("sends", "counted"), [(1, []), (2, [1]), (3, [2])])
async def test_what_is_said_again_in_one_turn_is_counted(sends: int, counted: list[int]) -> None:
    trajectory = await learn([["send_to_user"] * sends])
    found = [e.duplicate_count for e in trajectory.interaction_events if e.kind == "stu_duplicate_same_turn"]
    assert found == counted


class Impatient:
    """A user for whom everything is done once she hears anything."""

    async def open(self) -> SimulatorReply:
        return SimulatorReply("Please see to my files.", "continue")

    async def hear(self, **_: Any) -> UserTurn:
        return UserTurn("", True, (), {})


class Patient(Impatient):
    """A user who never has enough."""

    async def hear(self, **_: Any) -> UserTurn:
        return UserTurn("Go on.", False, (), {})


async def test_text_beside_the_channel_reaches_the_user_who_may_end_the_session() -> None:
    trajectory = await learn([[]], text="That is all done.", user=Impatient())
    assert (trajectory.termination_reason, trajectory.termination_subreason) == ("task_complete", None)
    assert "off_protocol_ask" in [event.kind for event in trajectory.interaction_events]


async def learn(
    turns: Sequence[Sequence[str]],
    bad: str = "error",
    text: str | None = None,
    user: SimulatedUser | None = None,
) -> Trajectory:
    """A learning session with as many steps as turns; a turn calls tools that are `good` or `bad`, or says
    `text`."""

    class Tools:
        async def tools(self) -> Sequence[ToolSpec]:
            return []

        async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
            if call.name == "good":
                return ToolOutcome("{}", False)
            return ToolOutcome(bad, bad == "error")

    replies = [
        ModelReply(
            content=text,
            tool_calls=[ToolCall(id=f"c{turn}_{n}", name=name) for n, name in enumerate(names)],
        )
        for turn, names in enumerate(turns)
    ]
    episode = small_episode(learning=1, tests=0)
    session = episode.learning_sessions[0]
    return await run_session(
        episode=episode,
        session=session,
        variant="default",
        model=Script(*replies),
        memory_context=None,
        user=user or offline_users()(episode, session),
        environment=Tools(),
        settings=SessionSettings(max_steps=len(turns)),
    )
