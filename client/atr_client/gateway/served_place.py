"""What a gateway server gives access to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from mcp.types import Tool

from atr_client.gateway.acting import Told, refused
from atr_client.gateway.person import Person


class Place(Protocol):
    """What can be reached through the server: a seat at a desk, or a session that was handed over."""

    @property
    def instructions(self) -> str: ...

    @property
    def tool_names(self) -> list[str]: ...

    @property
    def memory_tools(self) -> list[Tool]: ...

    @property
    def person(self) -> Person | None: ...

    def control_tools(self, *, everything: bool) -> list[Tool]: ...

    def note(self, client: Mapping[str, str]) -> None: ...

    async def call(self, name: str, arguments: Mapping[str, Any], longest: int | None = None) -> Told: ...

    async def resume(self) -> Told: ...


class Unaccompanied:
    """A place whose agent has nobody to ask."""

    @property
    def person(self) -> Person | None:
        return None

    async def resume(self) -> Told:
        return refused("no call waits for its result")
