"""What a client tells of calls that it did not let through: nobody was there to approve of them.

A model whose calls are refused by its own client was not tested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from atr_client.gateway.client_presets import SERVER
from atr_client.sweep.commands import Preset

_MOST_TOLD = 500
_REFUSED = re.compile(r"approv|reject|cancel|denied", re.I)
_GEMINI_REFUSED = re.compile(
    rf"^Error executing tool (mcp_{SERVER}_\w+): .*(?:requires user confirmation|denied by policy)",
    re.M | re.I,
)


def refused_calls(preset: Preset, output: str, errors: str) -> str | None:
    """Which of the gateway's tools were refused, by what the program wrote to standard output and error; None
    when there are none or the program does not say."""
    match preset:
        case "claude":
            found = _of_claude(output)
        case "codex":
            found = _of_codex(output)
        case "gemini":
            found = [*_of_gemini(output), *_GEMINI_REFUSED.findall(errors)]
        case "plain":
            return None
    return "; ".join(dict.fromkeys(found))[:_MOST_TOLD] or None


def _of_claude(output: str) -> Iterator[str]:
    for denied in _objects(_document(output).get("permission_denials")):
        if str(denied.get("tool_name")).startswith(f"mcp__{SERVER}__"):
            yield str(denied["tool_name"])


def _of_codex(output: str) -> Iterator[str]:
    for line in output.splitlines():
        item = _mapping(_document(line).get("item"))
        message = str(_mapping(item.get("error")).get("message", ""))
        if item.get("type") == "mcp_tool_call" and item.get("server") == SERVER and _REFUSED.search(message):
            yield f"{item.get('tool')} ({message})"


def _of_gemini(output: str) -> Iterator[str]:
    tools = _mapping(_mapping(_document(output).get("stats")).get("tools"))
    for name, told in _mapping(tools.get("byName")).items():
        if name.startswith(f"mcp_{SERVER}_") and _mapping(_mapping(told).get("decisions")).get("reject"):
            yield name


def _document(text: str) -> dict[str, Any]:
    """The JSON object that the text is; empty when it is none."""
    try:
        return _mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _mapping(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [_mapping(item) for item in cast(list[Any], value)] if isinstance(value, list) else []
