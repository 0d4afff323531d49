"""Conversations and endpoints for the adapters' tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from atr_client.models.base import ToolSpec
from atr_client.models.wire import Endpoint, Wire
from atr_client.session.transcript import Transcript

KEY = "sk-sentinel-0123456789"

FIND = ToolSpec(
    name="find_parcels",
    description="Finds parcels.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
LABEL = ToolSpec(name="print_label", description="Prints a label.", input_schema={"type": "object"})


def conversation() -> Transcript:
    """A transcript in which the user has said the first word."""
    transcript = Transcript()
    transcript.system("You run a post office.")
    transcript.user("Where is my parcel?")
    return transcript


def endpoint(url: str, **changes: Any) -> Endpoint:
    """An endpoint of a server's OpenAI address."""
    return Endpoint(model="test-model", api_key=KEY, **{"base_url": f"{url}/v1", "timeout": 10.0, **changes})


@asynccontextmanager
async def opened(open_wire: Callable[[Endpoint], Wire], to: Endpoint) -> AsyncGenerator[Wire]:
    wire = open_wire(to)
    try:
        yield wire
    finally:
        await wire.aclose()
