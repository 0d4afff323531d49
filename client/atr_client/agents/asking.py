"""Standing-rule questions: those of `questions.yaml`, and plainer ones made from what a tool offers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import yaml

from atr_client.agents.reading import is_writing, properties
from atr_client.models.base import ToolSpec
from atr_ontology import load_ontology, names_object

Decision = Literal["tool", "object", "value", "confirm", "any"]

ENOUGH = 2
"""Questions about the tools at hand after which an agent that has to weigh what asking costs asks no more."""
_IN_GENERAL = "In general,"
_PASSED_OVER = frozenset({"field", "sort_by", "update_scope", "language", "update_action"})


@dataclass(frozen=True, slots=True)
class Topic:
    """A question, the tools that it is about, and what an answer would decide about them."""

    question: str
    tools: frozenset[str]
    decides: Decision


def topics(tools: Sequence[ToolSpec]) -> list[Topic]:
    """All that can be asked about these tools: the written questions, then those made from parameters."""
    offered = {tool.name for tool in tools if is_writing(tool.name)}
    written = [topic for topic in _written() if topic.tools & offered]
    return written + [topic for tool in tools if tool.name in offered for topic in _about(tool, offered)]


def next_topic(
    tools: Sequence[ToolSpec], near: Collection[str], asked: str, *, only_near: bool
) -> Topic | None:
    """The first question that was not asked yet: those about the tools at hand, then those about tools for
    the same things, then all others. `only_near`: a written question about the tools at hand while fewer than
    ENOUGH of those were asked, else none."""
    things = {_thing(name) for name in near}

    def distance(topic: Topic) -> int:
        if topic.tools & set(near):
            return 0
        return 1 if things & {_thing(name) for name in topic.tools} else 2

    known = topics(tools)
    if only_near:
        known = [topic for topic in known if topic in _written() and not distance(topic)]
        if sum(topic.question in asked for topic in known) >= ENOUGH:
            return None
    fresh = [topic for topic in known if topic.question not in asked]
    return min(fresh, key=distance, default=None)


def topic_of(message: str, tools: Sequence[ToolSpec]) -> Topic | None:
    """The question that a message asks, if it is one of these."""
    return next((topic for topic in topics(tools) if topic.question in message), None)


def asks_in_general(message: str) -> bool:
    """Whether a message asks one of these questions, whatever tools are at hand."""
    return _IN_GENERAL in message or any(topic.question in message for topic in _written())


@cache
def _written() -> Sequence[Topic]:
    text = files("atr_client.agents").joinpath("questions.yaml").read_text(encoding="utf-8")
    return [
        Topic(entry["ask"], frozenset(entry["tools"].split()), entry["decides"])
        for entry in yaml.safe_load(text)
    ]


def _thing(tool: str) -> str:
    """What a tool is for: `modify_event_ticket` and `book_event_ticket` are for one thing."""
    return tool.partition("_")[2]


def _about(tool: ToolSpec, offered: set[str]) -> Iterator[Topic]:
    doing = tool.name.replace("_", " ")
    for rivals in (offered.intersection(row) for row in load_ontology().choices):
        if len(rivals) > 1 and tool.name == min(rivals):
            ways = " or ".join(name.replace("_", " ") for name in sorted(rivals))
            yield Topic(f"{_IN_GENERAL} do you usually prefer that I {ways}?", frozenset(rivals), "tool")
    for name, schema in properties(tool).items():
        if "enum" in schema and name not in _PASSED_OVER:
            options = ", ".join(value.replace("_", " ") for value in schema["enum"])
            wanted = f"{name.replace('_', ' ')} do you prefer ({options})"
            question = f"{_IN_GENERAL} whenever I {doing} for you, which {wanted}?"
            yield Topic(question, frozenset({tool.name}), "value")
        elif names_object(name):
            question = f"{_IN_GENERAL} whenever I {doing} for you, what kind do you prefer me to choose?"
            yield Topic(question, frozenset({tool.name}), "object")
            return
