"""The `validate` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from atr_client.cell.playable import findings_of
from atr_client.cli.failures import reported_errors
from atr_data import named_episodes


def validate_command(selectors: Sequence[str], folder: Path | None) -> int:
    """Prints the findings on each file. Returns 1 when one has an error."""
    failed = False
    with reported_errors():
        for path in (path for selector in selectors for path in named_episodes(selector, folder)):
            findings = findings_of(path)
            errors = sum(finding.level == "error" for finding in findings)
            failed = failed or errors > 0
            for finding in findings:
                click.echo(f"{path}: {finding}")
            click.echo(f"{path}: {errors} errors, {len(findings) - errors} warnings")
    return 1 if failed else 0
