"""Drive one domain server as any MCP client does: list its tools, look something up, change something.

python examples/drive_a_domain_server.py
"""

from __future__ import annotations

import anyio
from mcp import Client

from atr_data.episode import Reference
from atr_servers import build_server

STOOLS = {"prd_1": ("Oak stool", 60), "prd_2": ("Ash stool", 45)}
SHELF = [
    Reference(id=key, type="product", attributes={"name": name, "price": price, "category": "stools"})
    for key, (name, price) in STOOLS.items()
]


async def main() -> None:
    async with Client(build_server("commerce", SHELF)) as client:
        tools = (await client.list_tools()).tools
        print(len(tools), "tools, among them", *sorted(tool.name for tool in tools)[:3])
        found = await client.call_tool("search_products", {"category": "stools", "sort_by": "price_asc"})
        print(found.structured_content)
        ordered = await client.call_tool("place_order", {"product_id": "prd_2", "quantity": 1})
        print(ordered.structured_content)
        refused = await client.call_tool("place_order", {"product_id": "prd_9", "quantity": 1})
        print("refused:", refused.is_error, refused.structured_content)


if __name__ == "__main__":
    anyio.run(main)
