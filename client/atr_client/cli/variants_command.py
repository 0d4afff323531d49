"""The `variants` command."""

from __future__ import annotations

import click

from atr_data.variants import VARIANTS


def variants_command() -> None:
    width = max(map(len, VARIANTS))
    for variant in VARIANTS.values():
        click.echo(f"{variant.name:<{width}}  {variant.summary}")
