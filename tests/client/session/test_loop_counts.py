"""The turn loop's ends when a call fails, what it repairs, what it shows to the user, and what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atr_client.errors import CellAbort, ContextOverflow, ModelError, NotRecorded, OutOfTime
from atr_client.models.base import ModelReply, PerSession, ToolSpec
from atr_client.session.environments import open_environment
from atr_client.session.prompting import prompt
from atr_client.session.readability import context_digest
from atr_client.session.recorder import SessionRecorder
from atr_client.session.session_runner import NO_INSTRUCTION, run_session
from atr_client.session.turns import Environment, SessionSettings, ToolOutcome
from atr_data import Episode
from atr_data.calls import CallLog
from atr_data.constants import FINISH_ACK, SEND_ACK, SEND_TO_USER, USER_END
from atr_data.trajectory import Message, ToolCall, Trajectory
from atr_data.usage import Usage
from atr_user_sim.interface import HistoryEntry, SimulatedUser, SimulatorReply, UserSimFault, UserTurn
from tests.support.cells import small_episode

EPISODE = small_episode(learning=1, tests=1)


class Agent:
    """Gives one reply or error after the other; keeps the messages and tools that it is shown."""

    def __init__(self, *turns: ModelReply | Exception) -> None:
        self.turns = list(turns)
        self.shown: list[list[Message]] = []
        self.offered: list[str] = []

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        self.shown.append(list(messages))
        self.offered = [tool.name for tool in tools]
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn


class User:
    """Hears one thing after the other; ends with the last answer."""

    def __init__(self, *answers: str, usage: Usage | None = None) -> None:
        self.answers = list(answers)
        self.usage = usage or Usage()
        self.heard: list[tuple[str, str]] = []
        self.histories: list[list[HistoryEntry]] = []

    async def open(self) -> SimulatorReply:
        return SimulatorReply("Please see to my files.", "continue", self.usage)

    async def hear(
        self, *, agent_text: str, output: str, reason: str, turn_idx: int, history: Sequence[HistoryEntry]
    ) -> UserTurn:
        assert agent_text == output
        self.heard.append((output, reason))
        self.histories.append(list(history))
        answer = self.answers.pop(0)
        usage = {"router": self.usage, "user_sim": self.usage, "classifier": Usage()}
        return UserTurn(answer, not self.answers, (), usage)


class Tools:
    async def tools(self) -> Sequence[ToolSpec]:
        return [ToolSpec("look", "Looks.", {"type": "object"})]

    async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
        return ToolOutcome(f'{{"{call.name}": {turn_idx}}}', False)


async def play(
    agent: Any,
    user: SimulatedUser | None = None,
    episode: Episode = EPISODE,
    environment: Environment | None = None,
    **settings: Any,
) -> Trajectory:
    """A learning session where there is a user, else a test."""
    return await run_session(
        episode=episode,
        session=(episode.learning_sessions if user else episode.test_sessions)[0],
        variant="default",
        model=agent,
        memory_context=None,
        user=user,
        environment=environment or Tools(),
        settings=SessionSettings(**settings),
    )


def send(text: str, call_id: str = "s") -> ToolCall:
    return ToolCall(id=call_id, name=SEND_TO_USER, arguments={"output": text, "reason": f"why {text}"})


def calls(*made: ToolCall, **fields: Any) -> ModelReply:
    return ModelReply(tool_calls=list(made), **fields)


FINISH = calls(ToolCall(id="f", name="finish_session"))
LOOK = ToolCall(id="l", name="look")


@pytest.mark.parametrize(
    ("error", "reason"), [(ContextOverflow("too long"), "context_overflow"), (OutOfTime("late"), "timeout")]
)
@pytest.mark.parametrize("at", ["first", "later", "repair"])
async def test_what_an_agent_cannot_answer_for_ends_its_session(
    error: Exception, reason: str, at: str
) -> None:
    if at == "repair":
        trajectory = await play(Agent(ModelReply("Hello."), error), User("Bye."), hook=True)
    else:
        trajectory = await play(Agent(*([calls(LOOK)] if at == "later" else []), error))
    assert (trajectory.termination_reason, trajectory.termination_subreason) == (reason, None)
    assert trajectory.step_count == (2 if at == "later" else 1)


@pytest.mark.parametrize("error", [ModelError("refused"), NotRecorded("no such call")])
@pytest.mark.parametrize("at", ["agent", "hook_retry"])
async def test_a_model_that_fails_is_named_by_what_it_was_asked_for(error: Exception, at: str) -> None:
    turns = [ModelReply("Hello."), error] if at == "hook_retry" else [error]
    session = "l0" if at == "hook_retry" else "t0"
    with pytest.raises(CellAbort, match=f"{at} failed in session {session}: {error}") as caught:
        await play(Agent(*turns), User("Bye.") if at == "hook_retry" else None, hook=True)
    assert (caught.value.module, caught.value.session_id, caught.value.reason) == (at, session, str(error))


async def test_tokens_are_summed_by_role_and_who_called_nothing_has_none() -> None:
    agent = Agent(
        calls(LOOK, usage=Usage(prompt_tokens=5, calls=1)),
        calls(send("a", "a"), usage=Usage(prompt_tokens=7, calls=1)),
        calls(send("b", "b")),
    )
    user = User("Go on.", "Bye.", usage=Usage(prompt_tokens=2, calls_without_usage=1))
    assert (await play(agent, user)).token_usage == {
        "agent": Usage(prompt_tokens=12, calls=2),
        "user_sim": Usage(prompt_tokens=6, calls_without_usage=3),
        "router": Usage(prompt_tokens=4, calls_without_usage=2),
    }


async def test_a_user_hears_of_a_turn_what_was_said_first_and_sees_what_went_before() -> None:
    user = User("Go on.", "And now?", "Bye.")
    agent = Agent(
        calls(LOOK, send("one", "a"), send("two", "b")), ModelReply("A leak."), calls(send("three", "a"))
    )
    trajectory = await play(agent, user)
    assert [said for said, _ in user.heard] == ["one", "A leak.", "three"]
    assert [why for _, why in user.heard][::2] == ["why one", "why three"]
    assert user.heard[1][1].endswith("\nA leak.") and len(user.heard[1][1]) > 20
    opening = HistoryEntry("user", "Please see to my files.")
    first = [opening, HistoryEntry("assistant", "[invoked look → ok]")]
    second = [
        opening,
        HistoryEntry("assistant", "[invoked look → ok]\none"),
        HistoryEntry("user", "Go on."),
    ]
    third = [*second, HistoryEntry("assistant", "A leak."), HistoryEntry("user", "And now?")]
    assert user.histories == [first, second, third]
    assert [call.id for call in trajectory.messages[2].tool_calls or ()] == ["l", "a"]
    assert trajectory.messages[-1].content == USER_END
    acks = [m for m in trajectory.messages if m.tool_call_id in ("a", "a_again_1")]
    assert [(m.content, m.tool_error) for m in acks] == [(SEND_ACK, False)] * 2
    assert [event.kind for event in trajectory.interaction_events] == [
        "stu_mixed_with_tools",
        "stu_duplicate_same_turn",
        "send_event",
        "off_protocol_ask",
        "send_event",
    ]
    sent = [event for event in trajectory.interaction_events if event.kind == "send_event"]
    assert [(e.turn_idx, e.output, e.reason, e.was_hook_rescued) for e in sent] == [
        (2, "one", "why one", False),
        (8, "three", "why three", False),
    ]


@pytest.mark.parametrize("failed", [0, 1, 2, 3])
async def test_a_leak_is_repaired_by_the_first_of_three_replies_that_sends(failed: int) -> None:
    """A reply that sends nothing is dropped; after three the user hears the leak."""
    again = [ModelReply("Again."), calls(LOOK), ModelReply("Once more.")][:failed]
    agent = Agent(ModelReply("A leak."), *again, calls(LOOK, send("sent")))
    user = User("Bye.")
    trajectory = await play(agent, user, hook=True)
    repaired = failed < 3
    assert [said for said, _ in user.heard] == (["sent"] if repaired else ["A leak."])
    kinds = [event.kind for event in trajectory.interaction_events]
    asked = min(failed + 1, 3)
    assert kinds == [
        *["hook_appended"] * asked,
        *(["stu_mixed_with_tools", "send_event"] if repaired else ["off_protocol_ask"]),
    ]
    hooked = trajectory.interaction_events[:asked]
    assert [(event.turn_idx, event.question) for event in hooked] == [(2, "A leak.")] * asked
    if not repaired:
        assert trajectory.interaction_events[-1].question == "A leak."
    if repaired:
        mixed, sent = trajectory.interaction_events[-2:]
        assert (mixed.turn_idx, mixed.sibling_tool_names) == (2, ["look"])
        assert (sent.turn_idx, sent.was_hook_rescued) == (2, True)
    assert trajectory.step_count == (2 if repaired else 1)
    leaked, note = agent.shown[1][-2:]
    assert leaked.content == "A leak."
    assert (note.role, note.turn_idx, note.content) == ("user", 3, prompt("repair_note"))
    assert [message.turn_idx for message in trajectory.messages] == list(range(len(trajectory.messages)))


@pytest.mark.parametrize("module", ["router", "cls", "user_sim"])
@pytest.mark.parametrize("at", ["open", "hear"])
async def test_a_user_who_cannot_be_played_is_never_the_failure_of_the_agent(module: Any, at: str) -> None:
    class Broken(User):
        async def open(self) -> SimulatorReply:
            if at == "open":
                raise UserSimFault(module, "gone")
            return await super().open()

        async def hear(self, **_: Any) -> UserTurn:
            raise UserSimFault(module, "gone")

    with pytest.raises(CellAbort, match=f"{module} failed in session l0: {module}: gone") as caught:
        await play(Agent(calls(send("a"))), Broken())
    assert caught.value.module == module


async def test_nobody_learns_without_a_user() -> None:
    with pytest.raises(ValueError, match="learning session l0 needs a simulated user"):
        await run_session(
            episode=EPISODE,
            session=EPISODE.learning_sessions[0],
            variant="default",
            model=Agent(),
            memory_context=None,
            user=None,
            environment=Tools(),
            settings=SessionSettings(),
        )


async def test_what_could_not_be_read_is_refused_in_the_words_that_were_used(tmp_path: Path) -> None:
    wrong = ToolCall(id="w", name="archive_files", parse_error="Anführung fehlt")
    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, "t0", "test", "default")
        async with open_environment(EPISODE, EPISODE.test_sessions[0], recorder) as environment:
            agent = Agent(calls(wrong), FINISH)
            trajectory = await play(agent, environment=environment)
    assert trajectory.messages[3].content == ('{"error": "archive_files was not called: Anführung fehlt"}')
    assert agent.offered == ["finish_session", "get_user_confirmation", "archive_files"]


async def test_without_the_hook_nothing_is_repaired() -> None:
    user = User("Bye.")
    await play(Agent(ModelReply("A leak.")), user)
    assert [said for said, _ in user.heard] == ["A leak."]


async def test_a_test_session_has_no_channel_to_the_user_and_a_learning_session_no_other_end() -> None:
    agent = Agent(calls(send("a", "a"), send("b", "b")), FINISH)
    trajectory = await play(agent)
    assert agent.offered == ["finish_session", "look"]
    assert [message.content for message in trajectory.messages[3:5]] == ['{"send_to_user": 2}'] * 2
    assert trajectory.interaction_events == []
    assert (trajectory.messages[-1].content, trajectory.messages[-1].tool_error) == (FINISH_ACK, False)
    assert (trajectory.termination_reason, trajectory.step_count) == ("agent_stop", 2)
    agent = Agent(FINISH, calls(send("a")))
    trajectory = await play(agent, User("Bye."))
    assert agent.offered == ["send_to_user", "look"]
    assert trajectory.messages[3].content == '{"finish_session": 2}'
    assert trajectory.termination_reason == "task_complete"


async def test_nobody_listens_in_a_test_whoever_is_there() -> None:
    trajectory = await run_session(
        episode=EPISODE,
        session=EPISODE.test_sessions[0],
        variant="default",
        model=Agent(ModelReply("Hello?"), calls(send("a")), FINISH),
        memory_context="Tea.",
        user=User(),
        environment=Tools(),
        settings=SessionSettings(hook=True),
    )
    assert (trajectory.termination_reason, trajectory.interaction_events) == ("agent_stop", [])
    assert trajectory.context_sha256 == context_digest("Tea.")
    assert (trajectory.rule_readable, trajectory.agent_variant) == (False, "default")


async def test_thoughts_of_a_test_session_are_free_until_its_steps_are_spent() -> None:
    trajectory = await play(Agent(*[ModelReply("Hm.")] * 20))
    assert (trajectory.termination_reason, trajectory.step_count) == ("max_steps", 20)
    assert len(trajectory.messages) == 22 and trajectory.interaction_events == []


@pytest.mark.parametrize(("instruction", "shown"), [(" Do it. ", "Do it."), (" \n", NO_INSTRUCTION)])
async def test_a_test_begins_with_its_instruction(instruction: str, shown: str) -> None:
    test = EPISODE.test_sessions[0].model_copy(update={"instruction": instruction})
    agent = Agent(FINISH)
    await play(agent, episode=EPISODE.model_copy(update={"test_sessions": [test]}))
    assert [(m.role, m.content) for m in agent.shown[0]][1:] == [("user", shown)]


async def test_an_agent_made_for_each_session_is_told_its_id() -> None:
    made: list[str] = []

    def agent(session_id: str) -> Agent:
        made.append(session_id)
        return Agent(FINISH)

    await play(PerSession(agent))
    assert made == ["t0"]
