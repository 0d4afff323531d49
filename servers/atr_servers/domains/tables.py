"""The state of an environment: tables of rows, how rows come out of references, how handlers look them up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from atr_data.episode import PersonaProfile
from atr_ontology import ObjectType

Row = dict[str, Any]
Rows = dict[str, Row]
Attributes = Mapping[str, Any]
Kind = Literal["text", "text?", "number", "number?", "whole", "whole?", "flag", "texts", "any"]


class Refusal(Exception):
    """A call that cannot be carried out. The message goes to the agent; no state has changed."""


@dataclass(frozen=True, slots=True)
class Column:
    """A field of a row, promoted from the reference attribute of its name.

    `default` stands in for a missing attribute only. `read` computes the value from reference id and
    attributes instead; `takes` names the attributes that then do not stay among the row's other attributes.
    A column that is not `shown` appears in no answer.
    """

    name: str
    kind: Kind
    default: Any = None
    read: Callable[[str, Attributes], Any] | None = None
    takes: tuple[str, ...] | None = None
    shown: bool = True

    def value(self, reference_id: str, attributes: Attributes) -> Any:
        if self.read is None:
            return attribute(attributes, self.name, self.kind, self.default)
        return _typed(self.name, self.read(reference_id, attributes), self.kind)


@dataclass(frozen=True, slots=True)
class Link:
    """A row of another table, made when a reference carries a truthy attribute named as its key.

    When such a row exists already it stays, after `merge` has seen it and the reference id.
    """

    table: str
    build: Callable[[str, Attributes, PersonaProfile], Row]
    merge: Callable[[Row, str], None] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one kind, in the order in which they came in.

    `noun` names the kind and `source` tells where its ids are found: both only for messages. Without a source
    it is the search that the ontology names. A table without `reference_types` starts empty, or holds what
    links put there.
    """

    name: str
    key: str
    noun: str
    source: str = ""
    reference_types: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    keeps_attributes: bool = True
    link: Link | None = None

    def row(self, reference_id: str, attributes: Attributes) -> Row:
        """Raises ValueError for an attribute of the wrong type."""
        row: Row = {self.key: reference_id}
        row |= {column.name: column.value(reference_id, attributes) for column in self.columns}
        if self.keeps_attributes:
            taken = {name for c in self.columns for name in (c.takes if c.takes is not None else (c.name,))}
            row["attributes"] = {name: value for name, value in attributes.items() if name not in taken}
        return row

    def show(self, row: Row) -> Row:
        """What an agent gets to see of a row."""
        hidden = {column.name for column in self.columns if not column.shown}
        return {name: value for name, value in row.items() if name not in hidden}


class State:
    """What a session's tools know and change: the persona's account data and the rows of each table."""

    def __init__(
        self, tables: Iterable[Table], objects: Mapping[str, ObjectType], persona: PersonaProfile
    ) -> None:
        self.tables = {table.name: table for table in tables}
        self.objects = objects
        self.persona = persona
        self.rows: dict[str, Rows] = {name: {} for name in self.tables}

    def load(self, table: Table, reference_id: str, attributes: Attributes) -> None:
        """Puts a reference into its table; one that repeats an id replaces the row and keeps its place."""
        row = table.row(reference_id, attributes)
        link = table.link
        key = self.tables[link.table].key if link else ""
        if link and (linked_id := attributes.get(key)):
            linked_id = _typed(key, linked_id, "text")
            linked = self.rows[link.table]
            if linked_id not in linked:
                linked[linked_id] = {key: linked_id, **link.build(reference_id, attributes, self.persona)}
            elif link.merge:
                link.merge(linked[linked_id], reference_id)
        self.rows[table.name][reference_id] = row

    def known(self, table: str, row_id: str) -> Row:
        """The row of that id. Raises Refusal when there is none."""
        if row_id in self.rows[table]:
            return self.rows[table][row_id]
        wanted = self.tables[table]
        others = [self.tables[name].noun for name, rows in self.rows.items() if row_id in rows]
        message = f"no {wanted.noun} has the {wanted.key} {excerpt(row_id)}"
        if others:
            message += f" (it is the id of another kind: {others[0]})"
        raise Refusal(f"{message}. {wanted.source or self._source(wanted)}")

    def _source(self, table: Table) -> str:
        search = self.objects[table.reference_types[0]].search
        return f"{search} lists the {table.noun}s."

    def known_all(self, table: str, row_ids: Iterable[str]) -> list[Row]:
        """The rows of those ids, repeats included. Raises Refusal when one does not exist."""
        return [self.known(table, row_id) for row_id in row_ids]

    def add(self, table: str, prefix: str, **fields: Any) -> str:
        """Appends a row under a new id, `prefix` and the running number of the table, and answers the id."""
        rows = self.rows[table]
        row_id = free_id(rows, prefix)
        rows[row_id] = {self.tables[table].key: row_id, **fields}
        return row_id

    def set_status(self, table: str, row_id: str, status: str) -> dict[str, Any]:
        """Changes a row's status and answers it with the id. Raises Refusal for an unknown id."""
        self.known(table, row_id)["status"] = status
        return {self.tables[table].key: row_id, "status": status}

    def modify(self, table: str, row_id: str, field: str, value: Any) -> dict[str, Any]:
        """Changes one field of a row. The answered status is that of the change, not of the row."""
        self.known(table, row_id)[field] = value
        return {self.tables[table].key: row_id, "status": "modified", "field": field}


def free_id(rows: Mapping[str, Any], prefix: str) -> str:
    """The next id that is not taken, starting from the count of rows plus one, in three digits at least."""
    number = len(rows) + 1
    while (row_id := f"{prefix}{number:03d}") in rows:
        number += 1
    return row_id


def own_id(name: str) -> Column:
    """A text column whose default is the id of the reference."""
    return Column(name, "text", read=lambda reference_id, attributes: attributes.get(name, reference_id))


def attribute(attributes: Attributes, name: str, kind: Kind, default: Any = None) -> Any:
    """The attribute of that name, or the default when it is missing. Raises ValueError for a wrong type."""
    return _typed(name, attributes.get(name, default), kind)


def excerpt(value: object) -> str:
    """A value as JSON, cut to what fits in a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _typed(name: str, value: Any, kind: Kind) -> Any:
    if value is None and kind.endswith("?"):
        return None
    match kind.removesuffix("?"), value:
        case ("text", str()) | ("flag", bool()) | ("any", _):
            return value
        case ("number", int() | float()) if not isinstance(value, bool):
            return float(value)
        case ("whole", int()) if not isinstance(value, bool):
            return value
        case ("texts", [*items]) if all(isinstance(item, str) for item in items):
            return items
        case _:
            raise ValueError(f"attribute {name!r} must be {_KINDS[kind]}, got {excerpt(value)}")


_KINDS: Mapping[Kind, str] = {
    "text": "text",
    "text?": "text or null",
    "number": "a number",
    "number?": "a number or null",
    "whole": "a whole number",
    "whole?": "a whole number or null",
    "flag": "true or false",
    "texts": "a list of texts",
}
