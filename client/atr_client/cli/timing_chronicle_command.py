"""`atr-client timing chronicle`: what a chronicle lacks, for whoever writes one."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random

import click

from atr_client.cli.failures import reported_errors
from atr_datagen.timing.base import compile_base
from atr_datagen.timing.chronicle import Chronicle, Fault
from atr_datagen.timing.chronicle_gates import hints, remark_faults, repeats, shortfalls
from atr_datagen.timing.lexicon import PUBLIC_LEXICON, Lexicon, load_words
from atr_datagen.timing.read_chronicle import parse_chronicle
from atr_datagen.timing.read_remarks import parse_remarks
from atr_datagen.timing.settings import Settings


@click.command("chronicle")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--remarks",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Its remarks; without, the file of that name in a folder `remarks` beside that of the chronicle.",
)
@click.option("--part", is_flag=True, help="It is not finished: counts are told, not judged.")
@click.option("--show", type=click.IntRange(0, 100), default=0, help="So many scenes as a user sees them.")
@click.option("--seed", type=int, default=0, help="Shows other scenes.")
@click.option(
    "--lexicon",
    type=click.Path(path_type=Path, file_okay=False),
    default=PUBLIC_LEXICON,
    help="For attributes and kinds.",
)
def chronicle_command(
    file: Path, remarks: Path | None, part: bool, show: int, seed: int, lexicon: Path
) -> None:
    """Check a chronicle and its remarks; exits 1 when something (`!`) must be changed. `~` is advice."""
    beside = file.absolute().parent.parent / "remarks" / file.name
    with reported_errors():
        words = load_words(lexicon)
        found, faults = parse_chronicle(file, words.kinds)
        told = remarks or (beside if beside.is_file() else None)
        if told is not None and not faults:
            found, amiss = parse_remarks(found, told, words.kinds, words.values)
            faults = [replace(fault, reason=f"remarks: {fault.reason}") for fault in amiss]
    counts = list(shortfalls(found))
    wrong = [*faults, *repeats(found), *remark_faults(found), *([] if part else counts)]
    if told is None:
        (counts if part else wrong).append(Fault(0, "it has no remarks yet"))
    for fault in chain(wrong, counts if part else (), hints(found)):
        place = f"line {fault.line}: " if fault.line else ""
        click.echo(f"{'!' if fault in wrong else '~'} {place}{fault.reason}")
    if show and told is not None and not faults:
        click.echo(_shown(found, words, show, seed))
    days = ", ".join(str(len(day.lines)) for day in found.days)
    click.echo(
        f"{found.job}: {days} events, {sum(len(day.plots) for day in found.days)} scenes, {len(wrong)} wrong"
    )
    if wrong:
        raise click.exceptions.Exit(1)


def _shown(chronicle: Chronicle, lexicon: Lexicon, number: int, seed: int) -> str:
    """Scenes of one user of a set that has this chronicle alone."""
    base = compile_base(Settings(seed=seed), replace(lexicon, chronicles=(chronicle,)), 0)
    events = {event.event_id: event for event in base.events}
    lines: list[str] = []
    for scene in Random(seed).sample(base.scenes, min(number, len(base.scenes))):
        told = ", ".join(f"{name} {value}" for name, value in scene.attributes.items())
        lines.append(f"\n{scene.kind}, line {base.staged[scene.scene_id].plot.number}: {told}")
        for event in (events[name] for name in scene.event_ids):
            parts = (event.window_title, event.summary, event.screen_text)
            lines.append("  " + " | ".join(part for part in parts if part))
    return "\n".join([*lines, ""])
