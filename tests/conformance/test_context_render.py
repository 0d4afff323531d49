"""Memories render as recorded, through the memory server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from atr_data.trajectory import Message
from atr_memory import MemoryStore, build_memory_server, render_transcript
from tests.support.vectors import Case, first, read_jsonl, report


async def _call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error and result.structured_content is not None, result
    return result.structured_content


async def _remember(ops: list[dict[str, Any]]) -> tuple[str | None, str | None]:
    """The context after `ops`, live and in a frozen snapshot."""
    with MemoryStore() as store:
        async with Client(build_memory_server(store, "cell")) as client:
            await client.list_tools()
            for number, op in enumerate(ops):
                if op["op"] == "session":
                    await _call(client, "append_session", session_id=f"s{number}", messages=op["messages"])
                else:
                    await _call(client, "append_prior_statement", statement=op["statement"])
            live = (await _call(client, "render_context"))["context"]
            await _call(client, "open_snapshot", **await _call(client, "freeze"))
            return live, (await _call(client, "render_context"))["context"]


def _agrees(case: Case) -> bool:
    if case["kind"] == "store":
        return anyio.run(_remember, case["ops"]) == (case["rendered"], case["frozen"])
    text = case["rendered"]
    context = f"[Session 1]\n{text}" if text.strip() else None
    return render_transcript([Message(**m) for m in case["messages"]]) == text and anyio.run(
        _remember, [{"op": "session", "messages": case["messages"]}]
    ) == (context, context)


def test_context_rendering_agrees(conformance_dir: Path) -> None:
    report("context_render.jsonl", read_jsonl(conformance_dir / "context_render.jsonl"), _agrees)


@pytest.mark.parametrize(
    ("kind", "field"), [("transcript", "rendered"), ("store", "rendered"), ("store", "frozen")]
)
def test_a_flipped_expectation_is_noticed(conformance_dir: Path, kind: str, field: str) -> None:
    cases = read_jsonl(conformance_dir / "context_render.jsonl")
    case = first(cases, lambda case: case["kind"] == kind and case[field])
    case[field] += "x"
    with pytest.raises(AssertionError, match="0/1 agree"):
        report("context_render.jsonl", [case], _agrees)
