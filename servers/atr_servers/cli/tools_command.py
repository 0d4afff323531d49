"""`atr-server tools`: what the servers offer."""

from __future__ import annotations

import json
from typing import Any

import click

from atr_ontology import DOMAINS, Tool, input_schema, load_ontology


def tools_command(domain: str | None, *, as_json: bool) -> None:
    ontology = load_ontology()
    groups = {"every domain": ontology.base_tools} | {
        name: ontology.domain(name).tools for name in DOMAINS if domain in (None, name)
    }
    if as_json:
        listed = [_described(group, tool) for group, members in groups.items() for tool in members]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
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
