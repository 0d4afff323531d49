"""A session on its way through the gateway: waiting, running, over."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import anyio

from atr_client.gateway.mailbox import Mailbox
from atr_data.trajectory import Message, Trajectory


class NamedSession(Protocol):
    """What the gateway knows of a session of either track."""

    @property
    def session_id(self) -> str: ...

    @property
    def session_type(self) -> Literal["learning", "test"]: ...


@dataclass(frozen=True, slots=True)
class Ending:
    """What is kept of a session that is over; the rest is on disk. `last` is what came of the last reply."""

    reason: str
    last: Sequence[Message] = ()


@dataclass(eq=False)
class HostedSession:
    """`number` counts the sessions of its kind from 1: an agent knows a session by that, because ids of an
    episode may say what it is about. `reached` is set when it may begin, `admitted` when somebody wants it
    to. `ending` is there once it is over, unless it broke off. `tools` are named in the order in which they
    are offered, `pages` are those of its instructions where they are too long for one result."""

    session: NamedSession
    number: int
    mailbox: Mailbox = field(default_factory=Mailbox)
    admitted: anyio.Event = field(default_factory=anyio.Event)
    reached: bool = False
    ending: Ending | None = None
    started: float | None = None
    tools: list[str] = field(default_factory=list[str])
    pages: Sequence[str] = ()

    @property
    def is_test(self) -> bool:
        return self.session.session_type == "test"

    @property
    def is_over(self) -> bool:
        return self.mailbox.is_over

    @property
    def is_running(self) -> bool:
        return self.admitted.is_set() and not self.is_over

    @property
    def name(self) -> str:
        return f"{'test' if self.is_test else 'learning'} {self.number}"

    @property
    def messages(self) -> Sequence[Message]:
        """The transcript, while the agent is to act."""
        return self.mailbox.asked.messages if self.mailbox.asked else ()

    def came_of(self, known: int) -> Sequence[Message]:
        """What came of the last reply, before which there were `known` messages."""
        return self.ending.last if self.ending else self.messages[known:]

    @property
    def seconds(self) -> float:
        """Since it began."""
        return 0.0 if self.started is None else time.monotonic() - self.started

    def admit(self, timeout: float | None) -> None:
        """It begins; `timeout` in seconds is how long it may take."""
        if not self.admitted.is_set():
            self.started = time.monotonic()
            self.mailbox.deadline = None if timeout is None else self.started + timeout
            self.admitted.set()

    def end(self, trajectory: Trajectory | None) -> None:
        """None: it broke off and has no result."""
        if trajectory is not None:
            known = self.mailbox.replied_to
            last = () if known is None else trajectory.messages[known:]
            self.ending = Ending(trajectory.termination_reason, last)
        self.pages = ()
        self.mailbox.close()
