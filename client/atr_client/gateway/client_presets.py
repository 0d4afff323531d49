"""How a program is called so that it plays a session: arguments, configuration files, variables."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from atr_client.gateway.control_tools import instruction_text
from atr_client.sweep.commands import PASSED, CommandSpec

SERVER = "atr"
"""What clients call the gateway."""

INSTRUCTIONS, CONFIG = "INSTRUCTIONS.md", "mcp.json"
PASSING = "tmp"
"""Below an agent's folder, for files that are not meant to last."""
_ALWAYS = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT")
_GEMINI_OWN = """
run_shell_command read_file read_many_files write_file replace glob grep_search list_directory web_fetch
google_web_search save_memory write_todos
""".split()
"""Tools of Gemini CLI's own that reach beyond the session; there is no switch for all."""
_GEMINI_FILES = frozenset(
    "read_file read_many_files write_file replace glob list_directory save_memory".split()
)
_CLAUDE_FILES = ("Read", "Write", "Edit", "Glob", "Grep")

_FOLLOW = "Follow these instructions."


@dataclass(frozen=True, slots=True)
class Invocation:
    """`arguments` with the program first; `standard_input` is what it reads."""

    arguments: list[str]
    environment: dict[str, str]
    standard_input: str
    folder: Path
    home: Path = field(kw_only=True)


def instructions_for(system: str, opening: str, *, home: bool = False) -> str:
    """A session's instructions as one text; `home`: the program is told that its files stay."""
    tools = f"Your tools are those of the MCP server `{SERVER}`. {instruction_text('handed_session')}"
    if home:
        tools = f"{tools}\n\n{instruction_text('home')}"
    return f"{system}\n\n{tools}\n\nThe user says:\n\n{opening}\n"


def prepared(
    spec: CommandSpec, url: str, instructions: str, folder: Path, *, home: bool = False
) -> Invocation:
    """Writes what the program needs into `folder`, which is its own, and says how it is called. `home`: it
    may use its own tools for files, which are its memory."""
    work, its_home, passing = folder / "work", folder / "home", folder / PASSING
    for place in (work, its_home, passing):
        place.mkdir(exist_ok=True)
    (work / INSTRUCTIONS).write_text(instructions, encoding="utf-8")
    config = {"mcpServers": {SERVER: {"type": "http", "url": url}}}
    (work / CONFIG).write_text(json.dumps(config, indent=2), encoding="utf-8")
    passed = (*_ALWAYS, *PASSED[spec.preset], *spec.passed)
    environment = {name: os.environ[name] for name in passed if name in os.environ}
    environment |= {"HOME": str(its_home), "TMPDIR": str(passing), **spec.environment}
    arguments = _arguments(spec, url, work, home=home)
    if spec.preset == "gemini":
        _write_gemini_settings(work, url, home=home)
        environment.setdefault("GEMINI_CLI_TRUST_WORKSPACE", "true")
    arguments[0] = shutil.which(arguments[0], path=os.environ.get("PATH")) or arguments[0]
    return Invocation(arguments, environment, instructions, work, home=its_home)


def _arguments(spec: CommandSpec, url: str, work: Path, *, home: bool) -> list[str]:
    command = list(spec.command)
    match spec.preset:
        case "claude":
            own = _CLAUDE_FILES if home else ()
            return [
                *command,
                *("-p", *([] if home else ["--bare"])),
                *("--mcp-config", str(work / CONFIG), "--strict-mcp-config"),
                *("--allowedTools", ",".join([f"mcp__{SERVER}__*", *own]), "--tools", ",".join(own)),
                *("--output-format", "json"),
            ]
        case "codex":
            server = f'{{url={json.dumps(url)},required=true,default_tools_approval_mode="approve"}}'
            return [
                *command,
                *("exec", "--json", *([] if home else ["--ephemeral"]), "--skip-git-repo-check"),
                *("-s", "workspace-write" if home else "read-only"),
                *("-c", f"features.shell_tool={str(home).lower()}", "-c", 'web_search="disabled"'),
                *("-c", f"mcp_servers.{SERVER}={server}", "-"),
            ]
        case "gemini":
            return [
                *command,
                *("-p", _FOLLOW, "--approval-mode", "yolo", "--allowed-mcp-server-names", SERVER),
                *("-o", "json"),
            ]
        case "plain":
            given = {
                "{url}": url,
                "{instructions}": str(work / INSTRUCTIONS),
                "{config}": str(work / CONFIG),
            }
            return [_filled(argument, given) for argument in command]


def _filled(argument: str, given: Mapping[str, str]) -> str:
    for name, value in given.items():
        argument = argument.replace(name, value)
    return argument


def _write_gemini_settings(work: Path, url: str, *, home: bool) -> None:
    settings = {
        "mcpServers": {SERVER: {"httpUrl": url, "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "tools": {"exclude": [name for name in _GEMINI_OWN if not home or name not in _GEMINI_FILES]},
    }
    (work / ".gemini").mkdir(exist_ok=True)
    (work / ".gemini" / "settings.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")
