"""One sitting with agents that follow a script: what counts, what is forgiven, what ends it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from atr_client.errors import CellAbort, ContextOverflow, ModelError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.layers import named_layer
from atr_client.session.recorder import SessionRecorder
from atr_client.timing.history_pass import history_days, play_day
from atr_client.timing.note_tool import NotePad, as_remembered, noted
from atr_client.timing.played_sitting import PlayedSitting
from atr_client.timing.sitting_loop import SittingLimits
from atr_client.timing.sitting_runner import SittingSettings, play_sitting
from atr_data.calls import LogRecord
from atr_data.trajectory import Message, ToolCall
from tests.support.timing_sets import event, files_of, generated, need, tiny_gold, tiny_stream

STREAM = tiny_stream([*(event(at) for at in (0, 100, 200, 900)), event(150, self_help=True)])
FILES = files_of(STREAM, tiny_gold(STREAM, need(150, opens=0, intent="coding")))
Said = str | tuple[str, dict[str, Any]] | Exception | None


class Script:
    """Says one thing after the other: text, a call, nothing, or an error; silence when it has run out."""

    def __init__(self, *said: Said) -> None:
        self.said, self.asked, self.tools = list(said), [], []

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        self.asked.append(list(messages))
        self.tools = [tool.name for tool in tools]
        said = self.said.pop(0) if self.said else _silence(messages)
        if isinstance(said, Exception):
            raise said
        if said is None or isinstance(said, str):
            return ModelReply(said)
        return ModelReply(tool_calls=[ToolCall(id=f"c{len(self.asked)}", name=said[0], arguments=said[1])])


def _silence(messages: Sequence[Message]) -> Said:
    for message in reversed(messages):
        if message.role in ("tool", "user") and (message.content or "").startswith("{"):
            current = json.loads(message.content or "").get("current")
            if current:
                return ("stay_silent", {"event_id": current["event_id"]})
    return ("start_sitting", {})


class Records:
    """A call log in memory."""

    def __init__(self) -> None:
        self.kept: list[LogRecord] = []

    def append(self, record: LogRecord) -> None:
        self.kept.append(record)


async def play(
    agent: Script, *, records: Records | None = None, context: str | None = None, **settings: Any
) -> PlayedSitting:
    limits = SittingLimits(**{k: settings.pop(k) for k in ("turn_budget", "timeout") if k in settings})
    recorder = SessionRecorder(Records() if records is None else records, 1, "s1", "test", "timing")
    chosen = SittingSettings(limits=limits, **settings)
    memory = SessionMemory.of_text(context).unopened(recorder)
    pad = NotePad(memory, remembers=True) if chosen.keeps_notes else None
    return await play_sitting(agent, FILES, "s1", chosen, recorder=recorder, pad=pad)


def decided(played: PlayedSitting) -> dict[str, str]:
    return {
        d.event_id: "offer" if d.assist else "implicit" if d.implicit else "silence"
        for d in played.log.decisions
    }


async def test_a_sitting_is_played_to_its_end_and_every_call_is_logged() -> None:
    records = Records()
    offer = ("assist", {"event_id": "e0", "intent": "coding"})
    played = await play(Script(("start_sitting", {}), offer), records=records)
    assert decided(played) == {"e0": "offer", "e100": "silence", "e200": "silence", "e900": "silence"}
    assert (played.log.status, played.trajectory.termination_reason) == ("finished", "agent_stop")
    assert [record.tool for record in records.kept] == [  # pyright: ignore[reportAttributeAccessIssue]
        "start_sitting",
        "assist",
        *["stay_silent"] * 3,
    ]


async def test_text_gets_one_reminder_per_event_and_then_counts_as_silence() -> None:
    played = await play(Script(("start_sitting", {}), "Hm.", "Hm.", "Well.", "Well."))
    assert list(decided(played).values()) == ["implicit", "implicit", "silence", "silence"]
    told = [m.content or "" for m in played.trajectory.messages if m.role == "user"][1:]
    assert ["Nobody hears text" in text for text in told] == [True, False, True, False]
    assert json.loads(told[1])["current"]["event_id"] == "e100"
    assert played.log.status == "finished"


async def test_a_reminder_is_not_forgotten_over_a_look_at_the_past() -> None:
    played = await play(Script(("start_sitting", {}), "Hm.", ("recent", {"seconds": 9}), "Hm."))
    assert list(decided(played).values())[:2] == ["implicit", "silence"]


async def test_text_before_the_start_decides_nothing() -> None:
    played = await play(Script("Hello.", "Hello?", ("start_sitting", {})))
    assert list(decided(played).values()) == ["silence"] * 4


@pytest.mark.parametrize(
    ("script", "settings", "reason", "sub"),
    [
        ([("start_sitting", {}), *[("recent", {"seconds": 9})] * 9], {}, "task_no_progress", "turn_budget"),
        (["Hm."] * 9, {"turn_budget": 3}, "task_no_progress", "turn_budget"),
        ([("start_sitting", {}), *[("nonsense", {})] * 5], {}, "task_no_progress", "errors_in_a_row"),
        ([("start_sitting", {}), None, "", " "], {}, "agent_empty_response", None),
        ([("start_sitting", {}), ContextOverflow("full")], {}, "context_overflow", None),
        ([("start_sitting", {})], {"timeout": 1e-9}, "timeout", None),
    ],
    ids=["looks", "text", "errors", "empty", "overflow", "time"],
)
async def test_what_cuts_a_sitting_short_leaves_the_rest_as_silence(
    script: list[Said], settings: dict[str, Any], reason: str, sub: str | None
) -> None:
    played = await play(Script(*script), **settings)
    told = played.trajectory
    assert (told.termination_reason, told.termination_subreason) == (reason, sub)
    assert (played.log.status, played.log.decisions) == ("aborted", ())


async def test_an_agent_that_cannot_be_reached_leaves_no_sitting() -> None:
    with pytest.raises(CellAbort, match="agent failed in session s1: HTTP 500"):
        await play(Script(("start_sitting", {}), ModelError("HTTP 500")))


@pytest.mark.parametrize(("window", "turns"), [(300, 1), (600, 1)])
async def test_messages_of_events_outside_the_window_are_not_shown_again(window: int, turns: int) -> None:
    """Seven hundred seconds lie before the last event: its turn alone is shown beside the beginning."""
    agent = Script()
    await play(agent, history_window_s=window)
    assert [len(asked) for asked in agent.asked] == [2, 4, 6, 8, 4 + 2 * turns]
    assert agent.asked[-1][:4] == agent.asked[1]
    assert '"e900"' in (agent.asked[-1][-1].content or "")


async def test_notes_are_for_an_agent_with_a_memory_of_its_own() -> None:
    script: list[Said] = [("remember", {"note": "n" * 501}), ("remember", {"note": "asks about plans"})]
    agent = Script(*script)
    played = await play(agent, memory="own", context="what was")
    assert "remember" in agent.tools
    assert noted(played.trajectory) == ["asks about plans"]
    assert "<context>\nwhat was\n</context>" in (agent.asked[0][0].content or "")
    assert [m.content for m in as_remembered(played.trajectory, named_layer("context")).messages] == [
        "asks about plans"
    ]
    plain = Script(*script)
    assert (await play(plain)).log.protocol_errors == {"not_available": 2}
    assert "remember" not in plain.tools


async def day(agent: Script) -> Any:
    user = generated(1)[0]
    name, events = next(iter(history_days(user.stream).items()))
    recorder = SessionRecorder(Records(), 1, name, "learning", "timing")
    memory = SessionMemory.of_text(None).unopened(recorder)
    return await play_day(agent, name, events, NotePad(memory, remembers=True, of_day=True))


async def test_a_day_of_the_past_is_shown_and_noted() -> None:
    agent = Script(("remember", {"note": "asks about plans"}), ("guess", {}), "Done.")
    played = await day(agent)
    shown = agent.asked[0][1].content or ""
    assert "self_help | " in shown
    assert shown.count("\n") > 100
    assert noted(played) == ["asks about plans"]
    assert (played.termination_reason, played.step_count) == ("agent_stop", 3)


def test_the_past_ends_where_evaluation_begins() -> None:
    user = generated(1)[0]
    days = history_days(user.stream)
    assert list(days) == [f"day-{n:02d}" for n in range(1, 17)]
    assert all(e.t_release < user.stream.header.first_evaluation_day for d in days.values() for e in d)


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (lambda: [("remember", {"note": "x"})] * 20, "max_steps"),
        (lambda: [None] * 3, "agent_empty_response"),
        (lambda: [ContextOverflow("full")], "context_overflow"),
    ],
)
async def test_what_ends_a_day(last: Callable[[], list[Said]], reason: str) -> None:
    assert (await day(Script(*last()))).termination_reason == reason
