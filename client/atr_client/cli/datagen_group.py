"""The `datagen` commands as they stand on the command line.

What a command needs is imported when it is called, so that `--help` answers at once.
"""

from __future__ import annotations

from pathlib import Path

import click

_FILE = click.Path(path_type=Path)


@click.group()
def datagen() -> None:
    """Make episodes from persona sources."""


@datagen.command("compile")
@click.argument("sources", metavar="[SOURCE...]", nargs=-1, type=_FILE)
@click.option("--out", type=_FILE, help="Folder for the compiled episodes.")
@click.option("--seed", type=click.IntRange(0, 999), default=0, help="Composition seed of the episodes.")
@click.option("--only", multiple=True, help="Only these personas.")
@click.option("--salt", help="Secret that draws the face of every rule, for a private set.")
@click.option("--salt-env", "salt_variable", metavar="NAME", help="Variable with the secret.")
def datagen_compile(
    sources: tuple[Path, ...],
    out: Path | None,
    seed: int,
    only: tuple[str, ...],
    salt: str | None,
    salt_variable: str | None,
) -> int:
    """Compile persona sources into episodes: all of them or none. SOURCE is a file or a folder.

    In a checkout, without SOURCE: data/sources into data/episodes; with another seed into outputs/episodes,
    with a salt into outputs/drawn.
    """
    from atr_client.cli.datagen_commands import CompileRequest, compile_command

    return compile_command(CompileRequest(sources, out, seed, only, salt, salt_variable))


@datagen.command("check")
@click.argument("sources", metavar="[SOURCE...]", nargs=-1, type=_FILE)
@click.option("--seed", type=click.IntRange(0, 999), default=0, help="Composition seed of the episodes.")
@click.option("--only", multiple=True, help="Only these personas.")
@click.option("--rule", metavar="KEY", help="Only the gates of this rule, however unfinished the others are.")
@click.option("--official", type=_FILE, help="Folder of official episodes, for the overlap gate.")
@click.option("--plan", type=_FILE, help="A plan to be held to its bounds as well.")
def datagen_check(
    sources: tuple[Path, ...],
    seed: int,
    only: tuple[str, ...],
    rule: str | None,
    official: Path | None,
    plan: Path | None,
) -> int:
    """Hold persona sources against every gate, those that call tools included.

    In a checkout, without SOURCE: data/plan.csv and data/sources.
    """
    from atr_client.cli.datagen_commands import CheckRequest, check_command

    return check_command(CheckRequest(sources, seed, only, rule, official, plan))


@datagen.command("plan")
@click.option("--seed", type=click.IntRange(0, 999), default=0, help="Seed of the draw.")
@click.option("--out", type=_FILE, default=Path("data/plan.csv"), help="The table to be written.")
def datagen_plan(seed: int, out: Path) -> int:
    """Draw the composition of the whole dataset, around the personas that were written first."""
    from atr_client.cli.datagen_commands import plan_command

    return plan_command(seed, out)


@datagen.command("report")
@click.argument("episodes", metavar="[EPISODE...]", nargs=-1)
@click.option("--episodes", "folder", type=_FILE, help="Folder in which episodes are looked for.")
@click.option("--sources", type=_FILE, help="Sources of the episodes, to check the guess bound by play.")
@click.option("--out", type=_FILE, help="Folder for validity.md and validity.json.")
def datagen_report(
    episodes: tuple[str, ...], folder: Path | None, sources: Path | None, out: Path | None
) -> int:
    """Measure how far tests can be passed without their rules; EPISODE is a selector, all when none is given.

    Without a folder the episodes are meant that ship with the package.
    """
    from atr_client.cli.datagen_commands import report_command

    return report_command(episodes or ("all",), folder, sources, out)


@datagen.command("sheet")
@click.argument("sources", metavar="[SOURCE...]", nargs=-1, type=_FILE)
@click.option("--only", multiple=True, help="Only these personas.")
@click.option("--rules", is_flag=True, help="With what the person once said.")
@click.option("--learning", is_flag=True, help="Learning sessions instead of tests.")
@click.option("--rule", metavar="KEY", help="Only the rule with this key.")
@click.option("--out", type=_FILE, help="File for the sheet, instead of printing it.")
def datagen_sheet(
    sources: tuple[Path, ...],
    only: tuple[str, ...],
    rules: bool,
    learning: bool,
    rule: str | None,
    out: Path | None,
) -> None:
    """Print tests or learning sessions for a reader: shuffled and without keys."""
    from atr_client.cli.reading_commands import SheetRequest, sheet_command

    sheet_command(SheetRequest(sources, only, rules, learning, rule, out))


@datagen.command("score-sheet")
@click.argument("answers", nargs=-1, required=True, type=_FILE)
@click.option("--sources", multiple=True, type=_FILE, help="Sources that the sheets were made from.")
def datagen_score_sheet(answers: tuple[Path, ...], sources: tuple[Path, ...]) -> int:
    """Score what readers answered, against gates B1 to B4; ANSWERS are files or folders of them."""
    from atr_client.cli.reading_commands import score_sheet_command

    return score_sheet_command(answers, sources)


@datagen.command("calibration-set")
@click.argument("sources", metavar="[SOURCE...]", nargs=-1, type=_FILE)
@click.option("--out", type=_FILE, required=True, help="Folder for the labelled turns.")
def datagen_calibration_set(sources: tuple[Path, ...], out: Path) -> None:
    """Write the question lines as labelled turns, with persona and writer as groups."""
    from atr_client.cli.reading_commands import calibration_set_command

    calibration_set_command(sources, out)


@datagen.command("new-persona")
@click.argument("persona")
@click.option("--plan", type=_FILE, default=Path("data/plan.csv"), help="The table that `plan` wrote.")
@click.option("--sources", type=_FILE, default=Path("data/sources"), help="Folder for the skeleton.")
def datagen_new_persona(persona: str, plan: Path, sources: Path) -> None:
    """Start the source of a persona of the plan."""
    from atr_client.cli.datagen_commands import new_persona_command

    new_persona_command(persona, plan, sources)
