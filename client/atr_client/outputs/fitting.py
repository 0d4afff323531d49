"""Printing for any width of the terminal: no word is broken in the middle.

A table that is too wide goes on in a further one, with the same first column. A line of prose is wrapped
between words on a terminal, and left whole in a file or a pipe, where people search for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from rich.console import Console
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

_ANY_WIDTH = 100_000
_EDGE = 1
"""What a column beside others takes less than alone: two neighbours share a line."""


def print_table(console: Console, table: Table) -> None:
    """Prints the table in as many parts as its columns need; only the first column may wrap."""
    if table.title is not None:
        print_line(console, str(table.title), style="table.title")
    for part in _parts(console, table):
        console.print(part)


def print_line(console: Console, line: str, *, style: str = "", indent: str = "") -> None:
    """Prints a line of prose; further lines of it are indented by `indent`."""
    lines = [line]
    if console.is_terminal:
        width = max(console.width, 1)
        lines = wrap(
            line,
            width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
            drop_whitespace=True,
        ) or [line]
    for text in lines:
        console.print(Text(text, style=style), soft_wrap=True)


def _parts(console: Console, table: Table) -> Iterator[Table]:
    first, *others = table.columns
    unbounded = console.options.update(width=_ANY_WIDTH)
    alone = {id(c): Measurement.get(console, unbounded, _table(table, [c])).maximum for c in table.columns}
    chosen, width = [first], alone[id(first)]
    for column in others:
        more = alone[id(column)] - _EDGE
        if len(chosen) > 1 and width + more > console.width:
            yield _table(table, chosen)
            chosen, width = [first], alone[id(first)]
        chosen.append(column)
        width += more
    yield _table(table, chosen)


def _table(source: Table, columns: Sequence[Column]) -> Table:
    part = Table(box=source.box)
    for number, column in enumerate(columns):
        part.add_column(column.header, justify=column.justify, no_wrap=number > 0)
    for row in zip(*(column.cells for column in columns), strict=True):
        part.add_row(*row)
    return part
