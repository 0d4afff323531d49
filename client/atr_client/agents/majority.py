"""The null model that has seen the answers of all other personas, and does what was right most often."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

from atr_client.agents.nulls import First, NullAgent
from atr_client.agents.reading import Row
from atr_client.models.base import ToolSpec
from atr_data.constants import CONFIRMATION
from atr_data.english.words import AGENTS
from atr_data.episode import CheckType, Episode, RequiredAction, TestSession
from atr_ontology import load_ontology

SMOOTHING = 0.2
"""What an unseen word counts for, in sightings."""
_FEATURES: Mapping[str, tuple[str, ...]] = {
    "rating": ("rating", "stars"),
    "price": ("price", "cost", "fee", "fare"),
    "popularity": ("review", "popular", "sold", "attend", "visits"),
}

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A way to choose by rank: in listed order (`feature` None) or by a number, forwards or backwards,
    `skipped` places from the front. Objects without the number stand behind the others."""

    feature: str | None
    descending: bool
    skipped: int

    def top(self, pool: Sequence[Fields], count: int) -> list[int]:
        """Positions in the pool; with fewer objects than places to skip, those at the front."""
        sign = -1 if self.descending else 1
        numbers = [_number(fields, self.feature) if self.feature else i for i, fields in enumerate(pool)]
        order = sorted(range(len(pool)), key=lambda i: math.inf if (n := numbers[i]) is None else sign * n)
        return (order[self.skipped :] or order)[:count]


RANKINGS = [Ranking(*parts) for parts in product((None, *_FEATURES), (False, True), (0, 1))]


@dataclass(frozen=True, slots=True)
class Lesson:
    """The gold of another persona's test. `pool` and `right` serve rules about an object: the candidates in
    listed order, and the positions of the gold ones."""

    words: frozenset[str]
    tool: str
    check_type: CheckType
    parameter: str
    gold: Any
    pool: Sequence[Fields] = ()
    right: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Majority:
    """The tool that was right most often for requests in such words; of a closed choice the value that was
    right most often; of objects those at the rank that was. What nobody else had is guessed as First does.
    It never asks to confirm.
    """

    lessons: Sequence[Lesson]

    def tool(self, tools: Sequence[ToolSpec], request: str, rows: Sequence[Row]) -> ToolSpec | None:
        offered = {tool.name: tool for tool in tools}
        seen = [lesson for lesson in self.lessons if lesson.tool in offered]
        if not seen:
            return First().tool(tools, request, rows)
        sightings = Counter(lesson.tool for lesson in seen)
        worded = Counter((lesson.tool, word) for lesson in seen for word in lesson.words)
        known = {word for lesson in seen for word in lesson.words}

        def score(tool: str) -> float:
            return math.log(sightings[tool]) + sum(
                math.log((worded[tool, word] + SMOOTHING) / (sightings[tool] + 2 * SMOOTHING))
                for word in sorted(known.intersection(AGENTS.stems(request)))
            )

        return offered[max(sorted(sightings), key=score)]

    def value(self, tool: str, parameter: str, schema: Mapping[str, Any]) -> str:
        right = Counter(lesson.gold for lesson in self._about("param_enum", tool, parameter))
        liked = max(schema["enum"], key=lambda value: right[value])
        return liked if right[liked] else First().value(tool, parameter, schema)

    def objects(self, tool: str, parameter: str, found: Sequence[Row]) -> Sequence[Row]:
        ranking, count = self._best_rank(tool, parameter)
        return [found[i] for i in ranking.top([row.fields for row in found], count)]

    def _best_rank(self, tool: str, parameter: str) -> tuple[Ranking, int]:
        about = self._about("param_id", tool, parameter)
        lessons = about or [lesson for lesson in self.lessons if lesson.check_type == "param_id"]
        if not lessons:
            return RANKINGS[0], 1
        count = Counter(len(lesson.right) for lesson in about or lessons).most_common(1)[0][0]
        hits = {
            ranking: sum(
                lesson.right == frozenset(ranking.top(lesson.pool, len(lesson.right))) for lesson in lessons
            )
            for ranking in RANKINGS
        }
        return max(RANKINGS, key=lambda ranking: hits[ranking]), count

    def _about(self, check_type: CheckType, tool: str, parameter: str) -> list[Lesson]:
        key = (check_type, tool, parameter)
        return [
            lesson for lesson in self.lessons if (lesson.check_type, lesson.tool, lesson.parameter) == key
        ]


def majority_model(others: Sequence[Episode]) -> NullAgent:
    """Taught by the episodes of other personas, labels included; without any it guesses as First does."""
    return NullAgent(Majority([lesson for other in others for lesson in lessons_of(other)]))


def lessons_of(episode: Episode) -> Iterator[Lesson]:
    """One per test with a required action. Of a confirmation the confirmed tool is the lesson."""
    for test in episode.test_sessions:
        if (rule := episode.rule(test.rule_id)) is None:
            continue
        for action in test.labels.task_success.required_actions[:1]:
            tool = action.arguments.get("target_tool") if action.tool == CONFIRMATION else action.tool
            parameter = next(iter(action.compare_args or ()), "")
            pool, right = _pool(test, action, parameter)
            yield Lesson(
                words=frozenset(AGENTS.stems(test.instruction)),
                tool=str(tool),
                check_type=rule.check_type,
                parameter=parameter,
                gold=action.arguments.get(parameter),
                pool=pool,
                right=right,
            )


def _pool(test: TestSession, action: RequiredAction, parameter: str) -> tuple[list[Fields], frozenset[int]]:
    """The objects of the gold's type that the parameter could name, and the positions of the gold ones."""
    value = action.arguments.get(parameter)
    golds = {str(gold) for gold in (cast(list[Any], value) if isinstance(value, list) else [value])}
    named: list[tuple[str, str, Fields]] = []
    for reference in test.local_env.references:
        kind = load_ontology().objects(test.domain).get(reference.type)
        if kind and (name := kind.id_for(parameter, reference.id, reference.attributes)):
            named.append((reference.type, name, reference.attributes))
    types = {kind for kind, name, _ in named if name in golds}
    pool = [(name, fields) for kind, name, fields in named if kind in types]
    return [fields for _, fields in pool], frozenset(i for i, (name, _) in enumerate(pool) if name in golds)


def _number(fields: Fields, feature: str) -> float | None:
    """The first number in a field whose name tells of the feature."""
    for key, value in fields.items():
        if any(word in key for word in _FEATURES[feature]) and type(value) in (int, float):
            return float(value)
    return None
