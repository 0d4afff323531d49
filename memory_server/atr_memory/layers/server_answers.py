"""What the answers of servers that others wrote mean: servers tell of failure in many ways."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from mcp.types import Tool

from atr_memory.layer import Answer

_SAYS_ERROR = re.compile(r"^\s*(?:error|exception|failed|failure|fatal|traceback)\b", re.I)
_OF_THE_CALL = re.compile(
    r"not found|does not exist|doesn't exist|no such (?:note|entity|memory|item|node|id)|no results"
    r"|no memories|invalid (?:argument|param|input|type)|required|validation|unknown tool|must be",
    re.I,
)
_BROKEN_STORE = re.compile(
    r"sqlite|database (?:is locked|disk image)|disk i/o|no space left|read-only file system"
    r"|\b(?:ENOSPC|ENOENT|EACCES|EROFS|EIO|EPERM|EBUSY)\b|permission denied|no such (?:file|table)"
    r"|in JSON at position|unexpected (?:token|end of JSON|non-whitespace)|expected ',' or|expecting value"
    r"|unterminated string"
    r"|not valid JSON|JSONDecodeError|malformed|corrupt|internal (?:server )?error",
    re.I,
)
_WRITING = re.compile(
    r"(?:^|[_-])(?:save|store|add|create|remember|write|insert|record|put|append|upsert)(?:[_-]|$)", re.I
)
_SHOWN = 300
_FRAGMENT = 40


def broken(name: str, answer: Answer) -> str | None:
    """Why an answer shows that the server, and not the call, has failed; None when it does not.

    A store that is damaged is told of in an error, whatever its flag says. An error that is told of as if it
    were none is a failure too, unless it is about what was asked for.
    """
    said = answer.text if answer.is_error else _told_error(answer.text)
    if said is None:
        return None
    told = " ".join(said.split())[:_SHOWN]
    if told == f"Error executing tool {name}":
        return "it raised an exception of which it tells nothing"
    if _BROKEN_STORE.search(said):
        return f"its store is damaged or out of reach: {told}"
    if not answer.is_error and not _OF_THE_CALL.search(said):
        return f"it told of an error as if there were none: {told}"
    return None


def _told_error(text: str) -> str | None:
    """The error that an answer without the flag tells of."""
    if _SAYS_ERROR.search(text):
        return text
    try:
        document: Any = json.loads(text)
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    fields = cast(dict[str, Any], document)
    if fields.get("error") or fields.get("status") == "error":
        return text
    return text if fields.get("success") is False or fields.get("ok") is False else None


def looks_like_writing(tool: Tool) -> bool:
    """By what the tool says of itself, else by its name."""
    if tool.annotations and tool.annotations.read_only_hint is not None:
        return not tool.annotations.read_only_hint and bool(_WRITING.search(tool.name))
    return bool(_WRITING.search(tool.name))


def is_written(kept: str) -> Callable[[Mapping[str, Any]], str | None]:
    """Tells of the arguments of a write what of them is not among what was kept, or None."""

    def lost(arguments: Mapping[str, Any]) -> str | None:
        texts = [text for text in _texts(arguments) if text.strip()]
        longest = max(texts, key=len, default="")
        fragment = longest.strip()[:_FRAGMENT]
        spelled = (fragment, json.dumps(fragment)[1:-1], json.dumps(fragment, ensure_ascii=False)[1:-1])
        return None if any(spelling in kept for spelling in spelled) else fragment

    return lost


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in cast(Mapping[str, Any], value).values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _texts(inner)
