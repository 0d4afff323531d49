"""Which tool serves a request, which object is meant, which value fits: by shared words alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from atr_client.models.base import ToolSpec
from atr_client.models.offline.reading import Row, Statement, is_writing, properties, required, row_key
from atr_client.models.offline.wording import ceiling, dates, leaning, overlap, rarity, stem, stems

STATEMENT_WEIGHT = 2.0
NAME_WEIGHT = 3.0

_MEANS = {
    "order": "buy purchase get grab stock",
    "return": "wrong damaged broken send back faulty",
    "restaurant": "dinner lunch breakfast brunch table meal eat dining food",
    "event": "concert show game ticket performance festival meeting appointment block calendar",
    "ticket": "concert show game performance festival seat admission",
    "service": "haircut massage repair cleaning cleaner plumber session trim tune visit clinic spa salon",
    "appointment": "session visit haircut massage",
    "hotel": "room stay lodging night overnight bed inn motel accommodation",
    "flight": "fly plane airline air airport",
    "ground": "train bus rail coach drive car ride transfer shuttle road",
    "transport": "train bus rail coach drive car ride transfer shuttle road",
    "trip": "itinerary vacation getaway travel days",
    "replan": "fell through disrupted closed canceled cancelled swap replacement replace substitute",
    "destination": "place getaway idea shortlist",
    "draft": "review look over first",
    "send": "reply answer write email respond tell message immediately straight",
    "message": "email mail inbox",
    "archive": "clear away clean store keep",
    "delete": "remove trash discard throw",
    "classify": "organize organise sort tidy categorize",
    "label": "tag mark",
    "priority": "urgent important flag rank",
    "respond": "rsvp invite invitation answer reply accept decline",
    "invite": "rsvp invitation",
    "reschedule": "move shift push postpone later",
    "reminder": "remind nudge alert forget",
    "cancel": "drop end stop quit call off",
    "pause": "hold freeze suspend break",
    "resume": "restart again reactivate",
    "subscription": "membership plan service box streaming",
    "plan": "tier upgrade downgrade level",
    "document": "write note memo report doc file record summary",
    "tracker": "log entry list status",
    "list": "shopping plan groceries",
}
_VALUE_MEANS = {
    "accept": "yes attend join go say confirm",
    "decline": "no skip pass turn down refuse",
    "tentative": "maybe unsure pencil hold open wait",
    "refund": "money back cash",
    "exchange": "swap replacement replace right item another",
    "store_credit": "credit balance next purchase",
    "window": "view look outside",
    "aisle": "legroom stand stretch easy out",
    "high": "urgent top important front first ahead",
    "low": "later back bottom quiet last",
    "by_project": "project job client case",
    "by_type": "type kind format extension",
    "by_date": "date month year chronological when old",
    "by_owner": "owner person who belong",
    "by_priority": "priority urgent importance",
    "note": "quick short jot simple informal",
    "memo": "official formal team announce",
    "spreadsheet": "table column row number sheet",
    "report": "full detailed summary formal",
    "template": "reuse reusable again skeleton form",
    "once": "single one",
    "daily": "every day morning",
    "weekly": "every week",
    "monthly": "every month",
    "before_event": "beforehand ahead shortly just",
    "basic": "cheap cheapest lowest simple minimum bare smallest",
    "pro": "middle mid step",
    "premium": "best top extra better",
    "enterprise": "business team company biggest",
    "vip": "front special best treat",
    "general_admission": "standard regular cheapest ordinary",
    "senior": "older retired",
    "child": "kid young",
}
_CHEAP = re.compile(
    r"\b(cheap\w*|budget\w*|lowest.price\w*|inexpensive|affordab\w*|least.expensive|frugal)\b", re.I
)
_NEAR = re.compile(r"\b(close|closest|near|nearest|nearby|short (?:drive|walk)|walking distance)\b", re.I)


def best_statement(
    statements: Sequence[Statement], request: str, tools: Sequence[ToolSpec]
) -> Statement | None:
    """The remembered statement that fits the request best, or None when none shares a telling word with it.

    A statement from a conversation about the same kind of task fits better.
    """
    offered = {tool.name for tool in tools}
    documents = [stems(f"{statement.text} {statement.question}") for statement in statements]
    weight = rarity([*documents, []])
    asked = _widened(stems(request))
    best, best_score = None, 0.0
    for statement, words in zip(statements, documents, strict=True):
        shared = sum(weight.get(word, 0.0) for word in set(words) & asked)
        same_domain = bool(statement.tools & offered) or not statement.tools
        score = shared + (1.0 if same_domain else -1.0)
        if same_domain and score > best_score:
            best, best_score = statement, score
    return best


def best_tool(
    tools: Sequence[ToolSpec], request: str, statement: str, rows: Sequence[Row] | None = None
) -> ToolSpec | None:
    """The writing tool whose name and description share most with the request, the statement having the
    louder voice. With `rows`, only tools whose required objects are among them."""
    writing = [tool for tool in tools if is_writing(tool.name) and (rows is None or _has_objects(tool, rows))]
    names = {tool.name: _widened(stems(tool.name.replace("_", " "))) for tool in writing}
    texts = {tool.name: stems(tool.description) for tool in writing}
    name_weight = rarity(list(names.values()))
    text_weight = rarity(list(texts.values()))
    asked = Counter(dict.fromkeys(stems(request), 1))
    leans = leaning(statement)

    def score(tool: ToolSpec) -> float:
        by_name = [overlap(lean, names[tool.name], name_weight) for lean in (asked, leans)]
        by_text = [overlap(lean, texts[tool.name], text_weight) for lean in (asked, leans)]
        verb = stem(tool.name.partition("_")[0])
        opening = NAME_WEIGHT if verb in stems(request)[:6] else 0.0
        return opening + NAME_WEIGHT * (by_name[0] + STATEMENT_WEIGHT * by_name[1]) + by_text[0] + by_text[1]

    return max(writing, key=score, default=None)


def best_rows(rows: Sequence[Row], request: str, statement: str) -> list[Row]:
    """The objects in order of fitness: what the request states, then the statement, then what most people
    would take (rating, popularity, price)."""
    fitting = _within_limits(rows, request)
    words = [stems(row.text) for row in fitting]
    weight = rarity(words)
    asked = Counter(dict.fromkeys(stems(request), 1))
    leans = leaning(statement)
    scores = [
        overlap(asked, row_words, weight) + STATEMENT_WEIGHT * overlap(leans, row_words, weight)
        for row_words in words
    ]
    order = sorted(
        range(len(fitting)),
        key=lambda i: (_comparative(fitting[i], statement), -scores[i], _stock_order(fitting[i])),
    )
    return [fitting[i] for i in order]


def best_value(tool: ToolSpec, parameter: str, text: str) -> str | None:
    """The enum value that a text speaks of, or None."""
    schema = properties(tool)[parameter]
    leans = leaning(text)
    scored = {value: _value_score(value, schema, leans) for value in schema["enum"]}
    value = max(scored, key=lambda v: scored[v])
    return value if scored[value] > 0 else None


def _has_objects(tool: ToolSpec, rows: Sequence[Row]) -> bool:
    keys = [row_key(name) for name in required(tool) if name.endswith(("_id", "_ids"))]
    return all(any(row.fields.get(key) for row in rows) for key in keys)


def _value_score(value: str, schema: Mapping[str, Any], leans: Mapping[str, int]) -> float:
    own = set(stems(value.replace("_", " "))) or {value}
    meant = set(stems(_VALUE_MEANS.get(value, ""))) - own
    direct = sum(leans.get(word, 0) for word in own)
    return 3.0 * direct + sum(leans.get(word, 0) for word in meant)


def _widened(words: Sequence[str]) -> set[str]:
    """The words, and what people say in their stead."""
    own = set(words)
    return own.union(*(stems(others) for word, others in _MEANS.items() if stem(word) in own))


def _within_limits(rows: Sequence[Row], request: str) -> list[Row]:
    limit = ceiling(request)
    kept = [row for row in rows if limit is None or (_price(row) or 0.0) <= limit] or list(rows)
    for date in dates(request):
        kept = [row for row in kept if date in row.text] or kept
    return kept


def _comparative(row: Row, statement: str) -> float:
    """A statement that names the cheap or the near end orders by that field, before anything else."""
    if _CHEAP.search(statement):
        return _price(row) or 0.0
    if _NEAR.search(statement):
        return _number(row, ("distance", "minutes", "walk")) or 0.0
    return 0.0


def _stock_order(row: Row) -> tuple[float, float, float]:
    rating = _number(row, ("rating",)) or 0.0
    popularity = _number(row, ("review_count", "popularity", "units_sold", "attendance")) or 0.0
    return -rating, -popularity, _price(row) or 0.0


def _price(row: Row) -> float | None:
    return _number(row, ("price", "cost", "fee"))


def _number(row: Row, names: Sequence[str]) -> float | None:
    for key, value in row.fields.items():
        if any(name in key for name in names) and type(value) in (int, float):
            return float(value)
    return None
