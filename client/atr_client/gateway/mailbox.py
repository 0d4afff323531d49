"""An agent whose replies come from elsewhere: the turn loop asks, somebody outside answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from atr_client.errors import ModelError, OutOfTime
from atr_client.gateway.news import News
from atr_client.models.base import ModelReply, ToolSpec
from atr_data.trajectory import Message


@dataclass(frozen=True, slots=True)
class Asked:
    """The turn loop waits for a reply to this transcript."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]


class Mailbox:
    """The agent of one session. `respond` is the turn loop's side, everything else that of whoever plays.

    A reply is taken once, and only while the loop waits for one. Whoever plays may be cancelled at any point:
    what was posted counts, and `settled` tells anybody who asks again how the session stands. `deadline` is
    when the session's time is over, by the monotonic clock; the loop itself looks at it between steps alone,
    and nobody may ever reply. `replied_to` is how long the transcript was that was last replied to.
    """

    def __init__(self, news: News | None = None) -> None:
        self._asked: Asked | None = None
        self._reply: ModelReply | None = None
        self._last_word: Callable[[], ModelReply] | None = None
        self._posted = anyio.Event()
        self._news = news or News()
        self.is_over = False
        self.deadline: float | None = None
        self.replied_to: int | None = None

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        if self._last_word:
            return self._last_word()
        self._posted, self._reply = anyio.Event(), None
        self._asked = Asked(list(messages), tools)
        self._news.tell()
        try:
            with anyio.fail_after(self._seconds_left()):
                await self._posted.wait()
        except TimeoutError as error:
            raise OutOfTime("nobody replied while there was time") from error
        finally:
            self._asked = None
        if self._reply is None:
            assert self._last_word, "what sets the event sets one of the two"
            return self._last_word()
        return self._reply

    def _seconds_left(self) -> float | None:
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)

    @property
    def asked(self) -> Asked | None:
        """What the loop waits for an answer to; None while it is busy, and when the session is over."""
        return self._asked

    def post(self, reply: ModelReply) -> None:
        """Raises RuntimeError when the loop does not wait for a reply."""
        if self._asked is None:
            raise RuntimeError("the session does not wait for a reply")
        self.replied_to = len(self._asked.messages)
        self._asked, self._reply = None, reply
        self._posted.set()

    def leave(self, failure: ModelError | None = None) -> None:
        """Nobody plays any more: every reply from now on is empty, or the failure is raised in its place."""

        def last_word() -> ModelReply:
            if failure is not None:
                raise failure
            return ModelReply()

        self._last_word = last_word
        self._asked = None
        self._posted.set()

    def close(self) -> None:
        """The session is over."""
        self._asked, self.is_over = None, True
        self._news.tell()

    async def ended(self) -> None:
        """Waits until the session is over."""
        while not self.is_over:
            await self._news.wait()

    async def settled(self) -> Asked | None:
        """Waits until the loop wants a reply, or the session is over (None)."""
        while self._asked is None and not self.is_over:
            await self._news.wait()
        return self._asked
