"""An episode step by step scores as it does in a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from atr_client import EpisodeStepper, play_episode
from atr_client.errors import CellAbort, ConfigError, PreflightError, StepError
from atr_client.gateway.stepped_play import Step
from atr_client.gateway.stepper import Shaping
from atr_client.models.base import AgentModel, ModelReply
from atr_client.session.turns import SessionSettings
from atr_data import load_episode
from atr_data.trajectory import Message, ToolCall
from tests.support.cells import small_episode
from tests.support.gateway import EPISODE, asker, in_process

UNLIKE: Any = {"duration_seconds": True, "memory_use": {"seconds"}, "messages": {"__all__": {"timestamp"}}}


async def drive(stepper: EpisodeStepper, agent: AgentModel) -> list[Step]:
    """Plays with what the steps say alone, as somebody far away would."""
    steps = [await stepper.reset()]
    told: list[Message] = []
    while not steps[-1].done:
        told = [*told[: steps[-1].kept], *steps[-1].messages]
        assert told == list(stepper.conversation)
        steps.append(await stepper.step(await agent.respond(told, steps[-1].tools)))
    return steps


@pytest.mark.parametrize("variant", ["atr", "oracle_target"])
async def test_it_is_the_same_play(variant: str) -> None:
    played = await play_episode(str(EPISODE), variant, asker())
    async with EpisodeStepper(str(EPISODE), variant) as stepper:
        steps = await drive(stepper, asker())
        ours = stepper.result
    assert [t.model_dump(exclude=UNLIKE) for t in ours.trajectories] == [
        t.model_dump(exclude=UNLIKE) for t in played.trajectories
    ]
    assert sum(step.reward for step in steps) == played.evaluation["metrics"]["success_count"]
    ended = [session for step in steps for session in step.ended]
    assert [s.session_id for s in ended] == [t.session_id for t in played.trajectories]
    passed = {r["session_id"]: r["task_success"] for r in played.evaluation["session_results"]}
    assert {s.session_id: s.passed for s in ended if s.session_type == "test"} == passed
    assert {s.passed for s in ended if s.session_type == "learning"} <= {None}


async def test_a_repaired_leak_is_taken_back() -> None:
    class Leaky:
        def __init__(self) -> None:
            self.leaked: set[str] = set()

        async def respond(self, messages: Sequence[Message], tools: Any) -> ModelReply:
            opening = str(messages[1].content)
            if opening not in self.leaked:
                self.leaked.add(opening)
                return ModelReply("said to nobody")
            return await asker().respond([m for m in messages if "scaffolding" not in str(m.content)], tools)

    settings = SessionSettings(hook=True)
    played = await play_episode(str(EPISODE), "default", Leaky(), settings=settings)
    async with EpisodeStepper(str(EPISODE), "default", settings=settings) as stepper:
        steps = await drive(stepper, Leaky())
        ours = stepper.result
    assert ours.evaluation["metrics"] == played.evaluation["metrics"] | {
        "duration_stats": ours.evaluation["metrics"]["duration_stats"]
    }
    assert ours.evaluation["metrics"]["ls_hook_rescued_sends"] > 0
    assert any(step.messages and "scaffolding" in str(step.messages[-1].content) for step in steps)


async def test_asking_is_rewarded_when_somebody_wants_it() -> None:
    async with EpisodeStepper(str(EPISODE), "atr", shaping=Shaping(asked=0.01, hit=0.1)) as stepper:
        steps = await drive(stepper, asker())
        metrics = stepper.result.evaluation["metrics"]
    shaped = 0.01 * metrics["ls_send_calls_routed_rule"] + 0.1 * metrics["rule_coverage"]["hit_count"]
    assert metrics["rule_coverage"]["hit_count"] > 0
    assert sum(step.reward for step in steps) == pytest.approx(metrics["success_count"] + shaped)


async def test_reset_begins_anew_at_any_time() -> None:
    async with EpisodeStepper(small_episode(), "default") as stepper:
        first = await stepper.reset()
        await stepper.step(ModelReply("hm"))
        again = await stepper.reset()
        assert [m.content for m in again.messages] == [m.content for m in first.messages]
        assert (again.session_id, again.kept, again.reward) == ("l0", 0, 0.0)


async def test_many_run_at_once_and_know_nothing_of_each_other() -> None:
    results: dict[int, Any] = {}
    episode = load_episode(EPISODE)

    async def play(number: int, variant: str) -> None:
        async with EpisodeStepper(episode, variant) as stepper:
            await drive(stepper, asker())
            results[number] = stepper.result.evaluation["metrics"]["success_count"]

    async with anyio.create_task_group() as tasks:
        for number in range(16):
            tasks.start_soon(play, number, "oracle_target")
    assert set(results.values()) == {sum((await in_process("oracle_target")).values())}


async def test_steps_that_cannot_be_taken_say_so() -> None:
    stepper = EpisodeStepper(small_episode(), "default")
    with pytest.raises(StepError, match="not entered"):
        await stepper.reset()
    async with stepper:
        with pytest.raises(StepError, match="reset first"):
            await stepper.step(ModelReply("x"))
        with pytest.raises(StepError, match="not over"):
            _ = stepper.result
        await drive(stepper, Quick())
        with pytest.raises(StepError, match="is over"):
            await stepper.step(ModelReply("x"))
        assert (await stepper.reset()).session_id == "l0"
    for variant, error in (("nonsense", ConfigError), ("oracle_target", PreflightError)):
        without = small_episode().model_copy(update={"rules": []})
        async with EpisodeStepper(without, variant) as stepper:
            with pytest.raises(error):
                await stepper.reset()


class Quick:
    async def respond(self, messages: Any, tools: Any) -> ModelReply:
        test = any(tool.name == "finish_session" for tool in tools)
        said = {"output": "Goodbye, that is all done.", "reason": "done"}
        call = ToolCall(id="c", name="finish_session") if test else None
        return ModelReply(tool_calls=[call or ToolCall(id="c", name="send_to_user", arguments=said)])


async def test_what_breaks_around_the_agent_is_raised_where_the_step_is() -> None:
    class Broken:
        async def open(self) -> Any:
            from atr_user_sim.interface import UserSimFault

            raise UserSimFault("user_sim", "the roof fell in")

    def broken_user(episode: Any, session: Any) -> Any:
        return Broken()

    async with EpisodeStepper(small_episode(), "default", user=broken_user) as stepper:
        with pytest.raises(CellAbort, match="roof"):
            await stepper.reset()
