"""A compiled persona in the published form, and the question lines that lie beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from atr_data.constants import CONFIRMATION
from atr_datagen.drawn_tools import drawn_tools
from atr_datagen.source.draw_faces import Salt, Shown
from atr_datagen.source.grammar import PersonaBlock
from atr_datagen.source.scenario import FaceScenario, LearningScenario, TestScenario
from atr_datagen.source.world import World

SOURCE_VERSION = "2.0.0"
"""Semantic version of the sources: major when a gold changes, minor for added items, patch for wording."""


def as_text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False)


def episode_of(
    persona: PersonaBlock,
    tests: Sequence[TestScenario],
    learning: Sequence[LearningScenario],
    shown: Shown,
    seed: int,
    salt: Salt,
) -> dict[str, Any]:
    """Nothing but rules, golds, labels and what the metadata say of the salt depends on `shown`.

    A set under a secret salt has an id of its own, and so a file of its own.
    """
    faced = [(test, test.faces[shown[test.rule_id]]) for test in tests]
    kind = "seed" if salt.public else "drawn_seed"
    return {
        "episode_id": f"{persona.id}_{kind}{seed:03d}",
        "persona_id": persona.id,
        "raw_persona": {
            "persona_id": persona.id,
            "narrative": persona.narrative.strip(),
            "general_domain": str(persona.facts.get("occupation", "")),
            "specific_domain": "",
        },
        "structured_persona": {"name": persona.name, "demographics": persona.facts},
        "rules": [_rule(test, face) for test, face in faced],
        "learning_sessions": [_learning(session) for session in learning],
        "test_sessions": [_test(test, face) for test, face in faced],
        "metadata": {
            **_metadata(tests, learning, seed),
            "faces": {
                **salt.published({test.rule_id: face.block.key for test, face in faced}),
                "counts": {test.rule_id: len(test.faces) for test in tests},
            },
        },
    }


def lines_of(persona: str, tests: Sequence[TestScenario]) -> dict[str, Any]:
    """What people ask about each rule, whichever face it shows, and the words around it."""
    return {
        "persona_id": persona,
        "rules": {
            test.rule_id: {
                "asked": test.rule.asked.model_dump(),
                "not_asked": test.rule.not_asked.model_dump(),
                "about": test.rule.about.model_dump(),
            }
            for test in tests
        },
    }


def _rule(test: TestScenario, face: FaceScenario) -> dict[str, Any]:
    confirm = test.rule.type == "confirm"
    tool = face.block.tool or test.rule.tools[0]
    return {
        "rule_text": face.block.text,
        "canonical_answer": face.block.answer,
        "counterfactual_default": face.block.default,
        "evidence": _dump(face.block.evidence),
        "check_type": test.rule.type,
        "action_step": {
            "tool": CONFIRMATION if confirm else tool,
            "param": tool if confirm else test.rule.parameter,
        },
        "rule_id": test.rule_id,
    }


def _learning(session: LearningScenario) -> dict[str, Any]:
    gold = [step.gold for step in session.steps]
    return {
        "session_id": session.session_id,
        "session_type": "learning",
        "day_offset": session.block.day,
        "domain": session.block.domain,
        "reason_for_call": session.block.open,
        "task_params": dict(session.know),
        "expected_tools": list(dict.fromkeys(step.tool for step in gold)),
        "gold_trajectory": _dump(gold),
        "local_env": _local_env(session.block.domain, session.world),
    }


def _test(test: TestScenario, face: FaceScenario) -> dict[str, Any]:
    rule, block, required = test.rule, face.block, face.required
    compared = rule.type in ("param_id", "param_enum")
    labels: dict[str, Any] = {"task_success": {"required_actions": _dump([required])}}
    if face.target:
        labels["target"] = dict(face.target)
    return {
        "instruction": rule.test.say,
        "gold_value": required.arguments[str(rule.parameter)] if compared else None,
        "session_id": f"{test.rule_id}_test",
        "session_type": "test",
        "domain": rule.domain,
        "rule_id": test.rule_id,
        "rule_ref": {"rule_id": test.rule_id, "rule_text": block.text, "canonical_answer": block.answer},
        "local_env": _local_env(rule.domain, test.world),
        "labels": labels,
    }


def _local_env(domain: str, world: World) -> dict[str, Any]:
    tools = [tool.name for tool in drawn_tools(domain)]
    return {"tools": [*tools, CONFIRMATION], "references": _dump(world.references)}


def _metadata(
    tests: Sequence[TestScenario], learning: Sequence[LearningScenario], seed: int
) -> dict[str, Any]:
    """Signal looks at the tools of all faces, so that it tells nothing of the one that is shown."""
    used = [{step.gold.tool for step in session.steps} for session in learning]
    golds = {tool for test in tests for tool in test.rule.tools}
    signal = sum(bool(tools & golds) for tools in used)
    exercised = set[str]().union(*used)
    return {
        "seed": seed,
        "K": len(learning),
        "signal_count": signal,
        "noise_count": len(learning) - signal,
        "trajectory_length": len(learning),
        "all_test_rules": [test.rule_id for test in tests],
        "selected_rules": [test.rule_id for test in tests if exercised & set(test.rule.tools)],
        "source_version": SOURCE_VERSION,
    }


def _dump(models: Iterable[BaseModel]) -> list[dict[str, Any]]:
    return [model.model_dump() for model in models]
