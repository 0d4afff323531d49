"""The tools that are the gateway's own: they lead through an episode."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from mcp.types import Tool, ToolAnnotations

from atr_client.models.base import ToolSpec
from atr_data.constants import FINISH_SESSION, SEND_TO_USER
from atr_ontology import load_ontology
from atr_servers.server import describe_tool

START, NEXT, STATUS, READ = "start_episode", "next_session", "session_status", "read_memory"

_LONGEST_RESULT = {"anthropic/maxResultSizeChars": 500_000}
"""A session's instructions hold the whole memory; some clients cut results unless told how long they get."""

_START = Tool(
    name=START,
    title="Start the episode",
    description="Call this first. Answers how many sessions the episode has. Calling it again does no harm.",
    input_schema={"type": "object", "properties": {}},
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)
_NEXT = Tool(
    name=NEXT,
    title="Begin the next session",
    description=(
        "Begin the next session. Answers with its instructions, what the user said first and the names of "
        "the tools that it has. A session that runs already has to end before."
    ),
    input_schema={"type": "object", "properties": {}},
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
    ),
    _meta=_LONGEST_RESULT,
)
_STATUS = Tool(
    name=STATUS,
    title="How things stand",
    description=(
        "How many sessions are over, which one runs, and what is left of its steps and its time. After an "
        "interruption, `conversation` true shows the running session from its instructions on."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "conversation": {
                "type": "boolean",
                "default": False,
                "description": "Whether to show all that was said and done in the running session.",
            }
        },
    },
    annotations=ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
    _meta=_LONGEST_RESULT,
)


_READ = Tool(
    name=READ,
    title="Read a page of the memory",
    description="Read one page of what you know from earlier sessions. Costs no step.",
    input_schema={
        "type": "object",
        "properties": {"page": {"type": "integer", "minimum": 1, "description": "The page, from 1."}},
        "required": ["page"],
    },
    annotations=ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)


def control_tools(*, single: bool, pages: bool) -> list[Tool]:
    """Those of a whole episode, or of one session alone; `pages`: the memory is read page by page."""
    return [*([] if single else [_START]), _NEXT, _STATUS, *([_READ] if pages else [])]


def offered_tools(names: Sequence[str], memory: Sequence[Tool] = ()) -> list[Tool]:
    """The running session's tools, in order; `memory` are those of its memory."""
    known = {**_descriptions(), **{tool.name: tool for tool in memory}}
    return [known[name] for name in names]


def every_tool(memory: Sequence[Tool] = ()) -> list[Tool]:
    """All tools that any session may have."""
    return [*_descriptions().values(), *memory]


def memory_tools(specs: Sequence[ToolSpec]) -> list[Tool]:
    """Of a session's tools those of its memory. What they do to it is nobody's concern but the agent's, so
    clients that ask before something is destroyed need not ask."""
    known = _descriptions()
    return [
        Tool(
            name=spec.name,
            description=spec.description,
            input_schema=dict(spec.input_schema),
            annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False),
        )
        for spec in specs
        if spec.name not in known
    ]


@cache
def _descriptions() -> dict[str, Tool]:
    ontology = load_ontology()
    tools = [ontology.session_tool(SEND_TO_USER), ontology.session_tool(FINISH_SESSION), *ontology.base_tools]
    tools += [tool for domain in ontology.domains.values() for tool in domain.tools]
    return {tool.name: describe_tool(tool) for tool in tools}


@cache
def instruction_text(name: str) -> str:
    """What tells an agent how to play: `episode` or `single_session`."""
    return files("atr_client.gateway").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()
