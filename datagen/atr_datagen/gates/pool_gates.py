"""Gates on the objects a rule chooses among: each face singles out its gold (S1), tags are proven (S2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from atr_data.episode import Reference
from atr_datagen.source.document import Path
from atr_datagen.source.predicates import beats, holds, items, plain
from atr_datagen.source.scenario import TestScenario, row_argument
from atr_datagen.source.world import Row

Failures = Iterator[tuple[Path, str]]
"""Where in the source, and what is wrong there."""

LIMIT_ROWS = (1, 2)


def oracle_unique(test: TestScenario) -> Failures:
    """S1: of the compiled objects exactly the gold ones meet the limits and the face, for every face."""
    names = {test.world.ids[row.key]: row for row in test.world.candidates()}
    for face in test.faces:
        met = [r for r in test.world.references if r.id in names and _meets(test, face.rule_is, r)]
        found = sorted(_argument(test, names[r.id]) for r in met)
        gold = sorted(str(g) for g in items(face.required.arguments[str(test.rule.parameter)]))
        if sorted(set(found)) != gold:
            yield (
                (*face.path, "rule_is"),
                f"is met by {', '.join(found) or 'none'}; gold is {', '.join(gold)}",
            )


def _meets(test: TestScenario, rule_is: Sequence[Any], reference: Reference) -> bool:
    return holds((*test.must, *rule_is), reference.attributes)


def _argument(test: TestScenario, row: Row) -> str:
    return row_argument(row, str(test.rule.parameter), test.rule.domain, test.world)


def tags_proven(test: TestScenario) -> Failures:
    """S2: every tag is what its predicates say; a pull and one or two limit rows stand beside the faces."""
    rows = test.world.candidates()
    tags = Counter(row.tag for row in rows)
    where = (*test.path, "rows")
    if not tags["pull"]:
        yield where, "no row is tagged pull"
    if not LIMIT_ROWS[0] <= tags["limit"] <= LIMIT_ROWS[1]:
        yield where, f"{tags['limit']} rows are tagged limit; should be one or two"
    if tags["off"] > 1:
        yield where, f"{tags['off']} rows are tagged off; at most one may be"
    for row in rows:
        for reason in _tag_problems(row, test):
            yield row.path, f"{row.key} is tagged {row.tag}, but {reason}"
    yield from _crossed(test)


def _tag_problems(row: Row, test: TestScenario) -> Iterator[str]:
    broken = [str(p) for p in test.must if not p(row.attributes)]
    golds = [face.block.key for face in test.faces if holds(face.rule_is, row.attributes)]
    match row.tag:
        case "off":
            return
        case None:
            yield "every candidate needs a tag"
        case "limit":
            if len(broken) != 1:
                yield f"breaks {len(broken)} limits ({_list(broken)}); should break exactly one"
        case _ if broken:
            yield f"breaks a limit ({_list(broken)})"
        case "face" if not golds:
            yield "is the gold of no face"
        case "pull" | "near" if golds:
            yield f"meets face {_list(golds)}"
        case "pull":
            for field, side in test.rule.test.pulls.items():
                slow = [
                    face.block.key
                    for face in test.faces
                    for gold in face.golds
                    if not beats(row.attributes, gold.attributes, field, side)
                ]
                if slow:
                    yield f"does not beat the gold of {_list(list(dict.fromkeys(slow)))} on {field} ({side})"
        case _:
            return


def _crossed(test: TestScenario) -> Failures:
    """A row that fails a limit says nothing of the face: it carries what some passing row decides by, and two
    of them carry what different faces ask for."""
    limited = {predicate.field for predicate in test.must}
    for field in sorted(limited & set(test.deciding)):
        yield (*test.path, "must"), f"limits {field}, by which faces decide; a limit needs a field of its own"
    rows = test.world.candidates()
    passing = {
        _decides(row, test): row.key
        for row in rows
        if row.tag != "limit" and holds(test.must, row.attributes)
    }
    carried: dict[tuple[str, ...], str] = {}
    for row in (row for row in rows if row.tag == "limit"):
        values = _decides(row, test)
        fields = f"{', '.join(test.deciding)} of {row.key}"
        if values not in passing:
            yield row.path, f"{fields} should be as in a row that passes; is {_list(list(values))}"
        elif values in carried:
            yield row.path, f"{fields} is as in {carried[values]}; two limit rows carry different faces"
        carried[values] = row.key
    if len(carried) > 1:
        for row in (row for row in rows if row.tag == "limit"):
            if not any(holds(face.rule_is, row.attributes) for face in test.faces):
                yield row.path, f"{row.key} carries no face; where two limit rows stand, both do"


def _decides(row: Row, test: TestScenario) -> tuple[str, ...]:
    return tuple(plain(row.attributes.get(field, "nothing")) for field in test.deciding)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
