"""A place at a desk of the timing track, reached through the gateway's server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from mcp.types import Tool

from atr_client.gateway.acting import Told, act, refused
from atr_client.gateway.control_tools import NEXT, STATUS, control_tools, instruction_text
from atr_client.gateway.gateway_host import SCORING_SECONDS
from atr_client.gateway.gateway_server import build_gateway_server
from atr_client.gateway.hosted_session import HostedSession
from atr_client.gateway.seat import MOST_WAITING
from atr_client.gateway.timing_desk import TimingDesk
from atr_client.timing.note_tool import FINISH_DAY_SPEC, REMEMBER_SPEC
from atr_servers.hosts.stdio import serve_stdio
from atr_servers.timing.tools import TOOLS
from atr_servers.workstream import describe_workstream_tool


class TimingSeat:
    """Whoever holds it plays one session at a time, call by call; it outlives every connection."""

    def __init__(self, desk: TimingDesk) -> None:
        self._desk = desk
        self._current: HostedSession | None = None
        self._lock = anyio.Lock()
        self._waiting = 0

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

    @property
    def person(self) -> None:
        return None

    async def resume(self) -> Told:
        return refused("no call waits for its result")

    def control_tools(self, *, everything: bool) -> list[Tool]:
        memory = self._desk.cell.settings.memory
        listed = control_tools(single=True, pages=False)
        listed += [
            describe_workstream_tool(name, tool)
            for name, tool in TOOLS.items()
            if tool.mode in (None, memory)
        ]
        notes = (REMEMBER_SPEC, FINISH_DAY_SPEC) if self._desk.cell.settings.keeps_notes else ()
        listed += [
            Tool(name=spec.name, description=spec.description, input_schema=dict(spec.input_schema))
            for spec in notes
        ]
        return listed

    def note(self, client: Mapping[str, str]) -> None:
        self._desk.note(client)

    async def call(self, name: str, arguments: Mapping[str, Any], longest: int | None = None) -> Told:
        """One call after the other, in the order in which they came."""
        if self._waiting >= MOST_WAITING:
            return refused("too many calls at once; wait for the answers to those before")
        self._waiting += 1
        try:
            async with self._lock:
                if name == NEXT:
                    return await self._next()
                if name == STATUS:
                    return Told.of(self._status())
                if self._current is None:
                    return refused(f"{name} cannot be called: no session is running; call {NEXT} first")
                hosted = self._current
                return await act(hosted, name, arguments, lambda: self._why_over(hosted))
        finally:
            self._waiting -= 1

    async def _next(self) -> Told:
        if self._current and self._current.is_running:
            return refused(f"{self._current.name} is still running; see {STATUS}")
        hosted = await self._desk.next_session()
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


async def serve_timing_at_stdio(desk: TimingDesk) -> None:
    """One agent plays the cell until standard input ends."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run)
        await serve_stdio(build_gateway_server(TimingSeat(desk), all_tools=False))
        with anyio.move_on_after(SCORING_SECONDS):
            await desk.scored()
        tasks.cancel_scope.cancel()
