"""The `variants` command."""

from __future__ import annotations

from rich.console import Console

from atr_client.outputs.fitting import print_line
from atr_data.variants import VARIANTS


def variants_command() -> None:
    width = max(map(len, VARIANTS))
    console = Console()
    for variant in VARIANTS.values():
        print_line(console, f"{variant.name:<{width}}  {variant.summary}", indent=" " * (width + 2))
