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
from atr_datagen.plan.dealing import PULL
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
    shown = _draw_faces(persona.rules, rng)
    return Episode.model_validate(
        {
            "episode_id": f"{persona.id}_seed000",
            "raw_persona": {"persona_id": persona.id, "narrative": ""},
            "structured_persona": {},
            "rules": [_rule(rule_id, rule, shown, rng) for rule_id, rule in rules],
            "learning_sessions": [_learning(persona.id, session, rng) for session in persona.learning],
            "test_sessions": [_test(rule_id, rule, shown, rng) for rule_id, rule in rules],
        }
    )


def _draw_faces(rules: Sequence[PlannedRule], rng: Random) -> dict[int, int]:
    """Index of a rule to the place of its face. The second of a pair of closed choices takes another one;
    of objects the keys are the author's, so place stands for key."""
    shown: dict[int, int] = {}
    taken: dict[str, str] = {}
    for rule in rules:
        keys = list(rule.choices) or [str(place) for place in range(rule.faces)]
        open_to = [place for place, key in enumerate(keys) if key != taken.get(rule.pair)]
        shown[rule.index] = rng.choice(open_to)
        if rule.pair:
            taken.setdefault(rule.pair, keys[shown[rule.index]])
    return shown


def _gold_tool(rule: PlannedRule, shown: Mapping[int, int]) -> str:
    return rule.choices[shown[rule.index]] if rule.type == "tool_identity" else rule.tools[0]


def _rule(rule_id: str, rule: PlannedRule, shown: Mapping[int, int], rng: Random) -> dict[str, Any]:
    return {
        "rule_id": rule_id,
        "rule_text": "",
        "canonical_answer": _words(rng, _RULE_WORDS),
        "counterfactual_default": "",
        "evidence": [],
        "check_type": rule.type,
        "action_step": {"tool": _gold_tool(rule, shown), "param": rule.parameter or None},
    }


def _test(rule_id: str, rule: PlannedRule, shown: Mapping[int, int], rng: Random) -> dict[str, Any]:
    references = _pool(rule, rng)
    arguments: dict[str, Any] = {}
    match rule.type:
        case "param_id":
            gold = f"face_{shown[rule.index]}"
            tool = load_ontology().tool(rule.tools[0])
            parameter = tool.parameter(rule.parameter) if tool else None
            arguments = {rule.parameter: [gold] if parameter and parameter.takes_many else gold}
        case "param_enum":
            arguments = {rule.parameter: rule.choices[shown[rule.index]]}
        case "confirm":
            arguments = {"target_tool": rule.slot} | ({"target_params": {}} if rule.pinned else {})
        case "tool_identity":
            pass
    action = {
        "tool": CONFIRMATION if rule.type == "confirm" else _gold_tool(rule, shown),
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
    """The golds of the faces have their planned places, the pull the first; the others are in any order.

    What a row decides by is a text of its own, and limit rows repeat those that the plan says.
    """
    keys = [f"face_{place}" for place in range(rule.faces)] if rule.candidates else []
    keys += [f"decoy_{number}" for number in range(rule.candidates - len(keys))]
    columns: dict[str, dict[str, int]] = {}
    for pull in rule.pulls:
        places = {**dict(zip(keys, pull.ranks, strict=False)), keys[rule.faces]: 1}
        left = [place for place in range(1, rule.candidates + 1) if place not in places.values()]
        places |= dict(zip(keys[rule.faces + 1 :], rng.sample(left, len(left)), strict=True))
        columns[pull.field] = {k: -p if pull.direction == "high" else p for k, p in places.items()}
    decides = {key: _words(rng, 2) for key in keys}
    for key, repeated in zip(reversed(keys), rule.limits, strict=False):
        source = keys[rule.faces] if repeated == PULL else keys[int(repeated) - 1]
        decides[key] = decides[source]
    rows: list[dict[str, Any]] = []
    for key in keys:
        values = {field: _value(field, 10 + places[key]) for field, places in columns.items()}
        texts = {"decides": decides[key], "note": _words(rng, rng.randint(*_OBJECT_WORDS))}
        rows.append({"id": key, "type": "candidate", "attributes": {**values, **texts}})
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
