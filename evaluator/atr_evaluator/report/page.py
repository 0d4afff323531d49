"""The report as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from typing import Any

from atr_data.errors import DataError
from atr_evaluator.aggregate.all_tables import all_tables
from atr_evaluator.aggregate.figures import FigureTable, ListTable, Table
from atr_evaluator.aggregate.formats import blocks
from atr_evaluator.aggregate.settings import ScoredCell, Setting, groups, unlike_personas, varying
from atr_evaluator.report.chart_parts import NARROW
from atr_evaluator.report.charts import charts
from atr_evaluator.report.drawing import drawn
from atr_evaluator.report.session_view import INDEX


@dataclass(frozen=True, slots=True)
class PackedCell:
    """The sessions of one cell: their rows in the list, and their documents by id, deflated (zlib)."""

    rows: Sequence[Sequence[Any]]
    documents: bytes


@dataclass(frozen=True, slots=True)
class Overview:
    """What the page says of all cells together, without their sessions."""

    tables: Sequence[Table]
    warnings: Sequence[str]
    cells: Sequence[ScoredCell]


def packed(rows: Sequence[Sequence[Any]], documents: Mapping[str, Any]) -> PackedCell:
    text = json.dumps(documents, ensure_ascii=False, separators=(",", ":"))
    return PackedCell(rows, zlib.compress(text.encode("utf-8", "surrogatepass"), 9))


def overview(cells: Sequence[ScoredCell], warnings: Sequence[str] = ()) -> Overview:
    return Overview(all_tables(cells), [*warnings, *unlike_personas(groups(cells))], cells)


def page(
    title: str,
    found: Overview,
    sessions: Sequence[PackedCell],
    *,
    served: bool = False,
    embedded: bool = True,
    body: str | None = None,
) -> str:
    """`sessions` in the order of the cells; `body` is the fragment where it was drawn before. `served`: the
    page comes from a server that has the sessions and tells when something has changed. Not `embedded`: the
    file would be too large with them.

    Raises DataError when a package is missing.
    """
    try:
        jinja = import_module("jinja2")
    except ImportError as error:
        raise DataError("a report needs the package jinja2: pip install 'atrbench[report]'") from error
    folder = files("atr_evaluator.report").joinpath("templates")
    read = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}
    environment = jinja.Environment(
        loader=jinja.DictLoader(read), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    text: str = environment.get_template("page.html.j2").render(
        title=title,
        style=read["report.css"],
        script=read["report.js"],
        body=fragment(found) if body is None else body,
        data=script_json({**reader_data(found.cells, sessions), "served": served, "embedded": embedded}),
        blocks=[
            base64.b64encode(one.documents).decode() if embedded and not served else "" for one in sessions
        ],
        served=served,
    )
    return text


def fragment(found: Overview) -> str:
    """The charts and tables of the page; this part alone changes while a sweep runs."""
    jinja = import_module("jinja2")
    folder = files("atr_evaluator.report").joinpath("templates")
    source = folder.joinpath("overview.html.j2").read_text(encoding="utf-8")
    environment = jinja.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    complete = sum(cell.complete for cell in found.cells)
    blind = {cell.setting for cell in found.cells if cell.blind}
    hidden = blind if len(blind) < len({cell.setting for cell in found.cells}) else ()
    pairs = zip(charts(found.tables, hidden), charts(found.tables, hidden, NARROW), strict=True)
    text: str = environment.from_string(source).render(
        charts=[(wide, drawn(wide), drawn(narrow)) for wide, narrow in pairs],
        tables=[_shown(table) for table in found.tables],
        warnings=found.warnings,
        complete=complete,
        total=len(found.cells),
    )
    return text


def _shown(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "blocks": list(blocks(table)),
        "notes": table.notes,
        "numbers": isinstance(table, FigureTable),
        "rows": len(table.rows) if isinstance(table, ListTable) else len(table.figures),
    }


def reader_data(cells: Sequence[ScoredCell], sessions: Sequence[PackedCell]) -> dict[str, Any]:
    """What the reader needs to list and filter sessions."""
    names = varying(dict.fromkeys(cell.setting for cell in cells))
    labels: dict[Setting, str] = {cell.setting: cell.setting.label(names) for cell in cells}
    return {
        "cells": [[cell.cell_id, cell.persona, cell.variant, labels[cell.setting]] for cell in cells],
        "columns": INDEX,
        "rows": [row for one in sessions for row in one.rows],
    }


def script_json(value: Any) -> str:
    """JSON that can stand in a script element, whatever its texts hold."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
