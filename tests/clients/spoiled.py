"""Starts a client as the harness does, with one thing spoiled: `python spoiled.py WHAT CLIENT ARGUMENT...`.

`unreachable`: the gateway's address leads nowhere. `half approved`: of some tools alone, the one that
ends the session among them. `unapproved`: nobody has approved of its tools, or of
the folder in which it stands.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

CHANGES: dict[str, list[tuple[str, str]]] = {
    "nothing": [],
    "unreachable": [(r"http://127\.0\.0\.1:\d+/play/", "http://127.0.0.1:9/play/")],
    "half approved": [
        (r"^mcp__atr__\*$", "mcp__atr__search_products,mcp__atr__finish_session"),
        (r"default_tools_approval_mode", "enabled=true,default_tools_approval_mode"),
        (r'approval_mode="approve"', 'approval_mode="auto"'),
    ],
    "unapproved": [
        (r"^mcp__atr__\*$", "Nothing"),
        (r'approval_mode="approve"', 'approval_mode="prompt"'),
    ],
}
POLICY = Path(".gemini", "policies", "half.toml")
"""Below the home: what Gemini CLI asks a person about, whatever its mode. Nobody is there."""
ASK = """
[[rule]]
toolName = "mcp_atr_get_user_confirmation"
decision = "ask_user"
priority = 999
"""
FILES = ("mcp.json", ".gemini/settings.json")


def changed(text: str, what: str) -> str:
    for pattern, replacement in CHANGES[what]:
        text = re.sub(pattern, replacement, text)
    return text


def main(what: str, *command: str) -> None:
    if what == "unapproved":
        os.environ["GEMINI_CLI_TRUST_WORKSPACE"] = "false"
    if what == "half approved":
        policy = Path.home() / POLICY
        policy.parent.mkdir(parents=True, exist_ok=True)
        policy.write_text(ASK, encoding="utf-8")
    for file in map(Path, FILES):
        if file.exists():
            file.write_text(changed(file.read_text(encoding="utf-8"), what), encoding="utf-8")
    arguments = [command[0], *(changed(argument, what) for argument in command[1:])]
    os.execv(arguments[0], arguments)


main(*sys.argv[1:])
