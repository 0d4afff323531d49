"""Many environments over HTTP: opening, closing, and who may do what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from atr_servers import Environment, serve_environment
from atr_servers.hosts.call_history import CallHistory
from atr_servers.hosts.environment_host import Host
from atr_servers.hosts.http_app import create_app, is_loopback
from tests.support.tiny_episode import HOTELS, PRODUCTS

ADMIN = {"Authorization": "Bearer admin-secret"}
SHOP: dict[str, Any] = {"domain": "commerce", "references": PRODUCTS}
ERAS = ("auto", "legacy")


@asynccontextmanager
async def hosting(*, ttl: float = 3600, cap: int = 8, **access: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    """An HTTP client of a running application; it carries no token."""
    app = create_app(Host(ttl=ttl, cap=cap), admin_token="admin-secret", **access)
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as http,
    ):
        yield http


async def open_env(http: httpx2.AsyncClient, body: object = SHOP) -> dict[str, str]:
    answer = await http.post("/admin/env", json=body, headers=ADMIN)
    assert answer.status_code == 201, answer.text
    return answer.json()


def mcp(http: httpx2.AsyncClient, url: str, era: str = "auto") -> Client:
    return Client(streamable_http_client(url, http_client=http), mode=era)


async def new_list(client: Client) -> str:
    result = await client.call_tool("build_shopping_list", {"items": ["tea"]})
    assert result.structured_content is not None
    return result.structured_content["list_id"]


async def test_opening_answers_address_and_expiry() -> None:
    async with hosting(ttl=60) as http:
        opened = await open_env(http)
    assert set(opened) == {"id", "url", "expires_at"}
    assert opened["url"] == f"http://127.0.0.1:8765/env/{opened['id']}/mcp"
    assert 50 < (datetime.fromisoformat(opened["expires_at"]) - datetime.now(UTC)).total_seconds() < 61


async def test_connections_of_both_eras_share_the_state_of_one_address() -> None:
    async with hosting() as http:
        url = (await open_env(http))["url"]
        ids: list[str] = []
        for era in (*ERAS, *ERAS):
            async with mcp(http, url, era) as client:
                await client.list_tools()
                ids.append(await new_list(client))
    assert len(set(ids)) == 4


async def test_environments_do_not_see_each_other() -> None:
    async with hosting() as http:
        urls = [(await open_env(http))["url"] for _ in range(2)]
        ids: list[str] = []
        for url in urls:
            async with mcp(http, url) as client:
                await client.list_tools()
                ids.append(await new_list(client))
    assert ids[0] == ids[1]


async def test_whitelist_and_persona_reach_the_environment() -> None:
    body = {
        "domain": "travel",
        "references": HOTELS,
        "persona": {"persona_id": "tiny"},
        "allowed_tools": ["search_hotels"],
    }
    async with hosting() as http, mcp(http, (await open_env(http, body))["url"]) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["get_user_confirmation", "search_hotels"]


async def test_a_closed_environment_is_gone() -> None:
    async with hosting() as http:
        opened = await open_env(http)
        path = f"/admin/env/{opened['id']}"
        assert (await http.delete(path, headers=ADMIN)).status_code == 204
        again = await http.delete(path, headers=ADMIN)
        assert again.status_code == 404
        assert "error" in again.json()
        assert (await http.post(opened["url"], json={})).status_code == 404


@pytest.mark.parametrize("path", ["/env/unknown/mcp", "/env/unknown", "/env", "/env/", "/nowhere"])
async def test_what_is_not_there_is_404_in_json(path: str) -> None:
    async with hosting() as http:
        answer = await http.post(path, json={}, follow_redirects=True)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


async def test_the_cap_holds_until_one_is_closed() -> None:
    async with hosting(cap=1) as http:
        opened = await open_env(http)
        refused = await http.post("/admin/env", json=SHOP, headers=ADMIN)
        assert refused.status_code == 503
        assert "close one first" in refused.json()["error"]
        await http.delete(f"/admin/env/{opened['id']}", headers=ADMIN)
        assert await open_env(http)


async def test_an_environment_that_nobody_calls_is_closed_and_a_used_one_is_not() -> None:
    async with hosting(ttl=1) as http:
        idle, used = await open_env(http), await open_env(http)
        for _ in range(8):
            await anyio.sleep(0.2)
            assert (await http.post(used["url"], json={})).status_code != 404
        assert (await http.post(idle["url"], json={})).status_code == 404


@pytest.mark.parametrize(
    "given", ["", "Bearer wrong", "Bearer env-secret", "Basic admin-secret", "admin-secret"]
)
async def test_only_the_admin_token_opens_administration(given: str) -> None:
    headers = {"Authorization": given}
    async with hosting(environment_token="env-secret") as http:
        opened = await open_env(http)
        for answer in (
            await http.post("/admin/env", json=SHOP, headers=headers),
            await http.delete(f"/admin/env/{opened['id']}", headers=headers),
        ):
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert set(answer.json()) == {"error"}


async def test_only_the_environment_token_opens_environments_when_there_is_one() -> None:
    async with hosting(environment_token="env-secret") as http:
        url = (await open_env(http))["url"]
        assert (await http.post(url, json={})).status_code == 401
        assert (await http.post(url, json={}, headers=ADMIN)).status_code == 401
        http.headers["Authorization"] = "Bearer env-secret"
        async with mcp(http, url) as client:
            await client.list_tools()
            assert await new_list(client)


@pytest.mark.parametrize("path", ["/health", "/admin/env", "/env/unknown/mcp"])
async def test_foreign_hosts_and_origins_are_refused_everywhere(path: str) -> None:
    async with hosting() as http:
        host = await http.post(path, json={}, headers={"Host": "evil.example"})
        origin = await http.post(path, json={}, headers={"Origin": "http://evil.example"})
    assert (host.status_code, origin.status_code) == (421, 403)
    assert set(host.json()) == set(origin.json()) == {"error"}


async def test_an_allowed_name_may_be_called_with_and_without_port() -> None:
    async with hosting(allowed_hosts=["bench.example"]) as http:
        for name in ("bench.example", "bench.example:8765"):
            headers = {"Host": name, "Origin": f"https://{name}"}
            assert (await http.get("/health", headers=headers)).json() == {"status": "ok"}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "must be a JSON object"),
        (b'{"domain": "commerce", "references": [NaN]}', "finite"),
        (b'{"domain": "commerce", "references": [1e999]}', "finite"),
        (b'{"domain": "commerce", "references": ["\\ud800"]}', "surrogate"),
        (b'{"domain": "commerce", "references": ' + b"[" * 200 + b"]" * 200 + b"}", "nested"),
        (b'{"domain": "commerce"}', "references: is missing"),
        (b'{"domain": "commerce", "references": [{"id": "x"}]}', "references[0].type: is missing"),
        (b'{"domain": "commerce", "references": [], "rules": []}', "rules"),
        (b'{"domain": "comerce", "references": []}', "commerce"),
        (b'{"domain": "commerce", "references": [], "allowed_tools": ["plase_order"]}', "place_order"),
        (json.dumps(SHOP).replace("210.5", '"x"').encode(), "price"),
    ],
)
async def test_a_bad_request_is_400_and_says_what_is_wrong(body: bytes, complaint: str) -> None:
    async with hosting() as http:
        answer = await http.post("/admin/env", content=body, headers=ADMIN)
    assert answer.status_code == 400, answer.text
    assert complaint in answer.json()["error"]
    assert len(answer.json()["error"]) < 500


async def test_a_body_over_one_mebibyte_is_413() -> None:
    async with hosting() as http:
        answer = await http.post("/admin/env", content=b" " * (2**20 + 1), headers=ADMIN)
        assert answer.status_code == 413
        assert set(answer.json()) == {"error"}
        url = (await open_env(http))["url"]
        call = await http.post(
            url, content=_call('{"category": "' + "x" * 5_000_000 + '"}'), headers=_HEADERS
        )
        assert call.status_code == 413


@pytest.mark.parametrize(
    "arguments",
    [
        '{"budget": NaN}',
        '{"budget": 1e999}',
        r'{"category": "\ud800"}',
        '{"category": ' + "[" * 100 + "]" * 100 + "}",
        '{"category": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"category": "' + "x" * 2_000_000 + '"}',
        "[1]",
    ],
    ids=["nan", "infinity", "lone surrogate", "nested 100", "nested 5000", "2 MB", "a list"],
)
@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
async def test_arguments_that_do_not_fit_the_wire_are_refused_and_the_environment_lives(
    arguments: str, era: str
) -> None:
    async with hosting() as http:
        url = (await open_env(http))["url"]
        headers = {**_HEADERS, "MCP-Protocol-Version": era}
        if era == "2025-11-25":
            opened = await http.post(url, content=_INITIALIZE, headers=_HEADERS)
            headers["Mcp-Session-Id"] = opened.headers["Mcp-Session-Id"]
        else:
            headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "search_products"}
        answer = await http.post(url, content=_call(arguments, modern=era == "2026-07-28"), headers=headers)
        body = answer.json()
        assert "error" in body or body["result"]["isError"], body
        async with mcp(http, url) as client:
            assert (await client.list_tools()).tools


async def test_many_environments_open_and_close_without_a_rest() -> None:
    host = Host(ttl=3600, cap=64)
    app = create_app(host, admin_token="admin-secret")
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http,
    ):
        tasks = len(asyncio.all_tasks())
        for _ in range(2):
            opened = [await open_env(http) for _ in range(64)]
            for env in opened:
                assert (await http.delete(f"/admin/env/{env['id']}", headers=ADMIN)).status_code == 204
        assert len(asyncio.all_tasks()) == tasks


@pytest.mark.parametrize("era", ERAS)
async def test_a_grader_sees_the_state_and_every_call(era: str) -> None:
    async with hosting() as http:
        first, second = await open_env(http), await open_env(http)
        async with mcp(http, first["url"], era) as client:
            await client.list_tools()
            await client.call_tool("build_shopping_list", {"items": ["tea"]})
            await client.call_tool("place_order", {"product_id": "nope", "quantity": 1})
            await client.call_tool("brew", {})
        state = (await http.get(f"/admin/env/{first['id']}/state", headers=ADMIN)).json()
        history = (await http.get(f"/admin/env/{first['id']}/calls", headers=ADMIN)).json()
        untouched = (await http.get(f"/admin/env/{second['id']}/calls", headers=ADMIN)).json()
    assert state["domain"] == "commerce"
    assert state["tables"]["shopping_lists"]["LIST_001"]["items"] == ["tea"]
    assert state["tables"]["orders"] == {}
    calls = history["calls"]
    assert [(c["number"], c["tool"], c["is_error"]) for c in calls] == [
        (1, "build_shopping_list", False),
        (2, "place_order", True),
        (3, "brew", True),
    ]
    assert calls[0]["arguments"] == {"items": ["tea"]}
    assert json.loads(calls[0]["result"]) == {"list_id": "LIST_001", "item_count": 1}
    assert "nope" in json.loads(calls[1]["result"])["error"]
    assert all(call["seconds"] >= 0 for call in calls)
    assert history["dropped"] == 0
    assert untouched == {"calls": [], "dropped": 0}


@pytest.mark.parametrize("what", ["state", "calls"])
async def test_what_happened_is_told_to_the_administrator_alone_and_only_while_it_is_open(what: str) -> None:
    async with hosting(environment_token="env-secret") as http:
        env = await open_env(http)
        path = f"/admin/env/{env['id']}/{what}"
        assert (await http.get(path)).status_code == 401
        assert (await http.get(path, headers={"Authorization": "Bearer env-secret"})).status_code == 401
        assert (await http.get(path, headers=ADMIN)).status_code == 200
        assert (await http.get(f"/admin/env/x/{what}", headers=ADMIN)).status_code == 404
        await http.delete(f"/admin/env/{env['id']}", headers=ADMIN)
        assert (await http.get(path, headers=ADMIN)).status_code == 404


async def test_a_call_that_no_wire_can_carry_does_not_spoil_the_history() -> None:
    async with hosting() as http:
        env = await open_env(http)
        headers = {**_HEADERS, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}
        for arguments in ('{"category": NaN}', '{"category": "\\ud800"}', '{"category": "tea"}'):
            sent = {**headers, "Mcp-Name": "search_products"}
            await http.post(env["url"], content=_call(arguments, modern=True), headers=sent)
        answer = await http.get(f"/admin/env/{env['id']}/calls", headers=ADMIN)
    assert answer.status_code == 200
    last = answer.json()["calls"][-1]
    assert (last["arguments"], last["is_error"]) == ({"category": "tea"}, False)


async def test_of_more_calls_than_are_kept_the_oldest_go() -> None:
    history = CallHistory(keep=2)
    server = serve_environment(Environment.build("commerce", PRODUCTS))
    server.middleware.append(history.record)
    async with Client(server) as client:
        for category in ("a", "b", "c"):
            await client.call_tool("search_products", {"category": category})
    told = history.document()
    assert [call["number"] for call in told["calls"]] == [2, 3]
    assert told["dropped"] == 1


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.2", False),
        ("bench.example", False),
    ],
)
def test_loopback_is_told_from_the_rest(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_CLIENT = {"name": "test", "version": "1"}
_INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT},
    }
)
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _call(arguments: str, *, modern: bool = False) -> str:
    meta = f', "_meta": {json.dumps(_META)}' if modern else ""
    params = f'{{"name": "search_products", "arguments": {arguments}{meta}}}'
    return f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'
