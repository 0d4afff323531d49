"""The `validate` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from atr_client.cell.playable import findings_of
from atr_client.cli.failures import reported_errors
from atr_data import packaged_episodes_dir, select_episodes


def validate_command(selectors: Sequence[str], folder: Path | None) -> int:
    """Prints the findings on each file. Returns 1 when one has an error."""
    failed = False
    with reported_errors():
        for path in _files(selectors, folder):
            findings = findings_of(path)
            errors = sum(finding.level == "error" for finding in findings)
            failed = failed or errors > 0
            for finding in findings:
                click.echo(f"{path}: {finding}")
            click.echo(f"{path}: {errors} errors, {len(findings) - errors} warnings")
    return 1 if failed else 0


def _files(selectors: Sequence[str], folder: Path | None) -> list[Path]:
    """A selector that names something on disk is that file; a folder means the episodes in it."""
    files: list[Path] = []
    for selector in selectors:
        path = Path(selector)
        if path.is_dir():
            files += select_episodes(["all"], path)
        elif path.exists() or path.suffix == ".json":
            files.append(path)
        else:
            files += select_episodes([selector], folder or packaged_episodes_dir())
    return files
