"""The roles as played by a model: what it is shown, what is accepted, when a role gives up."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from atr_data.episode import GoldStep, Reference
from atr_data.usage import Usage
from atr_user_sim import ModelClassifier, ModelRouter, ModelSimulator, UserBrief, UserSimFault
from atr_user_sim.interface import Completion, CompletionFault, HistoryEntry, PoolRule
from atr_user_sim.prompt_files import prompt
from atr_user_sim.user_turn import answer_directive
from tests.support.fake_model import ONE_CALL, FakeModel, tool_answer

POOL = [PoolRule("r1", "Brass, always."), PoolRule("r2", "Ask me first.")]
YES = json.dumps({"is_strict_rule_question": True, "rule_question_span": "Brass?"})
COUNTED = Usage(prompt_tokens=10, completion_tokens=2, total_tokens=12, calls=1)
BRIEF = UserBrief(
    narrative="Ola mends clocks.",
    reason_for_call="Get clock oil",
    task_params={"oil": "p1", "sizes": ["p2", 5], "note": "no rush"},
    gold_trajectory=(
        GoldStep(tool="search_products", arguments={"category": "öl"}),
        GoldStep(tool="list_labels"),
    ),
    references={"p1": Reference(id="p1", type="product", attributes={"name": "Fine oil"})},
    task_type="Buying goods.",
    hint={"category": "öl"},
)


def told(model: FakeModel, call: int = 0) -> str:
    return "\n".join(message.content for message in model.asked[call])


async def test_the_router_sees_the_message_and_the_reason_and_asks_for_json() -> None:
    model = FakeModel([YES])
    verdict = await ModelRouter(model).route(output="Shall I? {{reason}}", reason="to learn")
    assert (verdict.rule_question_span, verdict.usage) == ("Brass?", COUNTED)
    assert [message.role for message in model.asked[0]] == ["system", "user"]
    assert model.asked[0][1].content == (
        "<reason>\nto learn\n</reason>\n<message>\nShall I? {{reason}}\n</message>"
    )
    assert model.schemas[0] is not None
    assert model.schemas[0]["required"] == ["is_strict_rule_question", "rule_question_span"]
    assert model.schemas[0]["additionalProperties"] is False


async def test_json_in_a_code_fence_is_read() -> None:
    model = FakeModel([f"\n```json\n{YES}\n```\n"])
    assert (await ModelRouter(model).route(output="o", reason="r")).is_strict_rule_question


@pytest.mark.parametrize("garbage", ["Yes, it does.", "", None, "{", "[" * 100_000])
async def test_unreadable_json_is_asked_for_again_with_a_reminder(garbage: str | None) -> None:
    model = FakeModel([garbage, garbage, YES])
    verdict = await ModelRouter(model).route(output="o", reason="r")
    assert verdict.usage == COUNTED + COUNTED + COUNTED
    reminded = [prompt("json_reminder") in told(model, n) for n in range(3)]
    assert reminded == [False, True, True]


async def test_three_unreadable_answers_are_a_fault_of_the_role() -> None:
    model = FakeModel(["no", "no", "no", YES])
    with pytest.raises(UserSimFault, match="router: no JSON in 3 answers") as caught:
        await ModelRouter(model).route(output="o", reason="r")
    assert (caught.value.module, len(model.asked)) == ("router", 3)


async def test_a_router_verdict_of_the_wrong_form_is_a_fault_at_once() -> None:
    model = FakeModel(['{"is_strict_rule_question": "yes"}', YES])
    with pytest.raises(UserSimFault, match="is_strict_rule_question is no boolean: 'yes'"):
        await ModelRouter(model).route(output="o", reason="r")
    assert len(model.asked) == 1


async def test_the_classifier_sees_the_question_and_the_pool_only() -> None:
    model = FakeModel(['{"rule_id": "r2", "reasoning": "x"}'])
    verdict = await ModelClassifier(model).classify(question="Ask first?", pool=POOL)
    assert (verdict.rule_id, verdict.usage) == ("r2", COUNTED)
    assert model.schemas[0] is not None
    assert model.schemas[0]["required"] == ["rule_id", "reasoning"]
    assert model.schemas[0]["additionalProperties"] is False
    shown = model.asked[0][1].content
    assert all(text in shown for text in ("Ask first?", "r1", "Brass, always.", "r2", "Ask me first."))


async def test_an_id_outside_the_pool_is_told_so_once_and_then_a_fault() -> None:
    model = FakeModel(['{"rule_id": "r9"}', '{"rule_id": "r1"}'])
    assert (await ModelClassifier(model).classify(question="q", pool=POOL)).usage == COUNTED + COUNTED
    assert '"r9"' in told(model, 1) and '"r9"' not in told(model, 0)
    with pytest.raises(UserSimFault, match="cls: 'r8' is no rule of the pool"):
        await ModelClassifier(FakeModel(['{"rule_id": "r9"}', '{"rule_id": "r8"}'])).classify(
            question="q", pool=POOL
        )


async def test_a_rule_id_that_is_no_string_is_outside_the_pool() -> None:
    model = FakeModel(['{"rule_id": ["r1"]}', '{"rule_id": null}'])
    assert (await ModelClassifier(model).classify(question="q", pool=POOL)).rule_id is None


@pytest.mark.parametrize("module", ["router", "cls", "user_sim"])
async def test_a_model_that_raises_is_a_fault_of_its_role(module: str) -> None:
    model = FakeModel([CompletionFault("gone")])
    with pytest.raises(UserSimFault, match=f"{module}: the model call failed: gone") as caught:
        if module == "router":
            await ModelRouter(model).route(output="o", reason="r")
        elif module == "cls":
            await ModelClassifier(model).classify(question="q", pool=POOL)
        else:
            await ModelSimulator(model, BRIEF).open()
    assert caught.value.module == module


async def test_a_call_that_reports_no_usage_is_not_counted() -> None:
    model = FakeModel([Completion(" "), Completion("Hi", usage=ONE_CALL)])
    assert (await ModelSimulator(model, BRIEF).open()).usage == COUNTED


async def test_the_opening_is_played_from_the_intent_the_kind_of_task_and_the_hint() -> None:
    model = FakeModel(["  I need oil. "])
    reply = await ModelSimulator(model, BRIEF).open()
    assert (reply.text, reply.intent) == ("I need oil.", "continue")
    assert model.tools == [[]]
    system = model.asked[0][0].content
    assert all(text in system for text in ("Get clock oil", "Buying goods.", "- category: öl"))
    assert not any(text in system for text in ("p1", "Fine oil", "no rush", "Ola", "list_labels"))


async def test_empty_parts_of_the_brief_are_left_out() -> None:
    bare = UserBrief("", "Get clock oil", {}, (), {}, "", {})
    model = FakeModel(["Hi", "Hm"])
    await ModelSimulator(model, bare).open()
    await ModelSimulator(model, bare).reply(agent_text="a", history=[], answer_directive=None)
    for number in (0, 1):
        assert [line for line in told(model, number).split("\n") if line.startswith("## ")] == [
            "## What you want"
        ]


async def test_a_reply_is_played_from_the_whole_brief_with_the_sides_changed() -> None:
    model = FakeModel(["Fine oil."])
    history = [HistoryEntry("user", "I need oil."), HistoryEntry("assistant", "Which?")]
    directive = answer_directive("Always?")
    await ModelSimulator(model, BRIEF).reply(agent_text="Well?", history=history, answer_directive=directive)
    system, *talk = model.asked[0]
    assert [(message.role, message.content) for message in talk] == [
        ("assistant", "I need oil."),
        ("user", "Which?"),
        ("user", "Well?"),
        ("user", directive),
    ]
    for line in (
        "Ola mends clocks.",
        "Get clock oil",
        '- oil: p1\n  - p1: {"name": "Fine oil"}',
        '- sizes: ["p2", 5]\n- note: no rush',
        '1. search_products {"category": "öl"}\n2. list_labels {}',
    ):
        assert line in system.content
    assert model.tools == [["mark_task_complete"]]
    assert "RULE_ANSWER" not in system.content


async def test_an_empty_message_of_the_agent_is_shown_as_silence() -> None:
    model = FakeModel(["Hello?"])
    await ModelSimulator(model, BRIEF).reply(agent_text="", history=[], answer_directive=None)
    assert model.asked[0][-1].content == prompt("silence")


async def test_the_end_tool_ends_with_or_without_text() -> None:
    for text in ("bye ", None):
        model = FakeModel([tool_answer(text, "mark_task_complete")])
        reply = await ModelSimulator(model, BRIEF).reply(agent_text="a", history=[], answer_directive=None)
        assert (reply.text, reply.intent) == ((text or "").strip(), "end")


def test_no_prompt_tells_a_simulator_of_rules() -> None:
    for name in ("opening", "opening_start", "reply", "end_tool", "silence"):
        text = prompt(name).lower()
        assert "rule" not in text and "{{" not in text


def test_the_examples_in_the_prompts_are_valid_answers() -> None:
    router, classifier = prompt("router"), prompt("classifier")
    spans = [
        json.loads(line)["rule_question_span"]
        for line in router.split("\n")
        if line.startswith('{"') and " or " not in line
    ]
    assert len(spans) == 5
    unwrapped = router.replace("\n", " ")
    assert all(span is None or unwrapped.count(span) >= 2 for span in spans)
    picks = [
        json.loads(line)["rule_id"]
        for line in classifier.split("\n")
        if line.startswith('{"') and " or " not in line
    ]
    assert picks == ["k2", "k3", None, None]


def test_every_prompt_file_is_text_that_ends_in_one_newline() -> None:
    for file in files("atr_user_sim").joinpath("prompts").iterdir():
        text = file.read_text(encoding="utf-8")
        assert text.strip() and text.endswith("\n") and not text.endswith("\n\n"), file.name
