"""Commands on persona sources, the plan of the dataset and its validity."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import click

from atr_client.cli.failures import UsageFault, reported_errors
from atr_data import DataError, load_episode, packaged_episodes_dir, select_episodes
from atr_data.episode import Episode
from atr_data.files import write_atomic
from atr_datagen.gates.executable_gates import check_everything, soundness
from atr_datagen.gates.one_rule import check_rule
from atr_datagen.gates.report import CheckReport
from atr_datagen.plan.draw import render_plan_check, write_plan
from atr_datagen.plan.table import read_plan
from atr_datagen.source.compile import read_sources, redrawn, write_episodes
from atr_datagen.source.document import SourceError, UnreadableSource
from atr_datagen.source.draw_faces import Salt
from atr_datagen.source.scaffold import scaffold
from atr_datagen.validity import as_json, as_markdown, judge, report
from atr_datagen.validity.source_report import SourceReport, bound_line, source_report
from atr_evaluator.guess_bound import guess_bound

SOURCES, EPISODES, PLAN = Path("data/sources"), Path("data/episodes"), Path("data/plan.csv")
RESHUFFLED, DRAWN = Path("outputs/episodes"), Path("outputs/drawn")
"""Where the sets go that are not the published one. `outputs/` is never committed."""


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What the command line asked for. Without `sources` those of the checkout are meant, without `out` the
    folder that goes with seed and salt; `salt_variable` names what holds the salt in the environment."""

    sources: Sequence[Path] = ()
    out: Path | None = None
    seed: int = 0
    only: Sequence[str] = ()
    salt: str | None = None
    salt_variable: str | None = None


def compile_command(request: CompileRequest, environment: Mapping[str, str] = os.environ) -> int:
    """Writes the episodes and prints their files. Returns 1, with nothing written, when a source is wrong."""
    with reported_errors():
        salt = _salt(request, environment)
        sources = request.sources or (_of_checkout(SOURCES),)
        out = request.out or _default_out(request, salt)
        if salt and out.resolve() in (EPISODES.resolve(), packaged_episodes_dir().resolve()):
            raise UsageFault(f"{out}: holds the public faces; name another folder for the secret ones")
        try:
            compiled = read_sources(sources, request.seed, request.only or None)
            found = anyio.run(soundness, compiled, request.seed)
            if not found.ok:
                return _refused(failure for gate in found.gates for failure in gate.failures)
            if salt:
                compiled = redrawn(compiled, request.seed, salt)
        except UnreadableSource:
            raise
        except SourceError as error:
            return _refused(error.problems)
        written = write_episodes(compiled, out)
    for path in written:
        click.echo(path)
    return 0


def _salt(request: CompileRequest, environment: Mapping[str, str]) -> Salt | None:
    if request.salt_variable is None:
        return None if request.salt is None else Salt(request.salt)
    if request.salt is not None:
        raise UsageFault("give --salt or --salt-env, not both")
    if request.salt_variable not in environment:
        raise UsageFault(f"the environment variable {request.salt_variable} for the salt is not set")
    return Salt(environment[request.salt_variable])


def _default_out(request: CompileRequest, salt: Salt | None) -> Path:
    if request.sources:
        raise UsageFault("name the folder for the episodes of these sources with --out")
    if salt:
        return DRAWN
    return RESHUFFLED if request.seed else EPISODES


def _of_checkout(path: Path) -> Path:
    if not path.exists():
        raise UsageFault(f"no {path} here: run this in a checkout of atrbench, or name the sources")
    return path


def _refused(problems: Iterable[object]) -> int:
    """Prints what is wrong with sources, a line for each problem."""
    for problem in problems:
        click.echo(problem, err=True)
    return 1


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """Without `sources` those of the checkout are meant, and its plan; a plan is else held to its bounds only
    when it is named. With `rule` the gates of that rule alone are run."""

    sources: Sequence[Path] = ()
    seed: int = 0
    only: Sequence[str] = ()
    rule: str | None = None
    official: Path | None = None
    plan: Path | None = None


def check_command(request: CheckRequest) -> int:
    """Prints a line per gate and per failure. Returns 1 when a gate failed or a source is wrong."""
    with reported_errors():
        sources, only = request.sources or (_of_checkout(SOURCES),), request.only or None
        whole = not request.sources and request.rule is None
        plan = request.plan or (_of_checkout(PLAN) if whole else None)
        planned = render_plan_check(read_plan(plan)) if plan else []
        try:
            if request.rule is not None:
                found = anyio.run(check_rule, sources, request.rule, request.seed, only)
            else:
                found = anyio.run(check_everything, sources, request.seed, only, request.official)
        except UnreadableSource:
            raise
        except SourceError as error:
            return _refused(error.problems)
    report = CheckReport([*planned, *found.gates])
    for line in report.lines():
        click.echo(line)
    return 0 if report.ok else 1


def plan_command(seed: int, out: Path) -> int:
    """Draws and writes the plan and prints what it holds. Returns 1 when a bound is not kept."""
    with reported_errors():
        checked = CheckReport(render_plan_check(write_plan(out, seed)))
    for line in checked.lines():
        click.echo(line)
    return 0 if checked.ok else 1


def report_command(
    selectors: Sequence[str], folder: Path | None, sources: Path | None, out: Path | None
) -> int:
    """Measures episodes; prints the bounds, and writes `validity.md` and `validity.json` into `out`.

    With `sources` the faces of the personas are drawn anew, and choosers that know no rule play them. Returns
    1 when a bound that is judged for as many personas is not kept.
    """
    with reported_errors():
        episodes = [load_episode(p) for p in select_episodes(selectors, folder or packaged_episodes_dir())]
        try:
            metrics = report(episodes)
        except ValueError as error:
            raise DataError(str(error), path=folder) from error
        played = _played(sources, episodes)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            write_atomic(out / "validity.md", as_markdown(metrics))
            write_atomic(out / "validity.json", as_json(metrics))
    verdicts = judge(metrics, played.expected if played else None)
    for verdict in verdicts:
        click.echo(verdict)
    for line in played.lines() if played else _bound(episodes):
        click.echo(line)
    broken = any(verdict.ok is False for verdict in verdicts) or (played is not None and not played.ok)
    return 1 if broken else 0


def _played(sources: Path | None, episodes: Sequence[Episode]) -> SourceReport | None:
    if sources is None:
        return None
    seed = episodes[0].seed or 0
    return source_report(read_sources(sources, seed, [episode.persona_id for episode in episodes]), seed)


def _bound(episodes: Sequence[Episode]) -> list[str]:
    bound = guess_bound(episodes)
    return [bound_line(bound)] if bound else ["-     guess bound: these episodes do not say how many faces"]


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
