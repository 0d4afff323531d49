"""Episodes laid out for measuring: tests with rule and action, learning sessions with their persona."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from atr_data.constants import CONFIRMATION
from atr_data.episode import CheckType, Episode, LearningSession, Reference
from atr_datagen.gates.episode_gates import Case, candidates, cases
from atr_datagen.source.predicates import items
from atr_datagen.text import flat, reference_words, words
from atr_ontology import load_ontology

Metrics = dict[str, float | int | str]
CHECK_TYPES: tuple[CheckType, ...] = ("param_id", "param_enum", "tool_identity", "confirm")


@dataclass(frozen=True, slots=True)
class Learned:
    persona: str
    session: LearningSession

    @property
    def said(self) -> str:
        """What the user gives away by themselves and when asked."""
        return f"{self.session.reason_for_call} {flat(self.session.task_params)}"

    def tools(self) -> set[str]:
        return {step.tool for step in self.session.gold_trajectory}


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of a param_id test. `golds` are places in `references`; `words` what each one says."""

    case: Case
    references: Sequence[Reference]
    golds: frozenset[int]
    words: Sequence[frozenset[str]]


@dataclass(frozen=True)
class Corpus:
    episodes: Sequence[Episode]
    tests: Sequence[Case]
    learning: Sequence[Learned]

    @classmethod
    def of(cls, episodes: Iterable[Episode]) -> Self:
        """Raises ValueError when there is no test at all to measure."""
        found = list(episodes)
        learning = [Learned(e.persona_id, session) for e in found for session in e.learning_sessions]
        tests = cases(found)
        if not tests or not learning:
            raise ValueError("nothing to measure: no episode with tests and learning sessions")
        return cls(found, tests, learning)

    def of_type(self, check_type: CheckType) -> list[Case]:
        return [case for case in self.tests if case.rule.check_type == check_type]

    @cached_property
    def pools(self) -> list[Pool]:
        """Those of param_id tests whose gold is among the references."""
        found: list[Pool] = []
        for case in self.of_type("param_id"):
            references, is_gold = candidates(case)
            golds = frozenset(place for place, gold in enumerate(is_gold) if gold)
            if golds:
                found.append(Pool(case, references, golds, [reference_words(r) for r in references]))
        return found

    @cached_property
    def by_persona(self) -> dict[str, list[Learned]]:
        found: dict[str, list[Learned]] = defaultdict(list)
        for learned in self.learning:
            found[learned.persona].append(learned)
        return found

    @cached_property
    def history(self) -> dict[str, frozenset[str]]:
        """Per persona the words of all facts and of all objects chosen while learning."""
        return {
            persona: frozenset(word for learned in sessions for word in words(_chosen_text(learned.session)))
            for persona, sessions in self.by_persona.items()
        }


def _chosen_text(session: LearningSession) -> str:
    chosen = {
        str(item) for step in session.gold_trajectory for v in step.arguments.values() for item in items(v)
    }
    objects = (flat(r.attributes) for r in session.local_env.references if r.id in chosen)
    return flat(session.task_params) + " ".join(objects)


def acting_tool(case: Case) -> str:
    """The tool the rule is about: that of the action, or the one to be confirmed."""
    return str(case.action.arguments.get("target_tool", case.action.tool))


def compared(case: Case) -> list[str]:
    return case.action.compare_args or []


def slot(case: Case) -> tuple[str, str]:
    """Tool and parameter that a param_enum rule binds."""
    return case.action.tool, compared(case)[0]


def choices(case: Case) -> Sequence[str]:
    """The values that a param_enum rule chooses from."""
    tool, name = slot(case)
    spec = load_ontology().tool(tool)
    parameter = spec.parameter(name) if spec else None
    return parameter.enum if parameter else ()


def rivals(tool: str) -> tuple[str, ...]:
    """The row of tools that answer the same kind of request, the tool itself at least."""
    return next((row for row in load_ontology().rivals if tool in row), (tool,))


def family(case: Case) -> tuple[str, ...]:
    return rivals(case.action.tool)


def tally(tests: Iterable[Case], group: Any, gold: Any) -> dict[Any, Counter[Any]]:
    """How often each gold occurs in each group."""
    found: dict[Any, Counter[Any]] = defaultdict(Counter)
    for case in tests:
        found[group(case)][gold(case)] += 1
    return found


def arguments_used(sessions: Iterable[Learned], tool: str) -> Iterator[dict[str, Any]]:
    for learned in sessions:
        yield from (step.arguments for step in learned.session.gold_trajectory if step.tool == tool)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def needed_tool(case: Case) -> str | None:
    """The tool by whose use a learning session gives occasion to ask."""
    target = case.action.arguments.get("target_tool")
    return target if case.action.tool == CONFIRMATION else case.action.tool


def number(metrics: Metrics, name: str) -> float:
    """The value of a measure that is no text."""
    value = metrics[name]
    assert not isinstance(value, str)
    return value
