"""A session's tools in an agent of Pydantic AI: all runs inside `async with` share one server process."""

# pyright: reportMissingImports=false

import asyncio
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset

SESSION = ["--episode", "odalys_renner", "--session", "odalys_renner_commerce_01_test"]


async def main(prompt: str) -> None:
    tools = MCPToolset(StdioTransport("atr-server", ["serve", *SESSION]), tool_error_behavior="failed")
    async with Agent("openai-responses:gpt-5.4", toolsets=[tools]) as agent:
        print((await agent.run(prompt)).output)


asyncio.run(main(sys.argv[1]))
