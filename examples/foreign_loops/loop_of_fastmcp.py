"""A session's tools through the client of FastMCP, in a loop of your own: one process for all calls."""

# pyright: reportMissingImports=false

import asyncio

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

SESSION = ["--episode", "odalys_renner", "--session", "odalys_renner_commerce_01_test"]


async def main() -> None:
    async with Client(StdioTransport("atr-server", ["serve", *SESSION])) as client:
        print(len(await client.list_tools()), "tools")
        for items in (["tea"], ["salt", "rice"]):
            made = await client.call_tool("build_shopping_list", {"items": items})
            print(made.structured_content)


asyncio.run(main())
