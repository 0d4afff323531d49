"""The MCP server of an environment, through a client of either protocol era."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest
import structlog
from mcp import Client, MCPError
from mcp.types import CallToolResult, TextContent

from atr_ontology import DOMAINS, input_schema, load_ontology
from atr_servers import Environment, build_server, serve_environment
from tests.support.worlds import WORLDS

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@ERAS
@pytest.mark.parametrize("domain", DOMAINS)
async def test_a_server_offers_the_tools_of_its_domain_as_the_ontology_has_them(
    domain: str, mode: str
) -> None:
    ontology = load_ontology()
    async with Client(build_server(domain, []), mode=mode) as client:
        offered = (await client.list_tools()).tools
        info = client.server_info
        assert info is not None
        assert (info.name, info.version) == (f"atr-{domain}", version("atrbench"))
        assert client.instructions == ontology.domain(domain).policy
    assert [tool.name for tool in offered] == [tool.name for tool in ontology.offered(domain)]
    for tool, wanted in zip(offered, ontology.offered(domain), strict=True):
        assert (tool.title, tool.description) == (wanted.title, wanted.description)
        assert tool.input_schema == input_schema(wanted)
        assert tool.annotations is not None
        assert tool.annotations.model_dump() == {
            "title": wanted.title,
            "read_only_hint": wanted.kind == "read",
            "destructive_hint": wanted.destructive,
            "idempotent_hint": wanted.idempotent or wanted.kind == "read",
            "open_world_hint": False,
        }


@pytest.mark.parametrize(
    ("allowed", "offered"),
    [
        (["track_order", "search_products"], ["get_user_confirmation", "search_products", "track_order"]),
        ([], ["get_user_confirmation"]),
        (["get_user_confirmation"], ["get_user_confirmation"]),
    ],
)
async def test_only_allowed_tools_are_offered_in_the_order_of_the_ontology(
    allowed: list[str], offered: list[str]
) -> None:
    async with Client(build_server("commerce", [], allowed_tools=allowed)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == offered


@pytest.mark.parametrize(
    ("domain", "allowed", "complaint"),
    [
        ("comerce", None, "unknown domain 'comerce'; one of commerce, .*; did you mean commerce?"),
        ("commerce", ["place_ordr"], "commerce has no tool 'place_ordr'; did you mean place_order?"),
        ("commerce", ["send_to_user"], "commerce has no tool 'send_to_user'"),
    ],
)
def test_a_server_that_cannot_be_built_says_why(
    domain: str, allowed: list[str] | None, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        build_server(domain, [], allowed_tools=allowed)


@ERAS
async def test_text_and_structured_content_say_the_same_unescaped(mode: str) -> None:
    references = [{"id": "p", "type": "product", "attributes": {"name": "Tëa 🍵", "price": 35}}]
    async with Client(build_server("commerce", references), mode=mode) as client:
        await client.list_tools()
        result = await client.call_tool("search_products")
        refused = await client.call_tool("track_order", {"order_id": "é"})
    assert text_of(result) == (
        '{"count": 1, "results": [{"product_id": "p", "name": "Tëa 🍵", "price": 35.0, "category": "unknown",'
        ' "rating": null, "attributes": {}}]}'
    )
    assert result.structured_content == json.loads(text_of(result))
    assert refused.is_error
    assert text_of(refused).startswith('{"error": "no order has the order_id \\"é\\"')
    assert refused.structured_content == json.loads(text_of(refused))


@ERAS
@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("no_such_tool", "Unknown tool: no_such_tool"),
        ("book_hotel", "Unknown tool: book_hotel"),
        ("track_order", "Unknown tool: track_order (it is not offered in this session)"),
        ("x" * 5000, f"Unknown tool: {'x' * 200}"),
    ],
)
async def test_a_tool_that_is_not_offered_is_unknown(tool: str, message: str, mode: str) -> None:
    server = build_server("commerce", WORLDS["commerce"], allowed_tools=["search_products"])
    async with Client(server, mode=mode) as client:
        await client.list_tools()
        result = await client.call_tool(tool, {"order_id": "O1"})
    assert result.is_error
    assert json.loads(text_of(result)) == {"error": message}


@ERAS
async def test_a_dropped_argument_is_noted_beside_the_result(mode: str) -> None:
    async with Client(build_server("commerce", []), mode=mode) as client:
        await client.list_tools()
        noted = await client.call_tool("search_products", {"wait_for_previous": False})
        plain = await client.call_tool("search_products", {})
    assert (noted.meta or {})["atr/dropped_arguments"] == ["wait_for_previous"]
    assert "atr/dropped_arguments" not in (plain.meta or {})


@ERAS
async def test_a_fault_of_the_server_is_logged_and_tells_the_client_nothing(mode: str) -> None:
    environment = Environment.build("commerce", [])
    broken = environment.snapshot()
    broken["tables"]["products"]["p"] = {"product_id": "p"}
    environment.restore(broken)
    with structlog.testing.capture_logs() as logs:
        async with Client(serve_environment(environment), mode=mode) as client:
            await client.list_tools()
            with pytest.raises(MCPError) as caught:
                await client.call_tool("search_products", {"category": "tea"})
    assert (caught.value.error.code, caught.value.error.message) == (-32603, "internal error")
    assert [(entry["event"], entry["tool"]) for entry in logs] == [("tool failed", "search_products")]


async def test_connections_share_the_state_of_the_server_and_servers_share_nothing() -> None:
    one, other = build_server("commerce", WORLDS["commerce"]), build_server("commerce", WORLDS["commerce"])
    for mode in ("auto", "legacy"):
        async with Client(one, mode=mode) as client:
            await client.list_tools()
            await client.call_tool("build_shopping_list", {"items": []})
    for server, list_id in ((one, "LIST_003"), (other, "LIST_001")):
        async with Client(server) as client:
            await client.list_tools()
            result = await client.call_tool("build_shopping_list", {"items": []})
            assert result.structured_content["list_id"] == list_id
