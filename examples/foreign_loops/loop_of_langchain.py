"""A session's tools in an agent of LangChain, over one connection; by itself each call has its own."""

# pyright: reportMissingImports=false

import asyncio
import sys

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

SESSION = ["--episode", "odalys_renner", "--session", "odalys_renner_commerce_01_test"]
ATR = {"transport": "stdio", "command": "atr-server", "args": ["serve", *SESSION]}


async def main(prompt: str) -> None:
    async with MultiServerMCPClient({"atr": ATR}).session("atr") as session:
        model = init_chat_model("openai:gpt-5.4", use_responses_api=True)
        agent = create_agent(model, await load_mcp_tools(session))
        state = await agent.ainvoke({"messages": [("user", prompt)]})
        print(state["messages"][-1].text)


asyncio.run(main(sys.argv[1]))
