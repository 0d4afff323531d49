"""An agent on Pydantic AI that the benchmark starts for each session. The entry of a configuration:

models:
- id: cmd/pydantic-ai
  command: [python, /path/to/play_with_pydantic_ai.py, "openai-responses:gpt-5.4", "{url}"]
  pass_environment: [OPENAI_API_KEY, OPENAI_BASE_URL]
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.usage import UsageLimits


async def main(model: str, url: str) -> None:
    """A refused call is a result here, not a fault of the agent; the session's own limits end it."""
    tools = MCPToolset(url, tool_error_behavior="failed")
    async with Agent(model, toolsets=[tools], retries=100) as agent:
        await agent.run(sys.stdin.read(), usage_limits=UsageLimits(request_limit=None))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
