"""The track's part of a report: a section of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from atr_client.timing.table import ResultTable
from atr_client.timing.timing_results import conditions, table_of

TITLE = "When to help, and with what"


def report_section(folders: Sequence[Path]) -> str:
    """The tables of all runs below some outputs folders; empty when there are none. Raises DataError for a
    set that is not where its cells say."""
    parts = [
        f"<h3>{escape(one.name)}</h3>\n{_html(table_of(one))}"
        for folder in folders
        for one in conditions(folder)
    ]
    return f'<section id="timing">\n<h2>{TITLE}</h2>\n{"".join(parts)}</section>\n' if parts else ""


def _html(table: ResultTable) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in table.rows
    )
    notes = "".join(f"<p>{escape(note)}</p>\n" for note in table.notes)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n{notes}"
