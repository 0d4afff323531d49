"""Configuration blocks that make an MCP client start an environment's server."""

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
    "codex": 'append to ~/.codex/config.toml; for `codex exec` add: default_tools_approval_mode = "approve"',
    "gemini": "merge into .gemini/settings.json of a trusted folder",
    "generic": "the process to start; it speaks MCP on its standard input and output",
}


def server_command() -> list[str]:
    """The installed `atr-server` script as an absolute path, or how to run it without one."""
    script = Path(sysconfig.get_path("scripts")) / "atr-server"
    return [str(script)] if script.exists() else [sys.executable, "-m", "atr_servers.cli"]


def client_config(client: str, name: str, command: Sequence[str]) -> str:
    """The block for one of CLIENTS: TOML for codex, else JSON. `name` is what the client calls the server."""
    entry: dict[str, Any] = {"command": command[0], "args": list(command[1:])}
    match client:
        case "codex":
            lines = [
                f"[mcp_servers.{name}]",
                *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()),
            ]
            return "\n".join(lines)
        case "generic":
            return json.dumps({**entry, "env": {}}, indent=2)
        case "claude-code":
            return json.dumps({"mcpServers": {name: {"type": "stdio", **entry}}}, indent=2)
        case _:
            return json.dumps({"mcpServers": {name: entry}}, indent=2)
