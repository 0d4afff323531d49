"""Standing-rule questions that an agent can ask knowing nothing but its tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atr_client.models.base import ToolSpec
from atr_client.models.offline.reading import is_writing, properties

RIVALS = (
    ("draft_message", "send_message"),
    ("book_ground_transport", "book_flight"),
    ("build_shopping_list", "place_order"),
    ("set_reminder", "create_event"),
    ("archive_files", "delete_files"),
    ("label_messages", "archive_messages"),
    ("pause_subscription", "cancel_subscription"),
    ("reschedule_event", "cancel_event"),
    ("update_document", "create_document"),
    ("shortlist_destinations", "plan_trip"),
    ("move_files", "classify_files"),
    ("return_order", "cancel_order"),
)
"""Pairs of tools that may serve one request."""

_PASSED_OVER = frozenset({"field", "sort_by", "update_scope", "language", "update_action"})


@dataclass(frozen=True, slots=True)
class Topic:
    """A question, and the tools it is about."""

    question: str
    tools: frozenset[str]


def topics(tools: Sequence[ToolSpec]) -> list[Topic]:
    """All the questions that the tools give occasion for, in the order of the tools."""
    offered = {tool.name for tool in tools}
    found = [topic for tool in tools if is_writing(tool.name) for topic in _about(tool)]
    rivals = [_rivals(a, b) for a, b in RIVALS if {a, b} <= offered]
    return rivals + found


def next_topic(tools: Sequence[ToolSpec], near: Sequence[str], asked: str) -> Topic | None:
    """The first question that was not asked yet, those about the tools at hand before all others."""
    fresh = [topic for topic in topics(tools) if topic.question not in asked]
    return min(fresh, key=lambda topic: not topic.tools & set(near), default=None)


def _about(tool: ToolSpec) -> Iterator[Topic]:
    doing = tool.name.replace("_", " ")
    for name, schema in properties(tool).items():
        if "enum" in schema and name not in _PASSED_OVER:
            options = ", ".join(value.replace("_", " ") for value in schema["enum"])
            wanted = f"{name.replace('_', ' ')} do you prefer ({options})"
            question = f"In general, whenever I {doing} for you, which {wanted}?"
            yield Topic(question, frozenset({tool.name}))
        elif name.endswith(("_id", "_ids")) and tool.name.startswith(("book_", "place_", "plan_", "replan_")):
            yield Topic(
                f"In general, whenever I {doing} for you, what kind do you prefer me to choose?",
                frozenset({tool.name}),
            )
            return


def _rivals(first: str, second: str) -> Topic:
    one, other = (name.replace("_", " ") for name in (first, second))
    return Topic(
        f"In general, do you usually prefer that I {one} or that I {other}?", frozenset({first, second})
    )
