"""A place at a desk: whoever holds it plays one session at a time, call by call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.types import Tool

from atr_client.cell.cell_memory import layer_of_cell
from atr_client.gateway.acting import Made, Told, make, outcome, refused
from atr_client.gateway.control_tools import (
    NEXT,
    READ,
    START,
    STATUS,
    control_tools,
    instruction_text,
    memory_tools,
)
from atr_client.gateway.desk import Desk
from atr_client.gateway.hosted_session import HostedSession
from atr_client.gateway.paged_memory import paged
from atr_client.gateway.person import Person
from atr_client.gateway.turnstile import Turnstile
from atr_data.trajectory import Message


class Seat:
    """`only` binds it to one session. The session at hand outlives every connection: who comes back to the
    seat goes on with it."""

    def __init__(self, desk: Desk, only: str | None = None) -> None:
        self._desk = desk
        self._only = only
        self._current: HostedSession | None = None
        self._turnstile = Turnstile()
        self._made: Made | None = None
        self._memory_tools = {tool.name: tool for tool in layer_of_cell(desk.cell).listed}

    @property
    def memory_tools(self) -> list[Tool]:
        """Those that are known beforehand, and those of a third party's server once a session has them."""
        asked = self._current.mailbox.asked if self._current else None
        for tool in memory_tools(asked.tools if asked else ()):
            self._memory_tools.setdefault(tool.name, tool)
        return list(self._memory_tools.values())

    @property
    def instructions(self) -> str:
        """What an agent is told about playing here."""
        return instruction_text("single_session" if self.is_single else "episode")

    @property
    def is_single(self) -> bool:
        return self._only is not None

    def control_tools(self, *, everything: bool) -> list[Tool]:
        """The seat's own tools; `everything` includes those that another session may bring."""
        paged_now = self._current is not None and bool(self._current.pages)
        return control_tools(single=self.is_single, pages=everything or paged_now)

    @property
    def person(self) -> Person | None:
        """Who is asked through the agent's own client."""
        return self._desk.person if self._desk.asks_through_client else None

    def note(self, client: Mapping[str, str]) -> None:
        self._desk.note(client)

    @property
    def tool_names(self) -> list[str]:
        """Of the running session; empty when none is."""
        hosted = self._current
        return list(hosted.tools) if hosted and hosted.is_running else []

    async def call(self, name: str, arguments: Mapping[str, Any], longest: int | None = None) -> Told:
        """One call after the other, in the order in which they came. `longest` is how many characters of
        instructions the caller can take in one result."""
        return await self._turnstile.through(lambda: self._answer(name, arguments, longest))

    async def _answer(self, name: str, arguments: Mapping[str, Any], longest: int | None) -> Told:
        match name:
            case _ if name == START and not self.is_single:
                return self._start()
            case _ if name == NEXT:
                return await self._next(longest)
            case _ if name == STATUS:
                return await self._status(longest, whole=arguments.get("conversation") is True)
            case _ if name == READ:
                return self._page(arguments.get("page"))
            case _:
                return await self._act(name, arguments)

    def _start(self) -> Told:
        self._desk.start()
        return Told.of({"status": "started", **self._counts(), "next": f"call {NEXT}"})

    async def _next(self, longest: int | None) -> Told:
        if self._current and self._current.is_running:
            end = "call finish_session" if self._current.is_test else "bring it to its end with the user"
            return refused(f"{self._current.name} is still running: {end}, or see {STATUS}")
        hosted = await self._desk.next_session(self._only)
        if hosted is None:
            return self._nothing_left()
        self._current = hosted
        asked = hosted.mailbox.asked
        if asked is None:
            return refused(self._why_over(hosted))
        hosted.tools = [tool.name for tool in asked.tools]
        system, opening = (str(message.content) for message in asked.messages[:2])
        instructions, hosted.pages = paged(system, longest, READ)
        return Told.of(
            {
                "session": hosted.name,
                "instructions": instructions,
                "user": opening,
                "tools": hosted.tools,
                **self._budget(hosted),
            }
        )

    async def _act(self, name: str, arguments: Mapping[str, Any]) -> Told:
        hosted = self._current
        if hosted is None:
            return refused(f"{name} cannot be called: no session is running; call {NEXT} first")
        made = await make(hosted, name, arguments, lambda: self._why_over(hosted))
        if isinstance(made, Told):
            return made
        self._made = made
        return await outcome(hosted, made, lambda: self._why_over(hosted))

    async def resume(self) -> Told:
        """What came of the last call, whoever stopped waiting for it."""
        return await self._turnstile.after(self._outcome)

    async def _outcome(self) -> Told:
        hosted, made = self._current, self._made
        if hosted is None or made is None:
            return refused("no call waits for its result")
        return await outcome(hosted, made, lambda: self._why_over(hosted))

    async def _status(self, longest: int | None, *, whole: bool) -> Told:
        hosted = self._current
        document: dict[str, Any] = {} if self.is_single else self._counts()
        if hosted is None or hosted.is_over:
            document |= {"session": None, "next": f"call {NEXT}"}
            return Told.of(document)
        asked = await hosted.mailbox.settled()
        if asked is None:
            return Told.of(document | {"session": None, "next": self._why_over(hosted)})
        document |= {"session": hosted.name, "tools": hosted.tools, **self._budget(hosted)}
        if whole:
            system, *rest = hosted.messages
            instructions, hosted.pages = paged(str(system.content), longest, READ)
            document |= {"instructions": instructions, "conversation": [_shown(m) for m in rest]}
        return Told.of(document)

    def _page(self, number: object) -> Told:
        pages = self._current.pages if self._current else ()
        if not isinstance(number, int) or not 1 <= number <= len(pages):
            return refused(f"there is no such page; there are {len(pages)} to be read, from 1 on")
        return Told.of({"page": number, "of": len(pages), "text": pages[number - 1]})

    def _nothing_left(self) -> Told:
        if self._desk.failure is not None:
            return refused(
                f"something around the session broke ({self._desk.failure}); it leaves no result. "
                f"Call {NEXT} to play it again"
            )
        if self.is_single:
            return Told.of({"session": None, "episode": "this session is over; there is nothing left to do"})
        over = {"learn": "the learning part is over", "test": "the test part is over"}
        what = over.get(self._desk.mode, "the episode is over")
        return Told.of({"session": None, "episode": f"{what}; there is nothing left to do", **self._counts()})

    def _why_over(self, hosted: HostedSession) -> str:
        if hosted.ending is None:
            return f"{hosted.name} broke off and leaves no result; call {NEXT} to play it again"
        reasons = {
            "agent_stop": "you finished it",
            "task_complete": "the user ended it",
            "max_steps": "its steps are used up",
            "timeout": "its time is over",
            "task_no_progress": "too many calls in a row brought nothing",
        }
        why = reasons.get(hosted.ending.reason, "it ended")
        return f"{hosted.name} is over ({why})" + ("" if self.is_single else f"; call {NEXT}")

    def _counts(self) -> dict[str, Any]:
        sessions = self._desk.sessions.values()
        return {
            kind: {
                "sessions": sum(h.is_test is is_test for h in sessions),
                "over": sum(h.is_test is is_test and h.is_over for h in sessions),
            }
            for kind, is_test in (("learning", False), ("test", True))
        }

    def _budget(self, hosted: HostedSession) -> dict[str, Any]:
        settings = self._desk.settings
        steps = sum(message.role == "assistant" for message in hosted.messages)
        left = None if settings.timeout is None else max(round(settings.timeout - hosted.seconds, 1), 0.0)
        return {"steps_left": settings.max_steps - steps, "seconds_left": left}


def _shown(message: Message) -> dict[str, Any]:
    if message.role == "assistant":
        calls = message.tool_calls or []
        return {"you": [{"tool": call.name, "arguments": call.arguments} for call in calls]}
    return {"result" if message.role == "tool" else "user": message.content}
