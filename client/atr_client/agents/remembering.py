"""Which of the remembered statements settles a decision at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

from atr_client.agents.asking import Decision, Topic, topic_of
from atr_client.agents.choosing import best_value, tool_leanings, value_leanings
from atr_client.agents.objects import evidence, within_limits
from atr_client.agents.options import value_by_description
from atr_client.agents.reading import Row, Statement, properties
from atr_client.models.base import ToolSpec
from atr_data.english.lexicon import lexicon
from atr_data.english.situations import situations
from atr_data.english.words import rarity

ASKED_FOR_THIS = 2.0
OTHER_SITUATION = 1.5
MOST_EVIDENCE = 2.0
"""How much the evidence for a decision counts at most, beside being about the case at hand."""

_CHECK_FIRST = re.compile(
    r"\b(?:check|confirm|clear|approve|okay|sign off|run|ask|tell|show|consult|hear|ring|call)\b.{0,40}"
    r"\b(?:me|with me|past me|by me|first|before|beforehand)\b"
    r"|\b(?:my|your) (?:ok|okay|go-ahead|approval|say-so|yes|nod|word|blessing|consent|permission|verdict)\b"
    r"|\b(?:before|until|till|unless) (?:I|we)(?:['’]ve| have)? (?:\w+ ){0,4}?"
    r"(?:say|said|nod|nodded|agree|agreed|approve|approved|sign|signed|confirm|confirmed|see|seen|heard|read"
    r"|allow|allowed|okayed|answer|answered)\b"
    r"|\bbefore you\b|\bwithout asking\b|\bwait for me\b|\bhold (?:it|that|them|off)\b"
    r"|\b(?:final|last) (?:say|word)\b|\b(?:talk|walk) me through\b|\bget back to me\b"
    r"|\blet me (?:see|hear|approve|confirm|know)\b.{0,40}\b(?:first|before)\b",
    re.I,
)


@dataclass(frozen=True)
class Memory:
    """The statements, weighed by how much each is about the request. A single statement is taken to be
    about it."""

    statements: Sequence[Statement]
    request: str
    tools: Sequence[ToolSpec]

    def on_tool(self, obvious: ToolSpec, rows: Sequence[Row]) -> str:
        """What decides between the tool that the request suggests and its rivals; empty for nothing."""

        def leaning(statement: Statement) -> float:
            leans = tool_leanings(self.tools, obvious, statement.text, rows)
            return max(leans.values()) - sorted(leans.values())[-2] if len(leans) > 1 else 0.0

        return self._best(obvious, "tool", leaning)

    def on_value(self, tool: ToolSpec, parameter: str) -> str:
        def leaning(statement: Statement) -> float:
            return float(max(value_leanings(tool, parameter, statement.text).values()))

        return self._best(tool, "value", leaning)

    def value(self, tool: ToolSpec, parameter: str, chosen: Row | None) -> str | None:
        """The enum value that a statement decides on: by what the chosen object says of the values, else by
        what people call them."""
        values = properties(tool)[parameter]["enum"]

        def described(statement: Statement) -> str | None:
            return value_by_description(chosen, values, statement.text, self.request) if chosen else None

        said = self._best(tool, "value", lambda statement: 1.0 if described(statement) else 0.0)
        by_description = described(Statement(said, "")) if said else None
        return by_description or best_value(tool, parameter, self.on_value(tool, parameter))

    def on_object(self, tool: ToolSpec, rows: Sequence[Row]) -> str:
        fitting = within_limits(rows, self.request)

        def leaning(statement: Statement) -> float:
            fits = evidence(fitting, statement.text, self.request)
            return max(fits) - fsum(fits) / len(fits) if fits else 0.0

        return self._best(tool, "object", leaning)

    def asks_to_confirm(self, tool: ToolSpec) -> bool:
        """Whether the statement closest to the case wants to be asked before."""
        weights = [self._fit(position, tool, "confirm") for position in range(len(self.statements))]
        closest = max(range(len(weights)), key=lambda position: weights[position], default=None)
        return closest is not None and bool(_CHECK_FIRST.search(self.statements[closest].text))

    def _best(self, tool: ToolSpec, decision: Decision, leaning: Callable[[Statement], float]) -> str:
        best, most = "", float("-inf")
        for position, statement in enumerate(self.statements):
            evident = leaning(statement)
            fit = self._fit(position, tool, decision) + min(evident, MOST_EVIDENCE)
            if evident > 0 and fit > most:
                best, most = statement.text, fit
        return best

    def _fit(self, position: int, tool: ToolSpec, decision: Decision) -> float:
        """How much a statement is about the case: what it was said in answer to, and shared words."""
        topic = self._topics[position]
        asked_for = bool(topic and tool.name in topic.tools) + bool(topic and topic.decides == decision)
        return self._relevance[position] + ASKED_FOR_THIS * asked_for / 2

    @cached_property
    def _topics(self) -> list[Topic | None]:
        return [topic_of(s.question, self.tools) if s.question else None for s in self.statements]

    @cached_property
    def _relevance(self) -> list[float]:
        asked = {term.name for term in lexicon("topics").terms(self.request)}
        documents = [{term.name for term in lexicon("topics").terms(s.text)} for s in self.statements]
        weight = rarity([*documents, []])
        place = situations(self.request)
        found: list[float] = []
        for statement, terms in zip(self.statements, documents, strict=True):
            own = situations(statement.text)
            elsewhere = bool(own) and bool(place) and not own & place
            shared = fsum(weight[name] for name in terms & asked)
            found.append(shared - OTHER_SITUATION * elsewhere)
        return found
