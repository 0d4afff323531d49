"""Calls that the executable gates make, and what a test's required action comes down to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

from mcp import Client

from atr_data.constants import CONFIRMATION
from atr_data.episode import Episode, LearningSession, Reference, RequiredAction, TestSession
from atr_data.errors import DataError
from atr_ontology import Tool, load_ontology
from atr_servers import build_server
from atr_servers.connections import connect

Session = LearningSession | TestSession
Arguments = Mapping[str, Any]


@asynccontextmanager
async def open_world(episode: Episode, session: Session) -> AsyncGenerator[Client]:
    """A fresh environment of a session. Raises DataError when a server cannot be built from its objects."""
    env = session.local_env
    try:
        server = build_server(session.domain, env.references, episode.profile, env.tools)
    except ValueError as error:
        raise DataError(f"no environment can be built: {error}", key=session.session_id) from error
    async with connect(server) as client:
        await client.list_tools()
        yield client


async def outcome(client: Client, tool: str, arguments: Arguments) -> tuple[dict[str, Any], str | None]:
    """What a call returned, and its error."""
    result = await client.call_tool(tool, dict(arguments))
    content = cast(dict[str, Any], result.structured_content or {})
    return content, str(content.get("error", "failed")) if result.is_error else None


async def first_error(
    episode: Episode, session: Session, calls: Iterable[tuple[str, Arguments]]
) -> str | None:
    """The first error of some calls, made one after the other in a fresh environment."""
    async with open_world(episode, session) as client:
        for tool, arguments in calls:
            _, error = await outcome(client, tool, arguments)
            if error:
                return f"{tool}({shown(arguments)}): {error}"
    return None


def shown(arguments: Arguments) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


def required_action(test: TestSession) -> RequiredAction:
    return test.labels.task_success.required_actions[0]


def acting_tool(required: RequiredAction) -> Tool:
    """The tool that does something: for a confirmation the tool to be confirmed."""
    confirming = required.tool == CONFIRMATION
    tool = load_ontology().tool(required.arguments["target_tool"] if confirming else required.tool)
    assert tool is not None, "compiled episodes name tools of the ontology"
    return tool


def acting_arguments(required: RequiredAction) -> dict[str, Any]:
    if required.tool == CONFIRMATION:
        return cast(dict[str, Any], required.arguments.get("target_params") or {})
    return required.arguments


def addressed(reference: Reference, parameter: str, domain: str) -> str | None:
    """The id by which a parameter names an object, its own or a linked one; None when it takes none."""
    kind = load_ontology().objects(domain).get(reference.type)
    return kind.id_for(parameter, reference.id, reference.attributes) if kind else None
