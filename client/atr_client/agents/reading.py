"""What an agent can read: its system prompt, the conversation, and the objects that tools have shown it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

from atr_client.models.base import ToolSpec
from atr_data.constants import DEFLECT_TEXT, FINISH_SESSION, SEND_TO_USER
from atr_data.trajectory import Message, ToolCall
from atr_memory import DISTILLED
from atr_ontology import load_ontology, names_object

_ROW_KEY = {
    "selected_stop_id": "stop_id",
    "selected_alternative_stop_id": "stop_id",
    "target_id": "event_id",
}

_SESSION = re.compile(r"^\[(?:Session|Prior statement) \d+\]$", re.M)
_LINE = re.compile(r"^\[(user|assistant to user|tool call|tool result)\]: ", re.M)
_DISTILLED_LINE = re.compile(r"^- (?:\(asked: (.*?)\) )?(.+)$", re.M)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Row:
    """An object of a tool result. `fields` holds its attributes too, next to the rest."""

    fields: Mapping[str, Any]

    @property
    def text(self) -> str:
        return " ".join(f"{key} {_spoken(value)}" for key, value in self.fields.items())

    @property
    def spoken(self) -> str:
        """What the fields say, one clause each; a field that is absent or false is denied."""
        return ". ".join(_clause(key, value) for key, value in self.fields.items() if not names_object(key))


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that the user said and may have meant to last. `question` is what it answered, empty for a
    statement that stands alone."""

    text: str
    question: str


@dataclass(frozen=True, slots=True)
class Done:
    """A call with its result."""

    call: ToolCall
    result: Any
    is_error: bool


@dataclass(frozen=True)
class View:
    """The transcript and the tools, read on demand."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]

    @property
    def is_learning(self) -> bool:
        return any(tool.name == SEND_TO_USER for tool in self.tools)

    @property
    def system(self) -> str:
        return self.messages[0].content or ""

    @cached_property
    def user_texts(self) -> list[str]:
        return [message.content or "" for message in self.messages if message.role == "user"]

    @property
    def request(self) -> str:
        """All that the user said in this session."""
        return "\n".join(self.user_texts)

    @cached_property
    def sent(self) -> list[str]:
        return [
            call.text("output")
            for message in self.messages
            for call in message.tool_calls or ()
            if call.name == SEND_TO_USER
        ]

    @property
    def done(self) -> list[Done]:
        """Calls to the environment, in order."""
        return [done for done in self._results if not is_memory_tool(done.call.name)]

    @property
    def recalled(self) -> list[Done]:
        """Calls to the memory, in order."""
        return [done for done in self._results if is_memory_tool(done.call.name)]

    @cached_property
    def _results(self) -> list[Done]:
        results = {m.tool_call_id: m for m in self.messages if m.role == "tool"}
        found: list[Done] = []
        for message in self.messages:
            for call in message.tool_calls or ():
                if call.name not in (SEND_TO_USER, FINISH_SESSION) and (result := results.get(call.id)):
                    found.append(Done(call, _json(result.content), bool(result.tool_error)))
        return found

    @property
    def writes(self) -> list[Done]:
        return [done for done in self.done if is_writing(done.call.name)]

    @property
    def done_since_user(self) -> list[Done]:
        """Calls made after the user's last message."""
        last = max(i for i, message in enumerate(self.messages) if message.role == "user")
        later = {call.id for message in self.messages[last:] for call in message.tool_calls or ()}
        return [done for done in self.done if done.call.id in later]

    @cached_property
    def rows(self) -> list[Row]:
        """Objects shown so far, each once, as they were shown last."""
        rows: dict[tuple[str, str], Row] = {}
        for done in self.done:
            if not done.is_error:
                for item in _objects(done.result):
                    key = next((k for k in item if names_object(k) and not isinstance(item[k], list)), None)
                    if key is not None:
                        rows[key, str(item[key])] = Row(_flat(item))
        return list(rows.values())

    @cached_property
    def statements(self) -> list[Statement]:
        """What the user said in earlier conversations, sentence groups that answer a question first: what the
        prompt holds and what memory tools have answered."""
        match = re.search(r"<context>\n(.*)\n</context>", self.system, re.S)
        texts = [match[1]] if match else []
        texts += [text for done in self.recalled if not done.is_error for text in _texts(done.result)]
        return list(dict.fromkeys(said for text in texts for said in statements_in(text)))

    @property
    def remembered_since_user(self) -> bool:
        """Whether the memory was called after the user's last message."""
        last = max(i for i, message in enumerate(self.messages) if message.role == "user")
        later = {call.id for message in self.messages[last:] for call in message.tool_calls or ()}
        return any(done.call.id in later for done in self.recalled)

    @property
    def known(self) -> str:
        """The prompt, and what memory tools have answered."""
        return "\n".join([self.system, *(text for done in self.recalled for text in _texts(done.result))])


def is_memory_tool(name: str) -> bool:
    """Whether a tool is none of those that sessions have of themselves."""
    ontology = load_ontology()
    return name not in (SEND_TO_USER, FINISH_SESSION) and ontology.tool(name) is None


def is_writing(name: str) -> bool:
    tool = load_ontology().tool(name)
    return tool is not None and tool.kind == "write"


def properties(tool: ToolSpec) -> Mapping[str, Mapping[str, Any]]:
    return cast(Mapping[str, Mapping[str, Any]], tool.input_schema.get("properties", {}))


def required(tool: ToolSpec) -> Sequence[str]:
    return cast(Sequence[str], tool.input_schema.get("required", ()))


def row_key(parameter: str) -> str:
    """Under which key an object shows the id that a parameter takes."""
    singular = parameter.removesuffix("s") if names_object(parameter) else parameter
    return _ROW_KEY.get(singular, singular)


def statements_in(context: str) -> Sequence[Statement]:
    """What the user says in a text of a memory, and what each of it answers."""
    return _statements_in(context)


@lru_cache(maxsize=1 << 10)
def _statements_in(context: str) -> tuple[Statement, ...]:
    return tuple(_said(context))


def _said(context: str) -> Iterator[Statement]:
    if context.startswith(DISTILLED):
        for question, text in _DISTILLED_LINE.findall(context):
            yield Statement(text.strip(), question)
    for block in _SESSION.split(context):
        pieces = _LINE.split(block)[1:]
        lines = list(zip(pieces[::2], pieces[1::2], strict=True))
        question = ""
        unasked = len(lines) == 1
        for speaker, text in lines:
            if speaker == "assistant to user":
                question = text.strip()
            elif speaker == "user" and (question or unasked) and (said := _lasting(text)):
                yield Statement(said, question)


def _texts(result: Any) -> Iterator[str]:
    """All texts of a result, however deep they stand."""
    if isinstance(result, str):
        yield result
    elif isinstance(result, dict):
        for value in cast(dict[str, Any], result).values():
            yield from _texts(value)
    elif isinstance(result, list):
        for item in cast(list[Any], result):
            yield from _texts(item)


def _lasting(text: str) -> str:
    """What is left of a user's line without the deflecting phrase."""
    kept = (part.strip() for part in _SENTENCE.split(text) if DEFLECT_TEXT.lower() not in part.lower())
    return " ".join(part for part in kept if part)


def _objects(result: Any) -> Iterator[dict[str, Any]]:
    """The items of its lists, and the result itself when it is about one object."""
    if isinstance(result, dict):
        yield cast(dict[str, Any], result)
        for value in cast(dict[str, Any], result).values():
            if isinstance(value, list):
                for item in cast(list[Any], value):
                    if isinstance(item, dict):
                        yield cast(dict[str, Any], item)


def _flat(item: dict[str, Any]) -> dict[str, Any]:
    attributes = cast(dict[str, Any], item.get("attributes") or {})
    return {**attributes, **{key: value for key, value in item.items() if key != "attributes"}}


def _clause(key: str, value: Any) -> str:
    named = key.replace("_", " ")
    if value is False or value in ("none", "no", "None", "No"):
        return f"no {named}"
    if value is True or value in ("yes", "Yes"):
        return named
    if value == 1 and any(word in key for word in ("people", "going", "attendee", "contributor", "staff")):
        return "just one person"
    return f"{named}: {_spoken(value)}"


def _spoken(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_spoken(item) for item in cast(list[Any], value))
    if isinstance(value, dict):
        return " ".join(f"{k} {_spoken(v)}" for k, v in cast(dict[str, Any], value).items())
    return "" if value is None else str(value)


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "")
    except ValueError:
        return text
