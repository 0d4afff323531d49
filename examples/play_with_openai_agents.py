"""An agent on the OpenAI Agents SDK that the benchmark starts for each session. The entry of a configuration:

models:
- id: cmd/openai-agents
  command: [python, /path/to/play_with_openai_agents.py, gpt-5.4, "{url}"]
  pass_environment: [OPENAI_API_KEY, OPENAI_BASE_URL]
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
import sys

from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp


async def main(model: str, url: str) -> None:
    """The session's own limits end it, and a user may take longer to answer than the SDK would wait."""
    set_tracing_disabled(True)
    async with MCPServerStreamableHttp({"url": url}, client_session_timeout_seconds=600) as tools:
        agent = Agent(name="assistant", model=model, mcp_servers=[tools])
        await Runner.run(agent, sys.stdin.read(), max_turns=1000)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
