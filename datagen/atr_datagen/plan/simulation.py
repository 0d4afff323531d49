"""The episodes that a plan would give if everything it leaves open came out by chance.

A rule-blind chooser sees only shape: places in lists, ranks, frequencies. So the shape of a plan can be
measured like that of written episodes: the words are made up and the list places are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from atr_data.constants import CONFIRMATION
from atr_data.episode import Episode
from atr_datagen.drawn_tools import drawn_tools
from atr_datagen.plan.model import Plan, PlannedPersona, PlannedRule, PlannedSession
from atr_ontology import load_ontology

_VOCABULARY = 400
_INSTRUCTION_WORDS, _RULE_WORDS, _OBJECT_WORDS = 14, 10, (3, 8)
_DATES = frozenset({"timestamp", "last_used", "last_edited", "last_opened"})


def simulate(plan: Plan, realisation: int, personas: Sequence[str] | None = None) -> list[Episode]:
    """One episode per persona, of the named ones or of all. `realisation` numbers the throws of chance."""
    chosen = [persona for persona in plan.personas if personas is None or persona.id in personas]
    return [_episode(persona, Random(f"{plan.seed}:{realisation}:{persona.id}")) for persona in chosen]


def _episode(persona: PlannedPersona, rng: Random) -> Episode:
    rules = [(f"{persona.id}_{rule.index:02d}", rule) for rule in persona.rules]
    return Episode.model_validate(
        {
            "episode_id": f"{persona.id}_seed000",
            "raw_persona": {"persona_id": persona.id, "narrative": ""},
            "structured_persona": {},
            "rules": [_rule(rule_id, rule, rng) for rule_id, rule in rules],
            "learning_sessions": [_learning(persona.id, session, rng) for session in persona.learning],
            "test_sessions": [_test(rule_id, rule, rng) for rule_id, rule in rules],
        }
    )


def _rule(rule_id: str, rule: PlannedRule, rng: Random) -> dict[str, Any]:
    return {
        "rule_id": rule_id,
        "rule_text": "",
        "canonical_answer": _words(rng, _RULE_WORDS),
        "counterfactual_default": "",
        "evidence": [],
        "check_type": rule.type,
        "action_step": {"tool": rule.tool, "param": rule.parameter or None},
    }


def _test(rule_id: str, rule: PlannedRule, rng: Random) -> dict[str, Any]:
    references = _pool(rule, rng)
    arguments: dict[str, Any] = {}
    match rule.type:
        case "param_id":
            gold = next(reference["id"] for reference in references if reference["id"].startswith("gold"))
            tool = load_ontology().tool(rule.tool)
            parameter = tool.parameter(rule.parameter) if tool else None
            arguments = {rule.parameter: [gold] if parameter and parameter.takes_many else gold}
        case "param_enum":
            arguments = {rule.parameter: rule.gold}
        case "confirm":
            arguments = {"target_tool": rule.tool} | ({"target_params": {}} if rule.pinned else {})
        case "tool_identity":
            pass
    action = {
        "tool": CONFIRMATION if rule.type == "confirm" else rule.tool,
        "arguments": arguments,
        "compare_args": list(arguments) or None,
    }
    return {
        "session_id": f"{rule_id}_test",
        "domain": rule.domain,
        "rule_id": rule_id,
        "instruction": _words(rng, _INSTRUCTION_WORDS),
        "local_env": {"tools": _offered(rule.domain), "references": references},
        "labels": {"task_success": {"required_actions": [action]}},
    }


def _pool(rule: PlannedRule, rng: Random) -> list[dict[str, Any]]:
    """The gold has its planned places; the decoys take the others in any order."""
    columns: dict[str, list[int]] = {}
    for pull in rule.pulls:
        others = [place for place in range(1, rule.candidates + 1) if place != pull.rank]
        places = [pull.rank, *rng.sample(others, len(others))]
        columns[pull.field] = [-p if pull.direction == "high" else p for p in places]
    rows: list[dict[str, Any]] = []
    for number in range(rule.candidates):
        values = {field: _value(field, 10 + places[number]) for field, places in columns.items()}
        note = _words(rng, rng.randint(*_OBJECT_WORDS))
        key = f"{'gold' if number == 0 else 'decoy'}_{number}"
        rows.append({"id": key, "type": "candidate", "attributes": {**values, "note": note}})
    return rng.sample(rows, len(rows))


def _value(field: str, place: int) -> int | str:
    return f"day {place}" if field in _DATES else place


def _learning(persona: str, session: PlannedSession, rng: Random) -> dict[str, Any]:
    steps = [{"tool": tool, "arguments": dict(_arguments(tool, session.drawn))} for tool in session.path]
    return {
        "session_id": f"{persona}_s{session.index:02d}",
        "day_offset": session.day,
        "domain": session.domain,
        "reason_for_call": _words(rng, 5),
        "task_params": {"note": _words(rng, 8)},
        "expected_tools": list(dict.fromkeys(session.path)),
        "gold_trajectory": steps,
        "local_env": {"tools": _offered(session.domain), "references": []},
    }


def _arguments(tool: str, drawn: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    for slot, value in drawn.items():
        owner, _, parameter = slot.partition(".")
        if owner == tool:
            yield parameter, value


def _offered(domain: str) -> list[str]:
    return [tool.name for tool in (*load_ontology().base_tools, *drawn_tools(domain))]


def _words(rng: Random, count: int) -> str:
    return " ".join(f"w{rng.randrange(_VOCABULARY)}x" for _ in range(count))
