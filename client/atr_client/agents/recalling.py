"""Memory tools of whatever server, used by what they are called and what they take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from atr_client.agents.asking import asks_in_general
from atr_client.agents.reading import View, is_memory_tool, properties, required, statements_in
from atr_client.models.base import ToolSpec
from atr_memory import DISTILLED

_WRITING = ("save", "store", "remember", "create", "write", "record", "add")
_READING = ("search", "recall", "find", "query", "retrieve", "read", "list", "get")
_CONTENT = ("text", "content", "observation", "note", "memory", "fact", "value", "data", "message")
_QUERY = ("query", "question", "search", "term", "keyword", "topic", "text", "prompt")
_LABEL = "said by the user"

Call = tuple[ToolSpec, dict[str, Any]]


def note_to_take(view: View) -> Call | None:
    """The call that keeps what the user has just answered to a question about what holds in general; None
    when there is nothing to keep, it is kept already, or no tool takes it."""
    if len(view.user_texts) < 2 or not view.sent or not asks_in_general(view.sent[-1]):
        return None
    note = f"[assistant to user]: {view.sent[-1]}\n[user]: {view.user_texts[-1]}"
    tool = next((tool for tool in _tools(view, _WRITING) if _takes(tool.input_schema, _CONTENT)), None)
    if tool is None or view.remembered_since_user:
        return None
    return tool, _filled(tool.input_schema, note)


def look_up(view: View) -> list[Call]:
    """The calls that bring up what the memory holds for the request: those that take a query, and when they
    bring up nothing, those that take nothing."""
    tools = _tools(view, _READING)
    queried = [tool for tool in tools if _query_parameter(tool)]
    if not view.recalled and queried:
        return [(tool, _query(tool, view.request)) for tool in queried]
    called = {done.call.name for done in view.recalled}
    if view.statements:
        return []
    return [(tool, {}) for tool in tools if not required(tool) and tool.name not in called]


def rewritten(material: str) -> str:
    """A memory written anew, out of what it was and the session that has ended: a line for each lasting thing
    that the user has said, the newest last. What is neither is a session to be distilled."""
    match = re.search(r"<memory>\n(.*)\n</memory>\n\n<session>\n(.*)\n</session>", material, re.S)
    memory, session = match.groups() if match else ("", material)
    old = [line for line in memory.split("\n") if line.startswith("- ")]
    said = (s for s in statements_in(session) if s.question and asks_in_general(s.question))
    new = [f"- (asked: {_question(s.question)}) {s.text}" for s in said]
    lines = list(dict.fromkeys([*old, *new]))
    return "\n".join([DISTILLED, *lines]) if lines else "NOTHING"


def _question(text: str) -> str:
    """The sentence that asks."""
    return next((s for s in reversed(re.split(r"(?<=[.!?])\s+", text)) if s.endswith("?")), text)


def _tools(view: View, words: Sequence[str]) -> list[ToolSpec]:
    """The memory tools whose name has one of the words, in the order of the words."""
    named = [
        (min(words.index(part) for part in parts), position)
        for position, tool in enumerate(view.tools)
        if is_memory_tool(tool.name)
        and (parts := set(tool.name.lower().replace("-", "_").split("_")) & set(words))
    ]
    return [view.tools[position] for _, position in sorted(named)]


def _query_parameter(tool: ToolSpec) -> str | None:
    """The parameter that takes a query, when nothing else is needed."""
    for name in (*_QUERY, *required(tool)):
        if properties(tool).get(name, {}).get("type") == "string" and set(required(tool)) <= {name}:
            return name
    return None


def _query(tool: ToolSpec, request: str) -> dict[str, Any]:
    """The request as far as the parameter takes it."""
    name = cast(str, _query_parameter(tool))
    return {name: request[: properties(tool)[name].get("maxLength", len(request))]}


def _takes(schema: Mapping[str, Any], words: Sequence[str]) -> bool:
    """Whether some text in a schema, however deep, has one of the names; `observations` is `observation`."""
    inner = cast(Mapping[str, Mapping[str, Any]], schema.get("properties", {}))
    return any(
        _is_named(name, words) or _takes(value, words) or _takes(value.get("items", {}), words)
        for name, value in inner.items()
    )


def _is_named(name: str, words: Sequence[str]) -> bool:
    return name.lower().removesuffix("s") in words or name.lower() in words


def _filled(schema: Mapping[str, Any], note: str) -> dict[str, Any]:
    """Arguments that hold the note where a text is wanted, and a label where a name is."""
    inner = cast(Mapping[str, Mapping[str, Any]], schema.get("properties", {}))
    needed = set(cast(Sequence[str], schema.get("required", ())))
    chosen = {n: s for n, s in inner.items() if n in needed or (not needed and _is_named(n, _CONTENT))}
    if not any(_is_named(name, _CONTENT) or _takes(chosen[name], _CONTENT) for name in chosen):
        chosen |= {name: value for name, value in inner.items() if _is_named(name, _CONTENT)}
    return {name: _value(name, value, note) for name, value in chosen.items()}


def _value(name: str, schema: Mapping[str, Any], note: str) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "array":
            return [_value(name, cast(Mapping[str, Any], schema.get("items", {})), note)]
        case "object":
            return _filled(schema, note)
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return note if _is_named(name, _CONTENT) else f"{_LABEL}: {note.partition(chr(10))[0][-60:]}"
