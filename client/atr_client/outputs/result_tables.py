"""The result tables of a sweep, as a terminal shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from atr_client.agents import RULE_BLIND_MODELS
from atr_client.outputs.companion_table import LEGEND
from atr_client.outputs.evaluations import read_evaluation, told_differences
from atr_client.outputs.fitting import print_line, print_table
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.rows import Row
from atr_client.outputs.scored_cells import PRIVILEGED, scored_cell
from atr_client.outputs.user_line import UNKNOWN_USER, users_of
from atr_client.outputs.validity_line import rule_blind_cells, validity_line
from atr_data import DataError
from atr_evaluator.aggregate.accuracy_figures import ALL, INTERVALS, accuracy_table
from atr_evaluator.aggregate.companion_figures import companion_table
from atr_evaluator.aggregate.figures import ABSENT, Figure, FigureTable
from atr_evaluator.aggregate.loss_figures import gap_table, loss_table
from atr_evaluator.aggregate.memory_figures import memory_table
from atr_evaluator.aggregate.settings import ScoredCell, Setting, groups, varying

SAYS_LITTLE = ("context", "none")
"""Layers of which a line on memory says nothing: everything is pushed, or nothing kept."""


def print_results(
    console: Console, rows: Sequence[Row], root: Path | None = None, known: Iterable[ScoredCell] = ()
) -> None:
    """Test accuracy per model and setting: one column per variant, cut by check type and by domain; where
    points are lost; the companion metrics; who played the user; how it compares with guessing, for which
    cells below the outputs root count as well (of a model that guesses the accuracy alone); then, once, what
    the rows mean, where trajectories and call log differ, and what failed. A cell without a score counts for
    nothing: a variant that has no other cells shows `-`. The cells that are `known` are not read again."""
    scored = [row for row in rows if row["ok"]]
    cells = _cells(rows, {cell.folder: cell for cell in known})
    found = {cell.folder: cell for cell in cells if cell.document is not None}
    blind = rule_blind_cells(list(found.values()), root)
    names = varying(dict.fromkeys(cell.setting for cell in cells))
    legend: dict[str, None] = {}
    for setting in sorted({cell.setting for cell in cells}):
        own = [cell for cell in cells if cell.setting == setting]
        legend |= dict.fromkeys(_print_setting(console, setting.label(names), own, blind))
    if scored:
        console.print()
        for line in [*legend, *LEGEND]:
            print_line(console, line, indent="    ")
    for row in scored:
        if row.get("verified") is False:
            for told in told_differences(found[row["runs_dir"]].document or {}):
                print_line(console, f"not verified: {row['cell_id']}: {told}")
    for row in rows:
        if not row["ok"]:
            what = next((word for word in ("aborted", "stopped") if row.get(word)), "failed")
            print_line(console, f"{what}: {row['cell_id']}: {row['error']}", indent="    ")


def _print_setting(
    console: Console, label: str, cells: Sequence[ScoredCell], blind: Sequence[ScoredCell]
) -> Iterator[str]:
    """Gives the lines that explain what it printed."""
    found = groups(cells)
    setting = found[0].setting
    passed = accuracy_table(found, ())
    privileged = any(cell.privileged for cell in cells)
    title = f"{label} (privileged)" if privileged else label
    print_table(console, _accuracy(passed, setting, title))
    scored = [group for group in found if group.scored]
    if not scored:
        return
    if setting.model in RULE_BLIND_MODELS:
        print_line(console, validity_line(setting.model, scored, blind))
        return
    yield INTERVALS
    yield from passed.notes[1:2] if any(f.value for f in passed.figures if "guess" in f.measure) else ()
    losses, gap = loss_table(scored), gap_table(scored)
    if losses.figures:
        print_table(console, _losses(losses, gap, setting))
        yield f"{losses.title}:"
        yield from (f"  {note}" for note in (*losses.notes, *gap.notes))
    companions = companion_table(scored)
    variants = [group.variant for group in found]
    print_table(console, _table(companions, setting, "beside the pass mark", variants))
    memory = memory_table(scored)
    if memory.figures and setting.layer not in SAYS_LITTLE:
        print_table(console, _table(memory, setting, memory.title, variants))
        yield from memory.notes
    if setting.user != UNKNOWN_USER:
        print_line(console, users_of(scored[0].scored))
    if privileged:
        print_line(console, f"{setting.model} {PRIVILEGED}")
    for line in validity_line(setting.model, scored, blind).splitlines():
        print_line(console, line, indent="    ")


def _cells(rows: Sequence[Row], known: Mapping[str, ScoredCell]) -> list[ScoredCell]:
    """A cell without a score goes with those of its model that have one."""
    cells = [
        replace(known.get(row["runs_dir"]) or _scored(row), privileged=_privileged(row))
        for row in rows
        if row["ok"]
    ]
    for row in rows:
        if not row["ok"] and row["variant"]:
            model, layer = row["model"] or "", row.get("memory_layer")
            like = next((c.setting for c in cells if c.setting.model == model), None)
            alike = (c.setting for c in cells if c.setting.model == model and c.setting.layer == layer)
            setting = next(alike, like) or Setting(model)
            cells.append(
                ScoredCell(
                    row["cell_id"], "", row["variant"], setting, privileged=_privileged(row), problem="none"
                )
            )
    return cells


def _privileged(row: Row) -> bool:
    return bool(row.get("privileged"))


def _accuracy(table: FigureTable, setting: Setting, title: str) -> Table:
    shown: list[Figure] = []
    for figure in table.figures:
        shown.append(figure)
        if figure.measure == ALL and figure.ends:
            interval = Figure(setting, figure.variant, "  95% interval", 0, "text", note=figure.ends)
            shown.append(interval)
    kept = [figure for figure in shown if figure.value is not None or figure.note or figure.measure == ALL]
    variants = list(dict.fromkeys(figure.variant for figure in table.figures))
    built = _table(FigureTable(table.name, title, kept), setting, "% passed (tests)", variants)
    built.title, built.title_justify = title, "left"
    return built


def _losses(losses: FigureTable, gap: FigureTable, setting: Setting) -> Table:
    """The gap from default to the oracle stands beside the classes that explain it."""
    renamed = [replace(figure, variant="gap", count=None) for figure in gap.figures]
    both = [replace(figure, count=None) for figure in losses.figures] + renamed
    variants = list(dict.fromkeys(figure.variant for figure in both))
    return _table(FigureTable("losses", losses.title, both), setting, losses.title, variants)


def _table(figures: FigureTable, setting: Setting, head: str, variants: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column(head)
    for variant in variants:
        table.add_column(variant, justify="right")
    cells = {(figure.measure, figure.variant): figure.short for figure in figures.figures}
    for measure in dict.fromkeys(figure.measure for figure in figures.figures):
        table.add_row(measure, *(cells.get((measure, variant), ABSENT) for variant in variants))
    return table


def _scored(row: Row) -> ScoredCell:
    """A cell whose score was looked at before."""
    folder = CellFolder(Path(row["runs_dir"]))
    if (found := read_evaluation(folder)) is None:
        raise DataError("is gone or damaged; score the cell again", path=folder.evaluation)
    return scored_cell(folder, found)
