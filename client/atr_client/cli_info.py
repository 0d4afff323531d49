"""Commands that only tell something."""

from __future__ import annotations

from pathlib import Path

import click

from atr_client.cli_errors import UsageFault, reported_errors
from atr_client.config import suggestion
from atr_client.export import for_original
from atr_client.show import transcript_text
from atr_data import load_trajectory
from atr_data.constants import VARIANTS
from atr_ontology import DOMAINS, Tool, load_ontology

_VARIANT_NOTES = {
    "default": "learning sessions; nothing is said about asking",
    "atr": "learning sessions; the agent may ask about standing rules",
    "always_ask": "learning sessions; the agent must ask about standing rules",
    "oracle_target": "no learning; each test session is told its own rule",
    "oracle_full": "no learning; each test session is told every rule",
}


def show_command(path: Path, *, original: bool = False) -> None:
    """`original` prints the file as the original benchmark reads it."""
    with reported_errors():
        trajectory = load_trajectory(path)
        click.echo(for_original(trajectory) + "\n" if original else transcript_text(trajectory), nl=False)


def variants_command() -> None:
    width = max(len(name) for name in VARIANTS)
    for name in VARIANTS:
        click.echo(f"{name:<{width}}  {_VARIANT_NOTES[name]}")


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
