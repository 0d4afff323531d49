"""One user-visible turn: route the message, find the rule it asks for, let the simulator reply, and put the
rule's answer where the reply leaves room for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from atr_data.constants import DEFLECT_TEXT, USER_END
from atr_data.episode import Rule
from atr_data.trajectory import EventKind, InteractionEvent
from atr_data.usage import Usage, count_usage
from atr_user_sim import answer_token
from atr_user_sim.interface import (
    Classifier,
    HistoryEntry,
    PoolRule,
    Router,
    SimulatedUser,
    Simulator,
    SimulatorReply,
    UserTurn,
)
from atr_user_sim.prompt_files import prompt

_TOKEN_TRIES = 3


def simulated_user(
    router: Router, classifier: Classifier, simulator: Simulator, rules: Sequence[Rule]
) -> SimulatedUser:
    """The user of one learning session. `rules` is the classifier's pool; of several rules with one id the
    last counts."""
    return _UserTurns(router, classifier, simulator, {rule.rule_id: rule for rule in rules})


def answer_directive(question: str | None) -> str:
    """The transient note that asks the simulator for the answer token; it is the same on hit and miss."""
    quoted = f': "{question.strip()}"' if question and question.strip() else ""
    return prompt("answer_directive", quoted=quoted)


@dataclass(slots=True)
class _Record:
    """What a turn leaves behind for the transcript. A role that called no model has no usage."""

    turn_idx: int
    events: list[InteractionEvent] = field(default_factory=list[InteractionEvent])
    usage: dict[str, Usage] = field(default_factory=dict[str, Usage])

    def note(self, kind: EventKind, **fields: Any) -> None:
        self.events.append(InteractionEvent(kind=kind, turn_idx=self.turn_idx, **fields))

    def spend(self, role: Literal["router", "classifier", "user_sim"], usage: Usage) -> None:
        count_usage(self.usage, role, usage)


@dataclass(frozen=True, slots=True)
class _UserTurns:
    router: Router
    classifier: Classifier
    simulator: Simulator
    pool: dict[str, Rule]

    async def open(self) -> SimulatorReply:
        return await self.simulator.open()

    async def hear(
        self, *, agent_text: str, output: str, reason: str, turn_idx: int, history: Sequence[HistoryEntry]
    ) -> UserTurn:
        record = _Record(turn_idx)
        verdict = await self.router.route(output=output, reason=reason)
        strict, span = verdict.is_strict_rule_question, verdict.rule_question_span
        record.spend("router", verdict.usage)
        record.note(
            "route_decision",
            route="rule" if strict else "task",
            is_strict_rule_question=strict,
            rule_question_span=span,
        )
        rule = await self._rule_for(span, record) if strict else None
        ask = partial(
            self.simulator.reply,
            agent_text=agent_text,
            history=history,
            answer_directive=answer_directive(span) if strict else None,
        )
        if strict:
            reply = await _with_answer(ask, rule, record)
        else:
            reply = await ask()
            record.spend("user_sim", reply.usage)
        ended = reply.intent == "end" and rule is None
        return UserTurn(USER_END if ended else reply.text, ended, tuple(record.events), record.usage)

    async def _rule_for(self, span: str | None, record: _Record) -> Rule | None:
        rule = None
        if span and span.strip():
            pool = [PoolRule(known.rule_id, known.canonical_answer) for known in self.pool.values()]
            verdict = await self.classifier.classify(question=span, pool=pool)
            record.spend("classifier", verdict.usage)
            rule = self.pool.get(verdict.rule_id) if verdict.rule_id is not None else None
        record.note("cls_verdict", rule_id=rule.rule_id if rule else None)
        return rule


async def _with_answer(
    ask: Callable[[], Awaitable[SimulatorReply]], rule: Rule | None, record: _Record
) -> SimulatorReply:
    """A reply that gives the rule's answer, or the deflection when there is none.

    A simulator that leaves no room for it is asked again; its last reply decides the intent, and in the end
    the answer goes below what it said last.
    """
    reply = SimulatorReply("", "continue")
    for attempt in range(_TOKEN_TRIES):
        latest = await ask()
        record.spend("user_sim", latest.usage)
        reply = SimulatorReply(latest.text or reply.text, latest.intent)
        if answer_token.has_token(reply.text):
            break
        record.note("rule_hook_token_missing", cls_status="hit" if rule else "miss", attempt_idx=attempt)
    answer = (rule.canonical_answer.strip() if rule else "") or DEFLECT_TEXT
    insert = answer_token.substitute if answer_token.has_token(reply.text) else answer_token.append
    return SimulatorReply(insert(reply.text, answer), reply.intent)
