"""What `atr-server serve` over stdio imports, and what it leaves for whoever needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SLOW = ("httpx2", "jsonschema", "mcp.client", "mcp.server.mcpserver", "rich", "starlette", "uvicorn")


def printed(script: str, *arguments: object) -> list[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return ended.stdout.split()


@pytest.mark.parametrize("state", [False, True])
def test_serving_over_stdio_imports_no_slow_module(tmp_path: Path, state: bool) -> None:
    references = tmp_path / "references.json"
    references.write_text("[]")
    keeping = ["--state", tmp_path / "state.json"] if state else []
    script = (
        "import sys; from atr_servers.cli.app import main\n"
        "try: main(['serve', 'commerce', '--references', *sys.argv[1:]])\n"
        f"except SystemExit: print('served', *sorted(set({SLOW}) & set(sys.modules)))"
    )
    assert printed(script, references, *keeping) == ["served"]


def test_what_was_left_out_is_there_when_it_is_needed() -> None:
    script = (
        "import sys; from atr_servers.hosts.light_imports import light_imports\n"
        "with light_imports(): import atr_servers.server\n"
        "print('mcp.client' in sys.modules)\n"
        "import mcp, mcp.server, starlette.applications, rich\n"
        "for kind in (mcp.Client, mcp.server.MCPServer, starlette.applications.Starlette):\n"
        "    print(kind.__module__)\n"
        "print(mcp.server.Server is atr_servers.server.Server)"
    )
    assert printed(script) == [
        "False",
        "mcp.client.client",
        "mcp.server.mcpserver.server",
        "starlette.applications",
        "True",
    ]


def test_where_the_sdk_is_there_already_nothing_is_left_out() -> None:
    script = (
        "import mcp; from atr_servers.hosts.light_imports import light_imports\n"
        "with light_imports(): import rich\n"
        "print('imported')"
    )
    assert printed(script) == ["imported"]
