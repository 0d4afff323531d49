"""A program that plays a session as a command-line agent does; `sys.argv[1]` says how it behaves."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import cast

import anyio
from mcp import Client
from mcp.types import Implementation

from atr_client.agents import OFFLINE_MODELS
from atr_client.models.base import AgentModel, ToolSpec
from atr_data.trajectory import Message
from tests.support.mcp_player import McpPlayer

LISTS_ONCE = Implementation(name="codex-mcp-client", version="0")
"""The name of a client that a gateway shows every tool of every session, where they change."""


async def play(url: str, text: str) -> None:
    """The instructions carry what an agent reads: system prompt, a word on the tools, what the user says."""
    system, _, rest = text.partition("\n\nYour tools are those of the MCP server")
    _, _, opening = rest.partition("The user says:\n\n")
    messages = [
        Message(role="system", content=system),
        Message(role="user", content=opening.removesuffix("\n"), turn_idx=1),
    ]
    async with Client(url, client_info=LISTS_ONCE, mode="legacy") as client:
        player = McpPlayer(client, cast(AgentModel, OFFLINE_MODELS["offline/asker"].model()))
        tools: list[ToolSpec] = await player.tools()
        while not await player.take_turn(messages, tools):
            pass


async def one_call(url: str) -> None:
    async with Client(url) as client:
        await client.list_tools()
        await client.call_tool("get_user_confirmation", {"target_tool": "x", "target_params": {}})


async def only_lists(url: str) -> None:
    async with Client(url) as client:
        await client.list_tools()


def everything_within_reach() -> str:
    """What lies in the working folder, the home and the environment."""
    seen = [json.dumps(dict(os.environ))]
    for folder in (Path.cwd(), Path.home(), Path.cwd().parent):
        seen += [path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()]
    return "\n".join(seen)


def main() -> None:
    behaviour, url = sys.argv[1], json.loads(Path("mcp.json").read_text())["mcpServers"]["atr"]["url"]
    text = sys.stdin.read()
    match behaviour:
        case "plays":
            anyio.run(play, url, text)
        case "looks around":
            print(everything_within_reach())
            anyio.run(play, url, text)
        case "keeps a diary":
            diary = Path.home() / ".agent" / "diary.md"
            diary.parent.mkdir(exist_ok=True)
            before = diary.read_text() if diary.exists() else ""
            print(json.dumps({"diary": before, "told": "stays there" in text}))
            diary.write_text(f"{before}again\n")
            anyio.run(play, url, text)
        case "leaves early":
            anyio.run(one_call, url)
        case "only lists":
            anyio.run(only_lists, url)
        case "does nothing":
            pass
        case "fails":
            anyio.run(one_call, url)
            sys.exit("out of cheese")
        case "fails on standard output":
            anyio.run(one_call, url)
            print("no credit")
            sys.exit(3)
        case "sleeps":
            anyio.run(anyio.sleep, 3600)
        case "hangs":
            anyio.run(one_call, url)
            anyio.run(anyio.sleep, 3600)
        case "is refused":
            anyio.run(one_call, url)
            print(json.dumps({"permission_denials": [{"tool_name": "mcp__atr__place_order"}]}))
        case _:
            raise ValueError(behaviour)


main()
