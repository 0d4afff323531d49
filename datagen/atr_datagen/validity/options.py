"""What a test offers to choose from, and whether the call that a choice comes to would pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from atr_data.constants import CONFIRMATION
from atr_data.episode import Reference
from atr_data.required_calls import complete_arguments
from atr_datagen.gates.calls import addressed
from atr_datagen.gates.episode_gates import Case, candidates
from atr_datagen.source.predicates import items
from atr_datagen.validity.corpus import acting_tool, choices, compared, rivals
from atr_evaluator.match import Call, match_action


@dataclass(frozen=True, slots=True)
class Option:
    """An id, an enum value or a tool; for an id the object that it names."""

    value: str
    reference: Reference | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A test with what may be chosen, in listed order; nothing for confirm. `count` is how many are taken.

    The chooser is given the check type, the tool and the parameter, which it would have to find out.
    """

    case: Case
    options: Sequence[Option]
    count: int

    @property
    def right(self) -> list[bool]:
        golds = items(self.case.gold) if compared(self.case) else [self.case.action.tool]
        wanted = {str(gold) for gold in golds}
        return [option.value in wanted for option in self.options]


def choice_of(case: Case) -> Choice:
    match case.rule.check_type:
        case "param_id":
            name, domain = compared(case)[0], case.test.domain
            pool = [(addressed(r, name, domain), r) for r in candidates(case)[0]]
            found = [Option(value, reference) for value, reference in pool if value is not None]
            return Choice(case, found, len(items(case.gold)))
        case "param_enum":
            return Choice(case, [Option(value) for value in choices(case)], 1)
        case "tool_identity":
            row = [tool for tool in rivals(case.action.tool) if tool in case.test.local_env.tools]
            return Choice(case, [Option(tool) for tool in row], 1)
        case _:
            return Choice(case, [], 0)


def call_of(choice: Choice, picked: Sequence[int]) -> Call:
    """The write that the chooser would make; of a confirm rule the write that should have been announced."""
    case, values = choice.case, [choice.options[place].value for place in picked]
    arguments: dict[str, Any] = {}
    tool = case.action.tool
    match case.rule.check_type:
        case "param_id" | "param_enum":
            name = compared(case)[0]
            arguments = {name: values if isinstance(case.gold, list) else values[0]}
        case "tool_identity":
            tool = values[0]
        case _:
            tool = acting_tool(case)
    return Call("guess", tool, complete_arguments(case.test, tool, arguments))


def passes(
    choice: Choice, picked: Sequence[int], *, confirming: bool = False, spraying: bool = False
) -> bool:
    """Whether the evaluator passes the call. Confirming announces every write with all that it should say;
    spraying carries every rival tool out as well."""
    calls = [call_of(choice, picked)]
    if spraying and choice.case.rule.check_type == "tool_identity":
        calls += [call_of(choice, [place]) for place in range(len(choice.options))]
    if confirming:
        announced = choice.case.action.arguments if choice.case.action.tool == CONFIRMATION else {}
        calls.insert(0, Call("announced", CONFIRMATION, dict(announced)))
    return match_action(choice.case.action, [[call] for call in calls]).passed
