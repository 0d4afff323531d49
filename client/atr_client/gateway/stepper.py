"""An episode step by step: for training loops and evaluation hosts that hold the model themselves."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import anyio
from anyio.abc import TaskGroup

from atr_client.cell.episode_runner import UserMaker
from atr_client.cell.isolation import outcome_of
from atr_client.cell.known_lines import users_on_file
from atr_client.cell.play_episode import EpisodeResult, play_episode
from atr_client.errors import StepError
from atr_client.gateway.mailbox import Asked, Mailbox
from atr_client.gateway.news import News
from atr_client.models.base import AgentModel, ModelReply, PerSession, ToolSpec
from atr_client.session.turns import SessionSettings
from atr_data import Episode, load_episode
from atr_data.trajectory import Message, Trajectory
from atr_evaluator import evaluate_episode


@dataclass(frozen=True, slots=True)
class Shaping:
    """Rewards beside those for passed tests, all off: `asked` for each question about a standing rule, `hit`
    for each rule that is asked for the first time."""

    asked: float = 0.0
    hit: float = 0.0


@dataclass(frozen=True, slots=True)
class EndedSession:
    """`passed` is None for a learning session."""

    session_id: str
    session_type: str
    termination_reason: str
    passed: bool | None


@dataclass(frozen=True, slots=True)
class Step:
    """What the agent is to reply to. `messages` are those that are new in the session `session_id`: its whole
    transcript is what it was, cut to `kept` messages, and these. `reward` is for the sessions that ended
    since the step before, `ended`. When `done`, there is nothing to reply to any more."""

    session_id: str | None
    messages: Sequence[Message]
    kept: int
    tools: Sequence[ToolSpec]
    reward: float
    done: bool
    ended: Sequence[EndedSession] = ()


@dataclass(eq=False)
class EpisodeStepper:
    """Plays an episode in one variant with whoever calls `step`. To be entered as a context:

        async with EpisodeStepper(episode, "atr") as stepper:
            step = await stepper.reset()
            while not step.done:
                step = await stepper.step(await model.respond(stepper.conversation, step.tools))

    Arguments are those of `play_episode`, and so is what comes of it: `result`. Steppers are independent of
    each other, and many may run at once. `last` is the step that was returned last.
    """

    episode: Episode | str | os.PathLike[str]
    variant: str
    user: UserMaker | None = None
    memory: str | None = None
    settings: SessionSettings | None = None
    shaping: Shaping = field(default_factory=Shaping)

    def __post_init__(self) -> None:
        if not isinstance(self.episode, Episode):
            path = Path(self.episode)
            self.episode = load_episode(path)
            self.user = self.user or users_on_file(self.episode, path)
        self._group: TaskGroup | None = None
        self._play: SteppedPlay | None = None
        self.last: Step | None = None

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        assert self._group, "entered before"
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(*raised)
        self._group = None

    async def reset(self) -> Step:
        """Begins the episode anew. Raises what `play_episode` raises."""
        if self._group is None:
            raise StepError("the stepper is not entered: async with EpisodeStepper(...)")
        if self._play:
            self._play.scope.cancel()
        assert isinstance(self.episode, Episode), "loaded when it was made"
        self._play = SteppedPlay(_Reward(self.episode, self.variant, self.shaping).of)
        self._group.start_soon(self._play.run, self._episode_with)
        return await self._next(self._play)

    async def step(self, reply: ModelReply) -> Step:
        """Gives a reply and returns what comes next. Raises StepError when nothing waits for one, and what
        `play_episode` raises when something around the agent broke."""
        if self._play is None:
            raise StepError("the episode has not begun: call reset first")
        self._play.reply(reply)
        return await self._next(self._play)

    async def _next(self, play: SteppedPlay) -> Step:
        self.last = None
        self.last = await play.next_step()
        return self.last

    @property
    def conversation(self) -> Sequence[Message]:
        """The running session as it stands."""
        return self._play.seen if self._play else ()

    @property
    def result(self) -> EpisodeResult:
        """Of the episode once it is done. Raises StepError before."""
        if self._play is None or self._play.result is None:
            raise StepError("the episode is not over")
        return self._play.result

    @property
    def outcome(self) -> dict[str, Any]:
        """What came of the episode, in short."""
        metrics = self.result.evaluation["metrics"]
        return {"passed": metrics["success_count"], "tests": metrics["total_test"]}

    async def _episode_with(
        self, agent: Callable[[str], AgentModel], on_session: Callable[[Trajectory], None]
    ) -> EpisodeResult:
        return await play_episode(
            self.episode,
            self.variant,
            PerSession(agent),
            user=self.user,
            memory=self.memory,
            settings=self.settings,
            on_session=on_session,
        )


class SteppedPlay:
    """One time that an episode is played. `reward_of` says what the end of a session is worth."""

    def __init__(self, reward_of: Callable[[Trajectory], tuple[float, EndedSession]]) -> None:
        self._reward_of = reward_of
        self._news = News()
        self._mailbox = Mailbox(self._news)
        self._session_id: str | None = None
        self._failure: Exception | None = None
        self._is_over = False
        self._reward = 0.0
        self._ended: list[EndedSession] = []
        self.scope = anyio.CancelScope()
        self.seen: list[Message] = []
        self.result: Any = None

    async def run(self, play: Callable[..., Any]) -> None:
        async def played() -> Any:
            return await play(self._agent, self._session_over)

        self._failure = StepError("the episode was closed")
        try:
            with self.scope:
                outcome = await outcome_of(played)
                self._failure = outcome if isinstance(outcome, Exception) else None
                self.result = None if isinstance(outcome, Exception) else outcome
        finally:
            self._is_over = True
            self._news.tell()

    def reply(self, reply: ModelReply) -> None:
        if self._mailbox.asked is None:
            raise StepError("the episode is over" if self.result else "the episode does not wait for a reply")
        self._mailbox.post(reply)

    async def next_step(self) -> Step:
        while self._mailbox.asked is None and not self._is_over:
            await self._news.wait()
        if self._is_over and self._failure:
            raise self._failure
        reward, ended = self._reward, self._ended
        self._reward, self._ended = 0.0, []
        if (asked := self._mailbox.asked) is None:
            return Step(None, (), 0, (), reward, True, ended)
        new, kept = self._new(asked)
        return Step(self._session_id, new, kept, asked.tools, reward, False, ended)

    def _new(self, asked: Asked) -> tuple[Sequence[Message], int]:
        kept = 0
        for before, now in zip(self.seen, asked.messages, strict=False):
            if before is not now:
                break
            kept += 1
        self.seen = list(asked.messages)
        return self.seen[kept:], kept

    def _agent(self, session_id: str) -> AgentModel:
        self._session_id, self._mailbox, self.seen = session_id, Mailbox(self._news), []
        return self._mailbox

    def _session_over(self, trajectory: Trajectory) -> None:
        reward, ended = self._reward_of(trajectory)
        self._reward += reward
        self._ended.append(ended)


@dataclass(slots=True)
class _Reward:
    """What the sessions of an episode are worth as they end."""

    episode: Episode
    variant: str
    shaping: Shaping
    hit: set[str] = field(default_factory=set[str])

    def of(self, trajectory: Trajectory) -> tuple[float, EndedSession]:
        passed = None
        if trajectory.session_type == "test":
            results = evaluate_episode(self.episode, [trajectory], self.variant)["session_results"]
            passed = any(r["session_id"] == trajectory.session_id and r["task_success"] for r in results)
        ended = EndedSession(
            trajectory.session_id, trajectory.session_type, trajectory.termination_reason, passed
        )
        return float(bool(passed)) + self._shaped(trajectory), ended

    def _shaped(self, trajectory: Trajectory) -> float:
        events = trajectory.interaction_events
        asked = sum(event.kind == "route_decision" and event.route == "rule" for event in events)
        hit = {event.rule_id for event in events if event.kind == "cls_verdict" and event.rule_id}
        new = hit - self.hit
        self.hit |= new
        return self.shaping.asked * asked + self.shaping.hit * len(new)
