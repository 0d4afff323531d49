"""Aggregate tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from atr_client.outputs.fitting import print_line, print_table
from atr_evaluator.aggregate.figures import Table
from atr_evaluator.aggregate.formats import blocks


def print_tables(console: Console, tables: Sequence[Table]) -> None:
    """Each under its title, with its notes below it. A table that is too wide goes on in a further one."""
    for table in tables:
        print_line(console, table.title, style="bold")
        for heading, columns, rows in blocks(table):
            if heading:
                print_line(console, heading, style="table.title")
            shown = RichTable(box=box.SIMPLE)
            for number, name in enumerate(columns):
                shown.add_column(name, justify="right" if number else "left")
            for row in rows:
                shown.add_row(*row)
            print_table(console, shown)
        for note in table.notes:
            print_line(console, note, indent="  ")
        console.print()
