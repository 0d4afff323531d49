"""Which tool serves a request and which enum value is spoken of, by plain words and their meanings."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from atr_client.agents.reading import Row, is_writing, properties, required, row_key
from atr_client.models.base import ToolSpec
from atr_data.constants import CONFIRMATION, FINISH_SESSION, SEND_TO_USER
from atr_data.english.lexicon import lexicon, when_and_what
from atr_data.english.words import AGENTS, rarity
from atr_ontology import load_ontology, names_object

NAME_WEIGHT = 3.0
MEANING_WEIGHT = 2.0
OPENING_WEIGHT = 3.0
OBJECT_WEIGHT = 3.0


def best_tool(
    tools: Sequence[ToolSpec], request: str, statement: str, rows: Sequence[Row] | None = None
) -> ToolSpec | None:
    """The writing tool that the request speaks of, or a rival of it that the statement speaks of. With
    `rows`, only tools whose required objects are among them."""
    obvious = obvious_tool(tools, request, rows)
    if obvious is None:
        return None
    leans = tool_leanings(tools, obvious, statement, rows)
    liked = max(leans, key=lambda name: (leans[name], name == obvious.name), default=obvious.name)
    return next(tool for tool in tools if tool.name == (liked if leans.get(liked, 0) > 0 else obvious.name))


def tool_leanings(
    tools: Sequence[ToolSpec], obvious: ToolSpec, statement: str, rows: Sequence[Row] | None = None
) -> dict[str, float]:
    """How far a statement speaks for the obvious tool and for each of its rivals."""
    rivals = {tool for row in load_ontology().choices if obvious.name in row for tool in row}
    usable = [tool for tool in _usable(tools, rows) if tool.name in rivals or tool is obvious]
    hits = lexicon("tools").leaning(_decision(statement))
    names = {tool.name: set(AGENTS.stems(tool.name.replace("_", " "))) for tool in usable}
    weight = rarity(list(names.values()))
    return {
        name: hits[f"={name}"] + fsum(hits[word] * weight[word] for word in words)
        for name, words in names.items()
    }


def described_tool(tools: Sequence[ToolSpec], saying: str) -> ToolSpec | None:
    """The tool, looking or writing, whose description a saying comes closest to; None when no telling word
    is shared."""
    known = [tool for tool in tools if tool.name not in (SEND_TO_USER, FINISH_SESSION, CONFIRMATION)]
    texts = [set(AGENTS.stems(f"{tool.name} {tool.description.partition('.')[0]}")) for tool in known]
    weight = rarity(texts)
    words = set(AGENTS.stems(saying.partition(". The ")[0]))
    scores = [fsum(weight[word] for word in text & words) / (len(text) or 1) ** 0.5 for text in texts]
    best = max(range(len(known)), key=lambda i: scores[i], default=None)
    return known[best] if best is not None and scores[best] > 0 else None


def best_value(tool: ToolSpec, parameter: str, text: str) -> str | None:
    """The enum value that a text speaks of, or None."""
    scored = value_leanings(tool, parameter, text)
    value = max(scored, key=lambda v: scored[v])
    return value if scored[value] > 0 else None


def value_leanings(tool: ToolSpec, parameter: str, text: str) -> dict[str, int]:
    """How far a text speaks for each value; all the words of its own name count more."""
    leans = lexicon("values").leaning(_decision(text))
    scored: dict[str, int] = {}
    for value in properties(tool)[parameter]["enum"]:
        own = [leans[word] for word in AGENTS.stems(value)] or [0]
        scored[value] = leans[f"={value}"] + sum(own) + min(own)
    return scored


def _decision(statement: str) -> str:
    return when_and_what(statement)[1] or statement


def obvious_tool(
    tools: Sequence[ToolSpec], request: str, rows: Sequence[Row] | None = None
) -> ToolSpec | None:
    """The writing tool whose name, meanings and description share most with the request."""
    usable = _usable(tools, rows)
    names = {tool.name: set(AGENTS.stems(tool.name.replace("_", " "))) for tool in usable}
    texts = {tool.name: set(AGENTS.stems(tool.description)) for tool in usable}
    name_weight, text_weight = rarity(list(names.values())), rarity(list(texts.values()))
    asked = AGENTS.stems(request)
    words = set(asked)
    hits = lexicon("tools").leaning(request)

    def score(tool: ToolSpec) -> float:
        by_name = fsum(name_weight[word] for word in names[tool.name] & words)
        by_text = fsum(text_weight[word] for word in texts[tool.name] & words)
        opening = AGENTS.stem(tool.name.partition("_")[0]) in asked[:6]
        ids = [name for name in properties(tool) if names_object(name)]
        shown = rows is not None and (not ids or any(_held(name, rows) for name in ids))
        return (
            NAME_WEIGHT * by_name
            + MEANING_WEIGHT * hits[f"={tool.name}"]
            + by_text
            + OPENING_WEIGHT * opening
            + OBJECT_WEIGHT * shown
        )

    return max(usable, key=score, default=None)


def _usable(tools: Sequence[ToolSpec], rows: Sequence[Row] | None) -> list[ToolSpec]:
    return [tool for tool in tools if is_writing(tool.name) and (rows is None or _has_objects(tool, rows))]


def _has_objects(tool: ToolSpec, rows: Sequence[Row]) -> bool:
    return all(_held(name, rows) for name in required(tool) if names_object(name))


def _held(parameter: str, rows: Sequence[Row]) -> bool:
    return any(row.fields.get(row_key(parameter)) for row in rows)
