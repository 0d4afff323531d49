"""A session's tools in the loop of the OpenAI Agents SDK: one server process, so one state, for a run."""

# pyright: reportMissingImports=false

import asyncio
import sys

from agents import Agent, Runner
from agents.mcp import MCPServerStdio

SESSION = ["--episode", "odalys_renner", "--session", "odalys_renner_commerce_01_test"]
ATR = {"command": "atr-server", "args": ["serve", *SESSION]}


async def main(prompt: str) -> None:
    async with MCPServerStdio(ATR, client_session_timeout_seconds=60) as server:
        agent = Agent(name="assistant", model="gpt-5.4", mcp_servers=[server])
        print((await Runner.run(agent, prompt)).final_output)


asyncio.run(main(sys.argv[1]))
