"""The `validate` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from atr_client.cell.playable import findings_of
from atr_client.cli.failures import reported_errors
from atr_data import DataError, Finding, named_episodes
from atr_user_sim.lines import SUFFIX, load_lines


def validate_command(selectors: Sequence[str], folder: Path | None) -> int:
    """Prints the findings on each file of an episode or of question lines. Returns 1 for an error."""
    failed = False
    with reported_errors():
        for path in (path for selector in selectors for path in named_episodes(selector, folder)):
            findings = _of_lines(path) if path.name.endswith(SUFFIX) else findings_of(path)
            errors = sum(finding.level == "error" for finding in findings)
            failed = failed or errors > 0
            for finding in findings:
                click.echo(f"{path}: {finding}")
            click.echo(f"{path}: {errors} errors, {len(findings) - errors} warnings")
    return 1 if failed else 0


def _of_lines(path: Path) -> list[Finding]:
    """What is wrong with the question lines that lie beside an episode."""
    try:
        load_lines(path)
    except DataError as error:
        return [Finding("error", error.key or "file", error.reason)]
    return []
