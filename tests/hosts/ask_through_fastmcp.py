"""An agent on the client of FastMCP whose person answers for the user.

`python ask_through_fastmcp.py COMMAND...`: the command is a gateway over standard input and output. Prints
what the person was asked and what the agent heard, as JSON.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

SAYS = "Whatever arrives first."


async def main(command: str, *arguments: str) -> None:
    asked: list[str] = []

    async def person(message: str, response_type: Any, params: Any, context: Any) -> dict[str, Any]:
        asked.append(message)
        return {"text": SAYS, "ends": len(asked) > 1}

    async with Client(StdioTransport(command, list(arguments)), elicitation_handler=person) as client:

        async def call(name: str, **given: Any) -> list[Any]:
            result = await client.call_tool(name, given, raise_on_error=False)
            return [json.loads(block.text) for block in result.content]

        await call("start_episode")
        await call("next_session")
        heard = [await call("send_to_user", output=f"Question {n}?", reason="to know") for n in range(2)]
    print(json.dumps({"asked": asked, "heard": heard}))


asyncio.run(main(*sys.argv[1:]))
