"""A play step by step, whichever track it is of: what is to be replied to, and what ended since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import anyio
from anyio.abc import TaskGroup

from atr_client.cell.isolation import outcome_of
from atr_client.errors import StepError
from atr_client.gateway.mailbox import Asked, Mailbox
from atr_client.gateway.news import News
from atr_client.models.base import AgentModel, ModelReply, ToolSpec
from atr_data.trajectory import Message, Trajectory


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


class Stepper:
    """What the steppers of both tracks share: a context in which one play after the other is stepped through.
    `last` is the step that was returned last."""

    _group: TaskGroup | None = None
    _play: SteppedPlay | None = None
    last: Step | None = None

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        assert self._group, "entered before"
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(*raised)
        self._group = None

    async def begin(self, play: SteppedPlay, playing: Callable[..., Any]) -> Step:
        """The first step of a play, which ends the one before."""
        if self._group is None:
            raise StepError(f"the stepper is not entered: async with {type(self).__name__}(...)")
        if self._play:
            self._play.scope.cancel()
        self._play = play
        self._group.start_soon(play.run, playing)
        return await self._next(play)

    async def step(self, reply: ModelReply) -> Step:
        """Gives a reply and returns what comes next. Raises StepError when nothing waits for one, and what
        the play raises when something around the agent broke."""
        if self._play is None:
            raise StepError("nothing has begun: call reset first")
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

    def played(self) -> Any:
        """What came of the play once it is done. Raises StepError before."""
        if self._play is None or self._play.result is None:
            raise StepError("what is played is not over")
        return self._play.result
