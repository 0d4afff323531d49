"""Tables as Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

from atr_evaluator.aggregate.figures import ABSENT, Figure, FigureTable, ListTable, Table
from atr_evaluator.aggregate.settings import varying

Block = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""A heading ("" where the title suffices), the names of the columns, the rows."""


def blocks(table: Table) -> Iterator[Block]:
    """A table as it is shown: one block per setting, or the list as it is."""
    if isinstance(table, ListTable):
        rows = [[table.text(row, column) for column in table.columns] for row in table.rows]
        yield "", [column.title for column in table.columns], rows
        return
    names = varying(table.settings)
    for setting in table.settings:
        variants, rows = table.block(setting)
        yield setting.label(names), ["", *variants], [[measure, *texts] for measure, texts in rows]


def as_markdown(tables: Sequence[Table]) -> str:
    parts: list[str] = []
    for table in tables:
        parts.append(f"## {_md(table.title)}")
        for heading, columns, rows in blocks(table):
            if heading:
                parts.append(f"### {_md(heading)}")
            align = ["---"] + ["---:" if isinstance(table, FigureTable) else "---"] * (len(columns) - 1)
            lines = [columns, align, *rows]
            parts.append("\n".join(f"| {' | '.join(map(_md, line))} |" for line in lines))
        parts += [_md(note) for note in table.notes]
    return "\n\n".join(parts) + "\n"


def as_latex(tables: Sequence[Table]) -> str:
    """`tabular` environments with the rules of booktabs; the notes as comments."""
    parts: list[str] = []
    for table in tables:
        for heading, columns, rows in blocks(table):
            side = "r" if isinstance(table, FigureTable) else "l"
            caption = ": ".join(filter(None, (table.title, heading)))
            body = [f"{' & '.join(map(_tex, row))} \\\\" for row in rows]
            parts.append(
                "\n".join(
                    [
                        f"% {_one_line(caption)}",
                        f"\\begin{{tabular}}{{l{side * (len(columns) - 1)}}}",
                        "\\toprule",
                        f"{' & '.join(map(_tex, columns))} \\\\",
                        "\\midrule",
                        *body,
                        "\\bottomrule",
                        "\\end{tabular}",
                    ]
                )
            )
        parts += [f"% {_one_line(note)}" for note in table.notes]
    return "\n\n".join(parts) + "\n"


def as_json(tables: Sequence[Table]) -> str:
    """Values as they are: shares from 0 to 1, null where there is none."""
    documents = [
        {"name": table.name, "title": table.title, "rows": list(tidy(table)), "notes": list(table.notes)}
        for table in tables
    ]
    return json.dumps({"tables": documents}, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def as_csv(tables: Sequence[Table]) -> str:
    """One tidy row per figure, the tables under each other: a column that a table lacks is empty."""
    rows = [{"table": table.name, **row} for table in tables for row in tidy(table)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or ["table"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _spreadsheet(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


FORMATS: Mapping[str, Callable[[Sequence[Table]], str]] = {
    "md": as_markdown,
    "csv": as_csv,
    "latex": as_latex,
    "json": as_json,
}


def tidy(table: Table) -> Iterator[dict[str, Any]]:
    """Flat rows with raw values; an interval in two columns."""
    if isinstance(table, FigureTable):
        yield from map(_of_figure, table.figures)
        return
    for row in table.rows:
        flat: dict[str, Any] = {}
        for column in table.columns:
            value = row[column.key]
            if column.key.endswith("interval"):
                stem = column.key.removesuffix("interval").rstrip("_")
                flat |= _ends(value, f"{stem}_" if stem else "")
            else:
                flat[column.key] = _plain(value)
        yield flat


def _of_figure(figure: Figure) -> dict[str, Any]:
    return {
        **asdict(figure.setting),
        "variant": figure.variant,
        "measure": figure.measure,
        "kind": figure.kind,
        "value": _plain(figure.value),
        **_ends(figure.interval, ""),
        "count": figure.count,
        "note": figure.note,
    }


def _ends(interval: Sequence[float] | None, stem: str) -> dict[str, Any]:
    low, high = interval or (None, None)
    return {f"{stem}low": _plain(low), f"{stem}high": _plain(high)}


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and isnan(value) else value


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _md(text: str) -> str:
    escaped = _one_line(text).replace("\\", "\\\\").replace("|", "\\|")
    return escaped.replace("<", "&lt;").replace("_", "\\_").replace("*", "\\*")


_TEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _tex(text: str) -> str:
    shown = "---" if text == ABSENT else _one_line(text)
    return "".join(_TEX.get(sign, sign) for sign in shown)


def _spreadsheet(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula is marked as text."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return f"'{value}"
    return value
