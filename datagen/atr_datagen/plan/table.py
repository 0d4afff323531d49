"""The plan as a table: one line per rule, then one per learning session."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from atr_data.errors import DataError
from atr_data.reading import StrPath, read_text
from atr_datagen.plan.model import (
    Plan,
    PlannedPersona,
    PlannedRule,
    PlannedSession,
    Pull,
    mini_split,
    roster,
)

_COLUMNS: Sequence[str] = (
    "kind persona index domain type slot faces choices blind candidates pulls limits pair trigger sibling "
    "pinned role family path day rule drawn"
).split()
"""The first four stand in every line, up to `pinned` in lines of rules, the others and `trigger` in those of
sessions."""
_RULE, _SESSION = TypeAdapter(PlannedRule), TypeAdapter(PlannedSession)


def plan_text(plan: Plan) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for persona in plan.personas:
        writer.writerows(_rule_line(persona.id, rule) for rule in persona.rules)
    for persona in plan.personas:
        writer.writerows(_session_line(persona.id, session) for session in persona.learning)
    return stream.getvalue()


def _rule_line(persona: str, rule: PlannedRule) -> dict[str, object]:
    return {
        "kind": "rule",
        "persona": persona,
        "index": rule.index,
        "domain": rule.domain,
        "type": rule.type,
        "slot": rule.slot,
        "faces": rule.faces,
        "choices": "; ".join(rule.choices),
        "blind": rule.blind,
        "candidates": rule.candidates or "",
        "pulls": "; ".join(map(_pull_text, rule.pulls)),
        "limits": "; ".join(rule.limits),
        "pair": rule.pair,
        "trigger": rule.trigger,
        "sibling": _optional(rule.sibling),
        "pinned": "yes" if rule.pinned else "",
    }


def _pull_text(pull: Pull) -> str:
    return f"{pull.field} {pull.direction} {'/'.join(map(str, pull.ranks))}"


def _session_line(persona: str, session: PlannedSession) -> dict[str, object]:
    return {
        "kind": "session",
        "persona": persona,
        "index": session.index,
        "domain": session.domain,
        "role": session.role,
        "family": session.family,
        "path": " > ".join(session.path),
        "day": session.day,
        "rule": _optional(session.rule),
        "trigger": session.trigger,
        "drawn": "; ".join(f"{slot}={value}" for slot, value in session.drawn.items()),
    }


def _optional(number: int | None) -> int | str:
    return "" if number is None else number


def read_plan(path: StrPath, seed: int = 0) -> Plan:
    """Reads what plan_text wrote. The seed is not in the table; it only numbers simulations.

    Raises DataError when the file cannot be read or is no plan.
    """
    table = csv.DictReader(io.StringIO(read_text(path)), restval="")
    try:
        return _planned(table, Path(path), seed)
    except csv.Error as error:
        raise DataError(f"line {table.line_num}: is no plan: {error}", path=Path(path)) from error


def _planned(table: csv.DictReader[str], path: Path, seed: int) -> Plan:
    if table.fieldnames != list(_COLUMNS):
        raise DataError(f"is no plan; its columns should be {','.join(_COLUMNS)}", path=path)
    sketches = {character.id: character.sketch for character in roster()}
    rules: dict[str, list[PlannedRule]] = {}
    sessions: dict[str, list[PlannedSession]] = {}
    for line in table:
        try:
            if line["kind"] == "rule":
                rules.setdefault(line["persona"], []).append(_rule(line))
            else:
                sessions.setdefault(line["persona"], []).append(_session(line))
        except ValidationError as error:
            first = error.errors()[0]
            column = ".".join(map(str, first["loc"]))
            raise DataError(
                f"line {table.line_num}: {column}: {first['msg']}; is {first['input']!r:.60}", path=path
            ) from error
    personas = [PlannedPersona(p, sketches.get(p, ""), own, sessions.get(p, [])) for p, own in rules.items()]
    return Plan(seed, personas, mini_split())


def _rule(line: Mapping[str, str]) -> PlannedRule:
    fields = ("index", "domain", "type", "slot", "faces", "blind", "pair", "trigger")
    return _RULE.validate_python(
        {
            **{name: line[name] for name in fields},
            "candidates": line["candidates"] or 0,
            "choices": tuple(_parts(line["choices"])),
            "pulls": tuple(_pull(text) for text in _parts(line["pulls"])),
            "limits": tuple(_parts(line["limits"])),
            "sibling": line["sibling"] or None,
            "pinned": line["pinned"] == "yes",
        }
    )


def _pull(text: str) -> dict[str, object]:
    field, direction, ranks = [*text.split(), "", "", ""][:3]
    return {"field": field, "direction": direction, "ranks": tuple(ranks.split("/"))}


def _session(line: Mapping[str, str]) -> PlannedSession:
    return _SESSION.validate_python(
        {
            **{name: line[name] for name in ("index", "role", "domain", "family", "day", "trigger")},
            "path": tuple(line["path"].split(" > ")),
            "rule": line["rule"] or None,
            "drawn": {item.partition("=")[0]: item.partition("=")[2] for item in _parts(line["drawn"])},
        }
    )


def _parts(text: str) -> list[str]:
    return text.split("; ") if text else []
