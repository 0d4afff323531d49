"""The roles of the simulated user accept, retry and give up as recorded; so does the opening hint.

The kind `path` is in test_paths.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_data.episode import Episode, GoldStep, seed_of
from atr_user_sim.brief import UserBrief
from atr_user_sim.interface import CompletionFault, PoolRule, UserSimFault
from atr_user_sim.model_backed import ModelClassifier, ModelRouter, ModelSimulator
from atr_user_sim.opening import opening_hint
from tests.support.fake_model import FakeModel, tool_answer
from tests.support.vectors import Case, first, read_jsonl, report

BRIEF = UserBrief("", "Sort the scans", {}, (), {}, "", {})


def _model(case: Case) -> FakeModel:
    if case["kind"] == "router":
        return FakeModel([CompletionFault("down") if case.get("raises") else json.dumps(case["response"])])
    if case["kind"] == "classifier":
        return FakeModel([json.dumps(response) for response in case["responses"]])
    return FakeModel(
        [
            CompletionFault("down") if r.get("raise") else tool_answer(r["content"], *r.get("tools", []))
            for r in case["responses"]
        ]
    )


async def _result(case: Case, model: FakeModel) -> Any:
    match case["kind"]:
        case "router":
            verdict = await ModelRouter(model).route(output="o", reason="r")
            return {
                "is_strict_rule_question": verdict.is_strict_rule_question,
                "rule_question_span": verdict.rule_question_span,
            }
        case "classifier":
            pool = [PoolRule(rule_id, f"answer of {rule_id}") for rule_id in case["pool"]]
            return {"rule_id": (await ModelClassifier(model).classify(question="q", pool=pool)).rule_id}
        case "sim_open":
            return (await ModelSimulator(model, BRIEF).open()).text
        case _:
            reply = await ModelSimulator(model, BRIEF).reply(
                agent_text="a", history=[], answer_directive=None
            )
            return [reply.text, reply.intent]


def _fault(fault: UserSimFault, kind: str) -> str:
    """A fault in the words of the vectors, which tell the opening and silence apart."""
    opening = "_open" if kind == "sim_open" else ""
    silence = "_empty_reply" if "blank" in str(fault) else ""
    return f"{fault.module}{opening}{silence}"


async def _outcome(case: Case) -> dict[str, Any]:
    model = _model(case)
    try:
        outcome: dict[str, Any] = {"result": await _result(case, model)}
    except UserSimFault as fault:
        outcome = {"abort": _fault(fault, case["kind"])}
    return outcome if case["kind"] == "router" else outcome | {"calls": len(model.asked)}


def _agrees(case: Case) -> bool:
    if case["kind"] == "opening_hint":
        gold = [GoldStep(**step) for step in case["gold_trajectory"]]
        return opening_hint(gold, case["task_params"]) == case["expected"]
    expected = json.loads(json.dumps(case["expected"]))
    if case["kind"] == "classifier" and "result" in expected:
        del expected["result"]["reasoning"]  # a verdict does not carry it
    return anyio.run(_outcome, case) == expected


def _seed_agrees(case: Case) -> bool:
    episode = Episode.model_validate(
        {
            "episode_id": case["episode_id"],
            "raw_persona": {"persona_id": "pp_a", "narrative": ""},
            "structured_persona": {},
            "rules": [],
            "learning_sessions": [],
            "test_sessions": [],
        }
    )
    return (seed_of(case["episode_id"]), episode.short_id) == (case["expected"], case["short_for_pp_a"])


def _cases(folder: Path, *kinds: str) -> list[Case]:
    return [case for case in read_jsonl(folder / "components.jsonl") if case["kind"] in kinds]


@pytest.mark.parametrize("kind", ["router", "classifier", "sim_reply", "sim_open", "opening_hint"])
def test_component_agrees(conformance_dir: Path, kind: str) -> None:
    report(f"components.jsonl ({kind})", _cases(conformance_dir, kind), _agrees)


def test_episode_ids_agree(conformance_dir: Path) -> None:
    cases = _cases(conformance_dir, "seed_of_episode_id")
    report("components.jsonl (seed_of_episode_id)", cases, _seed_agrees)


@pytest.mark.parametrize("kind", ["router", "classifier", "sim_reply", "sim_open", "opening_hint"])
def test_a_flipped_expectation_is_noticed(conformance_dir: Path, kind: str) -> None:
    case = first(_cases(conformance_dir, kind))
    case["expected"] = {"abort": "nobody"}
    with pytest.raises(AssertionError, match="0/1 agree"):
        report("components.jsonl", [case], _agrees)
