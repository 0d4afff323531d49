"""The `tools` and `sessions` commands: for people, and as JSON."""

from __future__ import annotations

import json
from typing import Any

import click

from atr_data import named_episodes
from atr_ontology import DOMAINS, Tool, input_schema, load_ontology
from atr_servers.hosts.environment_spec import read_episode, sessions_of, task_of


def tools_command(domain: str | None, *, as_json: bool) -> None:
    """Lists the tools of all domains or of one, those of every domain first."""
    ontology = load_ontology()
    groups = {"every domain": ontology.base_tools} | {
        name: ontology.domain(name).tools for name in DOMAINS if domain in (None, name)
    }
    if as_json:
        _print_json([_described(group, tool) for group, members in groups.items() for tool in members])
        return
    for group, members in groups.items():
        click.echo(f"{group} ({len(members)})")
        for tool in members:
            click.echo(f"  {tool.name:<32} {tool.kind:<5}  {tool.title}")


def _described(group: str, tool: Tool) -> dict[str, Any]:
    return {
        "domain": group if group in DOMAINS else None,
        "name": tool.name,
        "title": tool.title,
        "kind": tool.kind,
        "description": tool.description,
        "inputSchema": input_schema(tool),
    }


def sessions_command(episode: str, *, as_json: bool) -> None:
    """Lists the sessions of every episode that is meant. Raises DataError."""
    found = [session for path in named_episodes(episode) for session in sessions_of(read_episode(path))]
    if as_json:
        _print_json([task_of(session) for session in found])
        return
    for session in found:
        task = " ".join(task_of(session)["task"].split())
        click.echo(f"{session.session_id}\t{session.session_type}\t{session.domain}\t{task}")


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
