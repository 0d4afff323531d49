"""A session that is handed over as it begins: its tools are all there is, and need not be asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp.types import Tool

from atr_client.gateway.acting import Told, act
from atr_client.gateway.control_tools import instruction_text, memory_tools
from atr_client.gateway.hosted_session import HostedSession
from atr_client.gateway.served_place import Unaccompanied
from atr_client.gateway.turnstile import Turnstile


class HandedSession(Unaccompanied):
    """Counts what comes: `calls` of the session's tools, and whether a client came at all."""

    def __init__(self, hosted: HostedSession, note: Callable[[Mapping[str, str]], None]) -> None:
        asked = hosted.mailbox.asked
        self._names = [tool.name for tool in asked.tools] if asked else []
        self.memory_tools = memory_tools(asked.tools if asked else ())
        self._hosted = hosted
        self._note = note
        self._turnstile = Turnstile()
        self.connected = False
        self.calls = 0

    @property
    def instructions(self) -> str:
        return instruction_text("handed_session")

    @property
    def tool_names(self) -> list[str]:
        """They stay when the session is over: a program that lists late sees what it was told of."""
        return self._names

    def control_tools(self, *, everything: bool) -> list[Tool]:
        return []

    def note(self, client: Mapping[str, str]) -> None:
        self.connected = True
        self._note(client)

    async def call(self, name: str, arguments: Mapping[str, Any], longest: int | None = None) -> Told:
        async def carried_out() -> Told:
            self.calls += 1
            return await act(self._hosted, name, arguments, lambda: "the session is over; stop here")

        return await self._turnstile.through(carried_out)
