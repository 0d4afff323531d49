"""One user-visible turn: what is asked of whom, what the user says, what is noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from atr_data.constants import DEFLECT_TEXT, USER_END
from atr_data.episode import Rule
from atr_data.usage import Usage
from atr_user_sim.interface import (
    ClassifierVerdict,
    HistoryEntry,
    Intent,
    PoolRule,
    RouterVerdict,
    SimulatorReply,
    UserTurn,
)
from atr_user_sim.user_turn import answer_directive, simulated_user

TOKEN = "<RULE_ANSWER>"
SPAN = "Do you usually want brass?"
HISTORY = [HistoryEntry("user", "hello")]
USED = Usage(prompt_tokens=7, calls=1)


def rule(rule_id: str, answer: str) -> Rule:
    return Rule.model_validate(
        {
            "rule_id": rule_id,
            "rule_text": "t",
            "canonical_answer": answer,
            "check_type": "confirm",
            "action_step": {"tool": "get_user_confirmation", "param": "place_order"},
        }
    )


RULES = [rule("r1", "brass, always."), rule("r2", " "), rule("r1", "steel, always.")]


@dataclass
class Roles:
    """All three roles at once, reading from a script."""

    span: str | None
    strict: bool = True
    rule_id: str | None = None
    replies: list[tuple[str, Intent]] = field(default_factory=list)
    usage: Usage = USED
    heard: list[dict[str, Any]] = field(default_factory=list)
    classified: list[tuple[str, list[PoolRule]]] = field(default_factory=list)

    async def route(self, *, output: str, reason: str) -> RouterVerdict:
        self.heard.append({"output": output, "reason": reason})
        return RouterVerdict(self.strict, self.span, self.usage)

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        self.classified.append((question, list(pool)))
        return ClassifierVerdict(self.rule_id, self.usage)

    async def open(self) -> SimulatorReply:
        return SimulatorReply("hi", "continue", self.usage)

    async def reply(
        self, *, agent_text: str, history: Sequence[HistoryEntry], answer_directive: str | None
    ) -> SimulatorReply:
        self.heard.append({"agent_text": agent_text, "history": history, "directive": answer_directive})
        return SimulatorReply(*self.replies.pop(0), self.usage)


async def hear(roles: Roles) -> UserTurn:
    user = simulated_user(roles, roles, roles, RULES)
    return await user.hear(agent_text="text", output="out", reason="why", turn_idx=4, history=HISTORY)


def kinds(turn: UserTurn) -> list[tuple[str, int | None]]:
    assert {event.turn_idx for event in turn.events} == {4}
    return [(event.kind, event.attempt_idx) for event in turn.events]


async def test_a_task_turn_is_routed_and_answered_without_a_directive() -> None:
    roles = Roles(span=None, strict=False, replies=[("two, please", "continue")])
    turn = await hear(roles)
    assert (turn.message, turn.ended) == ("two, please", False)
    assert roles.heard == [
        {"output": "out", "reason": "why"},
        {"agent_text": "text", "history": HISTORY, "directive": None},
    ]
    (event,) = turn.events
    assert (event.route, event.is_strict_rule_question, event.rule_question_span) == ("task", False, None)
    assert dict(turn.usage) == {"router": USED, "user_sim": USED}


async def test_an_end_on_a_task_turn_is_respected_and_its_text_is_lost() -> None:
    turn = await hear(Roles(span=None, strict=False, replies=[("bye", "end")]))
    assert (turn.message, turn.ended) == (USER_END, True)


async def test_a_hit_puts_the_answer_of_the_last_rule_of_that_id_in_place_of_the_token() -> None:
    roles = Roles(span=SPAN, rule_id="r1", replies=[(f"Well, {TOKEN} Thanks", "continue")])
    turn = await hear(roles)
    assert turn.message == "Well, steel, always. Thanks"
    assert roles.classified == [(SPAN, [PoolRule("r1", "steel, always."), PoolRule("r2", " ")])]
    assert kinds(turn) == [("route_decision", None), ("cls_verdict", None)]
    assert turn.events[0].rule_question_span == SPAN
    assert turn.events[1].rule_id == "r1"
    assert set(turn.usage) == {"router", "classifier", "user_sim"}


async def test_a_hit_overrules_an_end() -> None:
    turn = await hear(Roles(span=SPAN, rule_id="r1", replies=[(TOKEN, "end")]))
    assert (turn.message, turn.ended) == ("Steel, always.", False)


@pytest.mark.parametrize("rule_id", [None, "stranger"])
async def test_a_miss_deflects_and_an_end_discards_the_deflection(rule_id: str | None) -> None:
    turn = await hear(Roles(span=SPAN, rule_id=rule_id, replies=[(f"Hm, {TOKEN}", "continue")]))
    assert turn.message == f"Hm, {DEFLECT_TEXT}."
    assert turn.events[1].rule_id is None
    ended = await hear(Roles(span=SPAN, rule_id=rule_id, replies=[(TOKEN, "end")]))
    assert (ended.message, ended.ended) == (USER_END, True)


async def test_a_hit_on_a_rule_without_an_answer_deflects_but_stays_a_hit() -> None:
    turn = await hear(Roles(span=SPAN, rule_id="r2", replies=[(TOKEN, "end")]))
    assert (turn.message, turn.ended) == (f"{DEFLECT_TEXT.capitalize()}.", False)
    assert turn.events[1].rule_id == "r2"


@pytest.mark.parametrize("span", [None, "", "  "])
async def test_a_question_without_a_sentence_is_a_miss_that_is_not_classified(span: str | None) -> None:
    roles = Roles(span=span, rule_id="r1", replies=[(TOKEN, "continue")])
    turn = await hear(roles)
    assert roles.classified == []
    assert kinds(turn) == [("route_decision", None), ("cls_verdict", None)]
    assert turn.events[0].rule_question_span == span
    assert turn.message == f"{DEFLECT_TEXT.capitalize()}."
    assert "classifier" not in turn.usage


async def test_a_missing_token_is_asked_for_again_with_the_same_inputs() -> None:
    roles = Roles(span=SPAN, rule_id="r1", replies=[("no idea", "continue"), (f"ok {TOKEN}", "continue")])
    turn = await hear(roles)
    assert turn.message == "ok steel, always."
    assert roles.heard[1] == roles.heard[2] and roles.heard[1]["directive"] == answer_directive(SPAN)
    assert kinds(turn)[2:] == [("rule_hook_token_missing", 0)]
    assert turn.events[2].cls_status == "hit"
    assert turn.usage["user_sim"] == USED + USED


async def test_after_three_replies_without_a_token_the_answer_goes_below_the_last_words() -> None:
    replies: list[tuple[str, Intent]] = [("first", "continue"), ("second", "end"), ("", "continue")]
    turn = await hear(Roles(span=SPAN, replies=replies))
    assert turn.message == f"second\n\n{DEFLECT_TEXT}"
    assert kinds(turn)[2:] == [("rule_hook_token_missing", k) for k in (0, 1, 2)]
    assert {event.cls_status for event in turn.events[2:]} == {"miss"}


@pytest.mark.parametrize(("last", "ended"), [("continue", False), ("end", True)])
async def test_the_last_retry_decides_the_intent(last: Intent, ended: bool) -> None:
    first: Intent = "end" if last == "continue" else "continue"
    turn = await hear(Roles(span=SPAN, replies=[("", first), (TOKEN, last)]))
    assert turn.ended is ended


@pytest.mark.parametrize(
    ("usage", "roles"),
    [
        (Usage(), set[str]()),
        (USED, {"router", "classifier", "user_sim"}),
        (Usage(calls_without_usage=1, estimated_usd=0.1), {"router", "classifier", "user_sim"}),
    ],
)
async def test_roles_that_call_no_model_leave_no_usage_and_unreported_calls_are_kept(
    usage: Usage, roles: set[str]
) -> None:
    played = Roles(span=SPAN, rule_id="r1", replies=[("", "continue"), (TOKEN, "continue")], usage=usage)
    found = (await hear(played)).usage
    assert set(found) == roles
    assert not roles or (found["router"], found["user_sim"]) == (usage, usage + usage)


async def test_the_opening_is_the_simulators() -> None:
    roles = Roles(span=None)
    opening = await simulated_user(roles, roles, roles, RULES).open()
    assert (opening.text, opening.usage) == ("hi", USED)


def test_the_directive_names_the_token_and_quotes_the_question_when_there_is_one() -> None:
    quoted, bare = answer_directive(f" {SPAN} "), answer_directive("  ")
    assert f'"{SPAN}"' in quoted and '"' not in bare
    assert answer_directive(None) == bare
    for text in (quoted, bare):
        assert text.startswith("<rule_answer>") and text.endswith("</rule_answer>")
        assert TOKEN in text and "{{" not in text
