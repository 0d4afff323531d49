"""Configuration blocks that make an MCP client use an environment's server."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CLIENTS = ("claude-desktop", "claude-code", "codex", "gemini", "generic")

HINTS = {
    "claude-desktop": "merge into claude_desktop_config.json (Settings > Developer > Edit Config), restart",
    "claude-code": "save as .mcp.json in the project, or pass it with --mcp-config FILE --strict-mcp-config",
    "codex": "append to ~/.codex/config.toml",
    "gemini": "merge into .gemini/settings.json of a trusted folder",
    "generic": "the server to use; a command speaks MCP on its standard input and output",
}

NO_URL = "claude_desktop_config.json takes commands alone; use the block of a command"

_CODEX = {"required": True, "default_tools_approval_mode": "approve"}
"""Without the first Codex starts before the server has listed its tools, without the second it refuses calls
that change something when nobody is there to be asked."""


def server_command() -> list[str]:
    """The installed `atr-server` script as an absolute path, or how to run it without one."""
    script = Path(sysconfig.get_path("scripts")) / "atr-server"
    return [str(script)] if script.exists() else [sys.executable, "-m", "atr_servers.cli"]


def command_block(client: str, name: str, command: Sequence[str]) -> str:
    """The block with which one of CLIENTS starts the server: TOML for codex, else JSON. `name` is what the
    client calls the server."""
    entry: dict[str, Any] = {"command": command[0], "args": list(command[1:])}
    match client:
        case "codex":
            return _toml(name, entry)
        case "generic":
            return json.dumps({**entry, "env": {}}, indent=2)
        case "claude-code":
            return _json(name, {"type": "stdio", **entry})
        case _:
            return _json(name, entry)


def address_block(client: str, name: str, url: str, token_env: str | None = None) -> str:
    """The block with which one of CLIENTS uses a server that runs already; Claude Desktop has none.

    `token_env` names the environment variable that holds the token for `/env`. Raises ValueError.
    """
    match client:
        case "codex":
            token = {"bearer_token_env_var": token_env} if token_env else {}
            return _toml(name, {"url": url, **token})
        case "claude-code":
            return _json(name, {"type": "http", "url": url, **_headers(token_env, f"${{{token_env}}}")})
        case "gemini":
            return _json(name, {"httpUrl": url, **_headers(token_env, f"${token_env}")})
        case "generic":
            return json.dumps({"type": "http", "url": url, **_headers(token_env, f"<{token_env}>")}, indent=2)
        case _:
            raise ValueError(NO_URL)


def _headers(token_env: str | None, token: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {token}"}} if token_env else {}


def _json(name: str, entry: dict[str, Any]) -> str:
    return json.dumps({"mcpServers": {name: entry}}, indent=2)


def _toml(name: str, entry: dict[str, Any]) -> str:
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in {**entry, **_CODEX}.items())
    return "\n".join((f"[mcp_servers.{name}]", *lines))
