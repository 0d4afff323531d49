"""The `tools` command."""

from __future__ import annotations

import click

from atr_client.cli.failures import UsageFault
from atr_client.sweep.config import suggestion
from atr_ontology import DOMAINS, Tool, load_ontology


def tools_command(domain: str | None) -> None:
    if domain is not None and domain not in DOMAINS:
        raise UsageFault(f"unknown domain {domain!r}{suggestion(domain, DOMAINS)}")
    ontology = load_ontology()
    groups: dict[str, tuple[Tool, ...]] = {name: ontology.domain(name).tools for name in DOMAINS}
    shown = [domain] if domain else ["every domain", *DOMAINS]
    for name in shown:
        click.echo(f"{name}:")
        for tool in groups.get(name, ontology.base_tools):
            parameters = ", ".join(p.name if p.required else f"[{p.name}]" for p in tool.parameters)
            click.echo(f"  {tool.name}({parameters})")
