"""The configuration blocks are valid, say what to start, and what they start works."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from atr_servers.cli.app import main
from atr_servers.cli.client_config import CLIENTS
from tests.support.tiny_episode import write_episode


def _printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["config", *map(str, arguments)])
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    return printed.out


def _entry(client: str, text: str, name: str = "atr") -> dict[str, Any]:
    """The server's entry, from where this client looks for it."""
    if client == "codex":
        return tomllib.loads(text)["mcp_servers"][name]
    block = json.loads(text)
    return block if client == "generic" else block["mcpServers"][name]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_block_names_the_same_command_with_absolute_paths(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    episode = write_episode(tmp_path)
    monkeypatch.chdir(tmp_path)
    session = ("--session", "tiny_shop_test", "--state", "a b'ü\"\\.json")
    entry = _entry(client, _printed(capsys, client, "--episode", episode.name, *session))
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-6:] == [
        *("--episode", str(episode)),
        *("--session", "tiny_shop_test"),
        *("--state", str(tmp_path / "a b'ü\"\\.json")),
    ]


async def test_the_command_of_a_block_starts_the_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episode = write_episode(tmp_path)
    text = _printed(capsys, "codex", "--episode", episode, "--session", "tiny_trip_test", "--name", "trip")
    entry = _entry("codex", text, "trip")
    server = StdioServerParameters(command=entry["command"], args=entry["args"], cwd="/")
    async with Client(server) as client:
        assert (await client.list_tools()).tools[1].name == "search_hotels"


@pytest.mark.parametrize("name", ["", "a b", "x" * 19, "a.b", 'a"b'])
def test_a_name_that_some_client_cannot_use_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episode = write_episode(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["config", "generic", "--episode", str(episode), "--session", "tiny_s00", "--name", name])
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert printed.out == ""
    assert printed.err.startswith("error: --name")
