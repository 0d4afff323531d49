"""A place at a desk of the timing track, reached through the gateway's server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mcp.types import Tool

from atr_client.gateway.acting import Told, act, refused
from atr_client.gateway.control_tools import NEXT, STATUS, control_tools, instruction_text
from atr_client.gateway.gateway_host import Door
from atr_client.gateway.gateway_server import build_gateway_server
from atr_client.gateway.hosted_session import HostedSession
from atr_client.gateway.served_place import Unaccompanied
from atr_client.gateway.timing_desk import TimingDesk
from atr_client.gateway.turnstile import Turnstile
from atr_client.timing.note_tool import FINISH_DAY_SPEC, REMEMBER_SPEC, writes_by_tools
from atr_client.timing.timing_cell import TimingCell
from atr_servers.timing.tools import TOOLS
from atr_servers.workstream import describe_workstream_tool


class TimingSeat(Unaccompanied):
    """Whoever holds it plays one session at a time, call by call; it outlives every connection. `only` binds
    it to one sitting."""

    def __init__(self, desk: TimingDesk, only: str | None = None) -> None:
        self._desk = desk
        self._only = only
        self._current: HostedSession | None = None
        self._turnstile = Turnstile()

    @property
    def instructions(self) -> str:
        return instruction_text("timing")

    @property
    def tool_names(self) -> list[str]:
        """All tools are listed from the start: see `control_tools`."""
        return []

    @property
    def memory_tools(self) -> list[Tool]:
        """What the track remembers with is among `control_tools`."""
        return []

    def control_tools(self, *, everything: bool) -> list[Tool]:
        memory = self._desk.cell.settings.memory
        listed = control_tools(single=True, pages=False)
        listed += [
            describe_workstream_tool(name, tool)
            for name, tool in TOOLS.items()
            if tool.mode in (None, memory)
        ]
        return [*listed, *(_note_tools(self._desk.cell) if self._desk.cell.settings.keeps_notes else ())]

    def note(self, client: Mapping[str, str]) -> None:
        self._desk.note(client)

    async def call(self, name: str, arguments: Mapping[str, Any], longest: int | None = None) -> Told:
        """One call after the other, in the order in which they came."""
        return await self._turnstile.through(lambda: self._answer(name, arguments))

    async def _answer(self, name: str, arguments: Mapping[str, Any]) -> Told:
        if name == NEXT:
            return await self._next()
        if name == STATUS:
            return Told.of(self._status())
        if self._current is None:
            return refused(f"{name} cannot be called: no session is running; call {NEXT} first")
        hosted = self._current
        return await act(hosted, name, arguments, lambda: self._why_over(hosted))

    async def _next(self) -> Told:
        if self._current and self._current.is_running:
            return refused(f"{self._current.name} is still running; see {STATUS}")
        hosted = await self._desk.next_session(self._only)
        if hosted is None:
            if self._desk.failure is not None:
                return refused(f"the session broke off ({self._desk.failure}); call {NEXT} to play it again")
            return Told.of({"session": None, "next": "there is nothing left to do", **self._counts()})
        self._current = hosted
        asked = hosted.mailbox.asked
        if asked is None:
            return refused(self._why_over(hosted))
        system, opening = (str(message.content) for message in asked.messages[:2])
        tools = [tool.name for tool in asked.tools]
        return Told.of({"session": hosted.name, "instructions": system, "user": opening, "tools": tools})

    def _status(self) -> dict[str, Any]:
        hosted = self._current
        running = hosted.name if hosted and hosted.is_running else None
        document = {"session": running, **self._counts()}
        if hosted and running:
            last = hosted.messages[-1]
            return document | {"last": last.content}
        return document | {"next": f"call {NEXT}"}

    def _why_over(self, hosted: HostedSession) -> str:
        if hosted.ending is None:
            return f"{hosted.name} broke off and leaves no result; call {NEXT} to play it again"
        reasons = {"agent_stop": "it was played to its end", "timeout": "its time is over"}
        why = reasons.get(hosted.ending.reason, "it was cut short")
        return f"{hosted.name} is over ({why}); call {NEXT}"

    def _counts(self) -> dict[str, int]:
        sessions = self._desk.sessions.values()
        return {"sessions": len(sessions), "over": sum(hosted.is_over for hosted in sessions)}


def _note_tools(cell: TimingCell) -> list[Tool]:
    """What an agent keeps notes with, by hand or by the memory's own tools."""
    specs = [FINISH_DAY_SPEC] if writes_by_tools(cell.layer) else [REMEMBER_SPEC, FINISH_DAY_SPEC]
    own = [
        Tool(name=spec.name, description=spec.description, input_schema=dict(spec.input_schema))
        for spec in specs
    ]
    return [*own, *cell.layer.listed]


def timing_doors(desk: TimingDesk) -> Iterator[Door]:
    """The servers of one user by name: that of all sessions, then one for each sitting. Where notes are
    carried from one to the next, nobody goes out of turn, and there is the first alone."""
    yield desk.cell.key.cell_id, build_gateway_server(TimingSeat(desk), all_tools=False)
    if not desk.cell.settings.keeps_notes:
        for session_id, hosted in desk.sessions.items():
            yield f"  {hosted.name}", build_gateway_server(TimingSeat(desk, session_id), all_tools=False)
