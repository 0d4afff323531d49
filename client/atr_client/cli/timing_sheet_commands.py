"""`atr-client timing sheet` and `score-sheet`: gate G6, which readers decide."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from atr_client.cli.failures import UsageFault, reported_errors
from atr_data.files import write_atomic
from atr_data.timing.set_folder import load_set
from atr_datagen.timing.reading_sheet import (
    BOUND,
    READERS,
    WRITTEN,
    DayReading,
    Origin,
    make_sheet,
    read_key,
    shares_right,
)

_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command("sheet")
@click.argument("folder", type=_FOLDER)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The sheet.")
@click.option("--key", type=click.Path(path_type=Path, dir_okay=False), required=True, help="Its key, apart.")
@click.option("--written", type=_FOLDER, default=WRITTEN, help="Folder with excerpts that a person wrote.")
@click.option("--seed", type=int, default=0, show_default=True)
def sheet_command(folder: Path, out: Path, key: Path, written: Path, seed: int) -> None:
    """Gate G6: a sheet on which readers tell generated days from written ones."""
    with reported_errors():
        made = make_sheet([files.stream for files in load_set(folder)], seed, written)
        write_atomic(out, made.text)
        write_atomic(key, json.dumps(made.key, indent=1) + "\n")
    click.echo(f"{out}: {len(made.key)} items")


@click.command("score-sheet")
@click.argument("answers", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--key", "key_file", type=_FILE, required=True, help="Written beside the sheet.")
def score_sheet_command(answers: tuple[Path, ...], key_file: Path) -> None:
    """Score readers' answers to a sheet, YAML files or a folder of them; exits 1 when they can tell."""
    with reported_errors():
        key = read_key(key_file)
        files = [f for path in answers for f in (sorted(path.glob("*.yaml")) if path.is_dir() else [path])]
        if not files:
            raise UsageFault(f"no answers (*.yaml) in {answers[0]}")
        readings = [DayReading.read(file, key) for file in files]
    for file, reading in zip(files, readings, strict=True):
        click.echo(f"{file.stem}: {_shares(key, [reading])}, {len(reading.answers)} of {len(key)} answered")
    share, _ = shares_right(key, [reading.answers for reading in readings])
    click.echo(
        f"G6 readers: {_shares(key, readings)}; at most {BOUND:.0%}; {len(files)} of {READERS} readers"
    )
    if share > BOUND:
        raise click.exceptions.Exit(1)


def _shares(key: Mapping[str, Origin], readings: Sequence[DayReading]) -> str:
    share, of = shares_right(key, [reading.answers for reading in readings])
    return f"{share:.0%} right ({', '.join(f'{name} {one:.0%}' for name, one in of.items())})"
