"""The memory server as its harness sees it, in both protocol eras."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog
from mcp import Client, MCPError
from mcp.types import TextContent

from atr_data.trajectory import Message, ToolCall
from atr_memory import Entry, MemoryLayer, MemoryStore, StoreError, build_memory_server

Call = Callable[..., Any]


def session(text: str) -> list[dict[str, Any]]:
    calls = [ToolCall(id="c", name="list_labels")]
    messages = [
        Message(role="user", content=text, turn_idx=1),
        Message(role="assistant", tool_calls=calls, turn_idx=2, native_assistant_payload=[{"x": None}]),
    ]
    return [message.model_dump() for message in messages]


@asynccontextmanager
async def memory(
    store: MemoryStore, namespace: str = "cell", mode: str = "auto", **options: Any
) -> AsyncGenerator[Call]:
    """A function that calls a tool and answers its content; a tool error is raised as a StoreError."""
    server = build_memory_server(store, namespace, **options)
    async with Client(server, mode=mode) as client:  # pyright: ignore[reportArgumentType]
        await client.list_tools()

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            (block,) = result.content
            assert isinstance(block, TextContent) and result.structured_content is not None
            assert block.text == json.dumps(result.structured_content, ensure_ascii=False)
            if result.is_error:
                raise StoreError(result.structured_content["error"])
            return result.structured_content

        yield call


@pytest.fixture(params=["auto", "legacy"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


async def test_what_is_appended_is_rendered_in_order(mode: str) -> None:
    with MemoryStore() as store:
        async with memory(store, mode=mode) as call:
            assert await call("render_context") == {"layer": "context", "context": None}
            assert await call("append_session", session_id="s1", messages=session("hei då")) == {
                "added": True
            }
            assert await call("append_prior_statement", statement="  brass ") == {"added": True}
            await call("append_session", session_id="s2", messages=session("again"))
            assert (await call("render_context"))["context"] == (
                "[Session 1]\n[user]: hei då\n[tool call]: list_labels({})\n\n"
                "[Prior statement 1]\n[user]:   brass \n\n"
                "[Session 2]\n[user]: again\n[tool call]: list_labels({})"
            )


async def test_a_session_appended_twice_is_there_once_and_a_changed_one_is_refused(mode: str) -> None:
    with MemoryStore() as store:
        async with memory(store, mode=mode) as call:
            await call("append_session", session_id="s1", messages=session("one"))
            again = await call("append_session", session_id="s1", messages=session("one"))
            assert again == {"added": False}
            with pytest.raises(StoreError, match="with another text; reset"):
                await call("append_session", session_id="s1", messages=session("two"))
            assert len(store.entries("cell")) == 1


async def test_a_session_in_which_nothing_happened_is_no_memory() -> None:
    with MemoryStore() as store:
        async with memory(store) as call:
            blank = [Message(role="system", content="s").model_dump()]
            assert await call("append_session", session_id="s1", messages=blank) == {"added": False}
            assert (await call("render_context"))["context"] is None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("append_session", {"session_id": "s2", "messages": []}),
        ("append_prior_statement", {"statement": "x"}),
        ("freeze", {}),
        ("reset", {}),
    ],
)
async def test_an_opened_snapshot_is_read_only(mode: str, tool: str, arguments: dict[str, Any]) -> None:
    with MemoryStore() as store:
        async with memory(store, mode=mode) as call:
            await call("append_prior_statement", statement="brass")
            frozen = await call("freeze")
            await call("open_snapshot", **frozen)
            with pytest.raises(
                StoreError, match=r"snapshot \w+ of namespace 'cell' is frozen: it can be read"
            ):
                await call(tool, **arguments)
            assert (await call("render_context"))["context"] == "[Prior statement 1]\n[user]: brass"
        assert store.entries("cell") == (Entry("prior", "brass"),)


async def test_a_snapshot_does_not_see_what_is_appended_later() -> None:
    with MemoryStore() as store:
        async with memory(store) as live, memory(store) as reader:
            await live("append_prior_statement", statement="brass")
            await reader("open_snapshot", **await live("freeze"))
            await live("append_prior_statement", statement="steel")
            assert (await reader("render_context"))["context"] == "[Prior statement 1]\n[user]: brass"
            await live("reset")
            assert (await reader("render_context"))["context"] == "[Prior statement 1]\n[user]: brass"
            assert (await live("render_context"))["context"] is None


async def test_two_namespaces_of_one_store_never_mix() -> None:
    with MemoryStore() as store:
        async with memory(store, "one") as one, memory(store, "two") as two:
            await one("append_prior_statement", statement="brass")
            frozen = await one("freeze")
            assert (await two("render_context"))["context"] is None
            with pytest.raises(StoreError, match="namespace 'two' has no snapshot"):
                await two("open_snapshot", **frozen)
            await two("append_prior_statement", statement="still writable")


async def test_a_transcript_of_several_megabytes_is_taken(mode: str) -> None:
    messages = [Message(role="user", content="x" * 1000).model_dump() for _ in range(4000)]
    with MemoryStore() as store:
        async with memory(store, mode=mode) as call:
            assert await call("append_session", session_id="s1", messages=messages) == {"added": True}
            assert len((await call("render_context"))["context"]) > 2_000_000


async def test_another_layer_presents_the_same_entries() -> None:
    class Count(MemoryLayer):
        name = "count"

        def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
            return str(len(entries))

    layer: MemoryLayer = Count()
    with MemoryStore() as store:
        async with memory(store, layer=layer) as call:
            await call("append_prior_statement", statement="brass")
            assert await call("render_context") == {"layer": "count", "context": "1"}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("append_session", {"messages": []}, "argument session_id: Field required"),
        ("append_session", {"session_id": "", "messages": []}, "argument session_id: .* got ''"),
        ("append_session", {"session_id": 7, "messages": []}, "argument session_id: .*string, got 7"),
        ("append_session", {"session_id": "s", "messages": "x"}, "argument messages: .*list, got 'x'"),
        (
            "append_session",
            {"session_id": "s", "messages": [{"role": "user", "turn_idx": "1"}]},
            r"argument messages\.0\.turn_idx: .*integer, got '1'",
        ),
        (
            "append_session",
            {"session_id": "s", "messages": [{"role": "poet"}]},
            r"messages\.0\.role: .* got 'poet'",
        ),
        ("append_prior_statement", {"statement": None}, "argument statement: .*string, got None"),
        ("append_prior_statement", {"statement": "\ud800"}, "text with a lone surrogate is no valid Unicode"),
        ("freeze", {"now": True}, "argument now: Extra inputs are not permitted, got True"),
        (
            "open_snapshot",
            {"snapshot_id": "nope"},
            "namespace 'cell' has no snapshot 'nope'; `freeze` makes one",
        ),
        ("remember", {}, "^Unknown tool: remember$"),
    ],
)
async def test_a_bad_call_is_answered_with_one_clear_line(
    mode: str, tool: str, arguments: dict[str, Any], message: str
) -> None:
    with MemoryStore() as store:
        async with memory(store, mode=mode) as call:
            with pytest.raises(StoreError, match=message) as caught:
                await call(tool, **arguments)
            assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


async def test_an_unexpected_failure_is_logged_and_its_text_stays_inside(mode: str) -> None:
    class Broken(MemoryLayer):
        name = "broken"

        def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
            raise RuntimeError("secret path")

    with MemoryStore() as store, structlog.testing.capture_logs() as logs:
        async with memory(store, mode=mode, layer=Broken()) as call:
            with pytest.raises(MCPError) as caught:
                await call("render_context")
    assert (caught.value.error.code, caught.value.error.message) == (-32603, "internal error")
    assert [(log["event"], log["tool"], log["namespace"]) for log in logs] == [
        ("memory tool failed", "render_context", "cell")
    ]


async def test_every_tool_describes_itself_and_its_parameters() -> None:
    with MemoryStore() as store:
        async with Client(build_memory_server(store, "cell")) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert client.server_info is not None and client.server_info.name == "atr-memory"
    assert list(tools) == [
        *("append_session", "append_prior_statement", "render_context", "freeze", "open_snapshot", "reset")
    ]
    for tool in tools.values():
        assert tool.title and tool.description and tool.annotations
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint is (tool.name == "render_context")
        assert tool.annotations.destructive_hint is (tool.name == "reset")
        assert tool.annotations.idempotent_hint is (tool.name != "append_prior_statement")
        assert tool.input_schema["additionalProperties"] is False
        assert all(value["description"] for value in tool.input_schema["properties"].values())
