"""Time of one tool call in process, over stdio and over HTTP, in both protocol eras, and in process of a bare
server on the SDK that gives the same answers.

python tests/benchmarks/bench_calls.py [CALLS]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel.server import Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent

from atr_servers import build_server
from atr_servers.environment import Environment
from atr_servers.server import describe_tool

PRODUCTS: list[dict[str, Any]] = [
    {"id": f"prod_{i}", "type": "product", "attributes": {"name": f"Product {i}", "price": i}}
    for i in range(20)
]
CALLS = {
    "read": ("search_products", {"budget": 4}),
    "write": ("place_order", {"product_id": "prod_1", "quantity": 1}),
}
SERVE = ("-m", "atr_servers.cli", "serve", "commerce", "--references")


def bare_server() -> Server[Any]:
    """The same listing and the same answers, ready-made."""
    environment = Environment.build("commerce", PRODUCTS)
    texts = {name: json.dumps(environment.call(name, given).content) for name, given in CALLS.values()}
    listing = ListToolsResult(tools=[describe_tool(tool) for tool in environment.tools])

    async def list_tools(context: object, params: object) -> ListToolsResult:
        return listing

    async def call_tool(context: object, params: CallToolRequestParams) -> CallToolResult:
        text = texts[params.name]
        return CallToolResult(
            content=[TextContent(type="text", text=text)], structured_content=json.loads(text)
        )

    return Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)


async def measure(label: str, target: Any, calls: int) -> None:
    for era in ("auto", "legacy"):
        began = time.perf_counter()
        async with Client(target, mode=era) as client:
            await client.list_tools()
            opened = time.perf_counter() - began
            medians = {kind: await _median(client, call, calls) for kind, call in CALLS.items()}
        times = "  ".join(f"{kind} {value * 1000:6.3f} ms" for kind, value in medians.items())
        print(f"{label:<18} {era:<7} {times}  (connect and list {opened * 1000:7.1f} ms)")


async def _median(client: Client, call: tuple[str, dict[str, Any]], calls: int) -> float:
    name, arguments = call
    seconds: list[float] = []
    for _ in range(calls):
        began = time.perf_counter()
        result = await client.call_tool(name, arguments)
        seconds.append(time.perf_counter() - began)
        if result.is_error:
            raise RuntimeError(f"{name} failed: {result.content}")
    return median(seconds)


@contextmanager
def http_url(references: Path) -> Generator[str]:
    command = [sys.executable, *SERVE, str(references), "--http", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        try:
            assert host.stdout is not None
            yield json.loads(host.stdout.readline())["environments"][0]["url"]
        finally:
            host.terminate()


async def main(calls: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        references = Path(folder) / "references.json"
        references.write_text(json.dumps(PRODUCTS))
        arguments = [*SERVE, str(references)]
        state = [*arguments, "--state", str(Path(folder) / "state.json")]
        await measure("bare SDK server", bare_server(), calls)
        await measure("in process", build_server("commerce", PRODUCTS), calls)
        await measure("stdio", StdioServerParameters(command=sys.executable, args=arguments), calls)
        await measure("stdio with --state", StdioServerParameters(command=sys.executable, args=state), calls)
        with http_url(references) as url:
            await measure("http", url, calls)


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 300)
