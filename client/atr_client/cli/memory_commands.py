"""The `memory` commands: what was kept, session by session, and how two memories differ."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from atr_client.cli.failures import reported_errors
from atr_client.outputs.kept_memories import KeptMemory, kept_memory
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.stored_cells import CellRecord, all_cells, episode_of
from atr_data import Episode

_FOLDER = click.Path(path_type=Path)
_EPISODE = click.option("--episode", type=_FOLDER, help="The episode's file, when it is not found by itself.")


@click.group()
def memory() -> None:
    """What the memory of a finished cell holds."""


@memory.command()
@click.argument("folder", type=_FOLDER)
@_EPISODE
@click.option("--whole", is_flag=True, help="Print all that was kept, and not the beginnings.")
def show(folder: Path, episode: Path | None, whole: bool) -> None:
    """What was kept of each session of the cells at or below FOLDER, and which hidden rules stand in it."""
    with reported_errors():
        for cell in all_cells([folder]):
            kept, played = _kept(cell, episode)
            click.echo(cell.path)
            click.echo("\n".join(_shown(kept, played, whole=whole)))


@memory.command()
@click.argument("one", type=_FOLDER)
@click.argument("other", type=_FOLDER)
@_EPISODE
def diff(one: Path, other: Path, episode: Path | None) -> None:
    """How what two cells kept differs, session by session, and which rules only one of them has."""
    with reported_errors():
        (first, played), (second, _) = (_kept(CellFolder(path), episode) for path in (one, other))
        for rule in played.rules:
            has = [rule.rule_id in kept.rules for kept in (first, second)]
            if has[0] != has[1]:
                click.echo(f"{'-' if has[0] else '+'} rule {rule.rule_id}: {rule.canonical_answer}")
        texts = [{s.session_id: s.text for s in kept.sessions} for kept in (first, second)]
        for name in dict.fromkeys([*texts[0], *texts[1]]):
            before, after = (text.get(name, "").splitlines() for text in texts)
            for line in difflib.unified_diff(
                before, after, f"{name} of {one}", f"{name} of {other}", "", "", 1, ""
            ):
                click.echo(line)


def _kept(cell: CellFolder, given: Path | None) -> tuple[KeptMemory, Episode]:
    episode = episode_of(cell, CellRecord.of(cell), given=given).episode
    return kept_memory(cell, episode), episode


def _shown(kept: KeptMemory, episode: Episode, *, whole: bool) -> list[str]:
    lines = [f"layer {kept.layer}; snapshot {kept.snapshot or 'not recorded'}"]
    known: set[str] = set()
    for session in kept.sessions:
        lines.append(f"{session.session_id}: {len(session.text)} characters")
        said = session.text.splitlines()
        lines += [f"    {line}" for line in (said if whole else [line[:100] for line in said[:4]])]
        new = [rule for rule in session.rules if rule not in known]
        lines += [f"    now recoverable: {rule}" for rule in new]
        known.update(session.rules)
    lines.append(f"recoverable: {len(kept.rules)} of {len(episode.rules)} rules, word for word")
    return lines
