"""The configuration blocks are valid, say what to start, and what they start works."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from atr_servers.cli.app import main
from atr_servers.cli.client_config import CLIENTS
from tests.support.tiny_episode import write_episode


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["config", *map(str, arguments)])
    printed = capsys.readouterr()
    assert ended.value.code == 0, printed.err
    return printed.out, printed.err


def _printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    return _run(capsys, *arguments)[0]


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
    async with Client(stdio_client(server)) as client:
        assert (await client.list_tools()).tools[1].name == "search_hotels"


URL = "http://127.0.0.1:8765/env/Ab-1_x/mcp"
CODEX = {"required": True, "default_tools_approval_mode": "approve"}


@pytest.mark.parametrize(
    ("client", "entry", "token"),
    [
        ("claude-code", {"type": "http", "url": URL}, {"headers": {"Authorization": "Bearer ${TOKEN}"}}),
        ("codex", {"url": URL, **CODEX}, {"bearer_token_env_var": "TOKEN"}),
        ("gemini", {"httpUrl": URL}, {"headers": {"Authorization": "Bearer $TOKEN"}}),
        ("generic", {"type": "http", "url": URL}, {"headers": {"Authorization": "Bearer <TOKEN>"}}),
    ],
)
def test_every_client_with_addresses_has_a_block_for_one(
    client: str, entry: dict[str, Any], token: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _entry(client, _printed(capsys, client, "--url", URL)) == entry
    guarded = _printed(capsys, client, "--url", URL, "--token-env", "TOKEN", "--name", "shop")
    assert _entry(client, guarded, "shop") == entry | token


@pytest.mark.parametrize("client", CLIENTS)
def test_the_block_of_a_command_comes_with_the_form_for_an_address(
    client: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = _run(capsys, client, "--episode", write_episode(tmp_path), "--session", "tiny_shop_test")
    assert "http" not in out
    form = {"codex": "url =", "gemini": '"httpUrl":', "claude-desktop": "commands alone"}
    assert form.get(client, '"type": "http"') in err.partition("over HTTP")[2]


def test_the_codex_block_waits_for_the_server_and_lets_its_tools_be_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = _printed(capsys, "codex", "--episode", write_episode(tmp_path), "--session", "tiny_shop_test")
    entry = _entry("codex", text)
    assert {key: entry[key] for key in CODEX} == CODEX


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
