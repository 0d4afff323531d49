"""Rules that the domains share: matching texts, reading dates and numbers, answering a search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any, cast

from atr_servers.domains.tables import Attributes, Column, Refusal, Row, State, excerpt

_SEPARATORS = re.compile(r"[\s,./\-_]+")
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](?:[01]\d|2[0-3])(?::[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?",
    re.ASCII,
)
_WHOLE = re.compile(r"-?\d{1,300}", re.ASCII)


def loose_match(query: str | None, target: str | None) -> bool:
    """True when one text contains the other or both share a word; case and outer blanks do not count.

    An empty query matches everything, an empty target nothing else. Words end at white space and at `,./-_`.
    """
    if not query:
        return True
    if not target:
        return False
    wanted, found = query.lower().strip(), target.lower().strip()
    return wanted in found or found in wanted or bool(_words(wanted) & _words(found))


def _words(text: str) -> set[str]:
    return set(_SEPARATORS.split(text)) - {""}


def shares_text(wanted: Iterable[str], present: Iterable[str]) -> bool:
    """True when a whole text stands in both lists; case does not count."""
    return not {text.lower() for text in wanted}.isdisjoint(text.lower() for text in present)


def moment(value: str, argument: str) -> str:
    """The trimmed text of an ISO 8601 date, alone or with a time; moments are compared as texts later on.

    Raises Refusal for anything else.
    """
    text = value.strip()
    match = _MOMENT.fullmatch(text)
    if match is None or not _is_date(*match.groups()):
        raise Refusal(
            f"{argument}: expected an ISO 8601 date, or date and time, such as 2025-03-04 or"
            f" 2025-03-04T10:30:00, got {excerpt(value)}"
        )
    return text


def _is_date(year: str, month: str, day: str) -> bool:
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


def whole_number(value: str, argument: str) -> int:
    """The whole number a text holds, digits with at most one leading minus. Raises Refusal."""
    text = value.strip()
    if not _WHOLE.fullmatch(text):
        raise Refusal(f'{argument}: expected a whole number as text such as "2", got {excerpt(value)}')
    return int(text)


def by_rating(row: Row) -> float:
    """Sort key: highest rating first, none counts as 0."""
    return -(row["rating"] or 0)


def search_answer(
    state: State, table: str, found: Iterable[Row], order: Callable[[Row], Any] | None = None
) -> dict[str, Any]:
    """The found rows as an agent sees them, sorted by the key `order` or left as they stand in the table.

    A hint tells an agent when filters hid every row; a table without rows gives none.
    """
    declaration, results = state.tables[table], list(found)
    if order:
        results.sort(key=order)
    answer: dict[str, Any] = {"count": len(results), "results": [declaration.show(row) for row in results]}
    if not results and (total := len(state.rows[table])):
        answer["hint"] = f"None of {total} {declaration.noun}(s) passed the filters; ask with fewer filters."
    return answer


def listing(state: State, table: str) -> dict[str, Any]:
    """Every row of a table, without a hint."""
    results = [state.tables[table].show(row) for row in state.rows[table].values()]
    return {"count": len(results), "results": results}


def tags_with(name: str, kind: str) -> Column:
    """A column of tags that takes in the attribute `kind` as one more tag, unless it stands among them."""

    def read(_: str, attributes: Attributes) -> object:
        tags, extra = attributes.get(name, []), attributes.get(kind)
        if not extra or not isinstance(tags, list) or extra in tags:
            return cast(object, tags)
        return [*cast("list[object]", tags), extra]

    return Column(name, "texts", read=read, takes=(name, kind))


def tracking(target: str, **facts: Any) -> dict[str, Any]:
    """The answer of a tool that follows something from now on."""
    return {"tracking_id": f"TRK_{target}", "target": target, **facts, "status": "tracking_enabled"}
