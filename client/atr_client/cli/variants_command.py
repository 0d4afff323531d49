"""The `variants` command."""

from __future__ import annotations

import click

from atr_data.constants import VARIANTS

_VARIANT_NOTES = {
    "default": "learning sessions; nothing is said about asking",
    "atr": "learning sessions; the agent may ask about standing rules",
    "always_ask": "learning sessions; the agent must ask about standing rules",
    "oracle_target": "no learning; each test session is told its own rule",
    "oracle_full": "no learning; each test session is told every rule",
}


def variants_command() -> None:
    width = max(len(name) for name in VARIANTS)
    for name in VARIANTS:
        click.echo(f"{name:<{width}}  {_VARIANT_NOTES[name]}")
