"""Commands on the plan of the dataset and on its validity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from atr_client.cli_errors import UsageFault, reported_errors
from atr_data import DataError, load_episode, packaged_episodes_dir, select_episodes
from atr_data.datagen.new_persona import scaffold
from atr_data.datagen.plan import render_plan_check, write_plan
from atr_data.datagen.plan_table import read_plan
from atr_data.datagen.report import CheckReport
from atr_data.datagen.validity import as_json, as_markdown, judge, report
from atr_data.files import write_atomic


def plan_command(seed: int, sources: Path, out: Path) -> int:
    """Draws and writes the plan and prints what it holds. Returns 1 when a bound is not kept."""
    with reported_errors():
        checked = CheckReport(render_plan_check(write_plan(out, seed, sources)))
    for line in checked.lines():
        click.echo(line)
    return 0 if checked.ok else 1


def report_command(selectors: Sequence[str], folder: Path | None, out: Path | None) -> int:
    """Measures episodes; prints the bounds, and writes `validity.md` and `validity.json` into `out`.

    Returns 1 when a bound that is judged for as many personas is not kept.
    """
    with reported_errors():
        found = select_episodes(selectors, folder or packaged_episodes_dir())
        try:
            metrics = report(map(load_episode, found))
        except ValueError as error:
            raise DataError(str(error), path=folder) from error
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            write_atomic(out / "validity.md", as_markdown(metrics))
            write_atomic(out / "validity.json", as_json(metrics))
    verdicts = judge(metrics)
    for verdict in verdicts:
        click.echo(verdict)
    return 1 if any(verdict.ok is False for verdict in verdicts) else 0


def new_persona_command(persona: str, plan: Path, sources: Path) -> None:
    """Writes the skeleton of a source; one that is there already is left alone."""
    path = sources / f"{persona}.yaml"
    with reported_errors():
        text = scaffold(read_plan(plan), persona)
        if path.exists():
            raise UsageFault(f"{path}: is there already; move it away to start over")
        sources.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text)
    click.echo(path)
