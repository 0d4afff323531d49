"""The blocks that docs/your_agent.md gives for programs that need a person before them: what a program would
start is started, as it stands there but for the paths."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from atr_client.cli.app import cli
from tests.conftest import ROOT

DOCUMENT = (ROOT / "docs" / "your_agent.md").read_text(encoding="utf-8")
SERVERS = [
    json.loads(block)["mcpServers"]["atr"] for block in re.findall(r"```json\n(.*?)```", DOCUMENT, re.S)
]
COMMANDS = {
    server["args"][server["args"].index("--agent") + 1]: server for server in SERVERS if "args" in server
}
PATHS = {"/path/to/.venv/bin": str(Path(sys.executable).parent)}


def started(server: dict[str, Any], results: Path) -> StdioServerParameters:
    def filled(text: str) -> str:
        for written, meant in (PATHS | {"/path/to/results": str(results)}).items():
            text = text.replace(written, meant)
        return text

    assert server.keys() == {"command", "args"}
    return StdioServerParameters(
        command=filled(server["command"]), args=[filled(argument) for argument in server["args"]], cwd="/"
    )


@pytest.mark.parametrize("name", ["claude-desktop", "cursor"])
async def test_the_block_starts_a_gateway_that_plays(name: str, tmp_path: Path) -> None:
    async with Client(stdio_client(started(COMMANDS[name], tmp_path)), mode="legacy") as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert {"start_episode", "next_session", "send_to_user", "finish_session", "place_order"} <= listed
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["episode"]
        assert not (await client.call_tool("start_episode", {})).is_error
        assert not (await client.call_tool("next_session", {})).is_error
    assert played_by(tmp_path) == [name]


def played_by(results: Path) -> list[str]:
    manifests = results.rglob("cell_manifest.json")
    return [json.loads(path.read_text(encoding="utf-8"))["model"] for path in manifests]


def test_the_block_of_an_address_names_the_port_and_path_of_the_command() -> None:
    (address,) = [server["url"] for server in SERVERS if "url" in server]
    play = cli.get_command(None, "play")  # pyright: ignore[reportArgumentType]
    assert play
    (port,) = [param.default for param in play.params if param.name == "port"]
    assert address == f"http://127.0.0.1:{port}/play/ADDRESS/mcp"


def test_every_block_is_run() -> None:
    assert COMMANDS.keys() == {"claude-desktop", "cursor"}
    assert len(SERVERS) == len(COMMANDS) + 1
