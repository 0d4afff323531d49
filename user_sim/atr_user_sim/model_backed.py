"""The three roles played by a language model.

A call that raises, an answer that breaks its role's form, or silence after the last try is a UserSimFault.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from atr_data.usage import Usage
from atr_user_sim.brief import UserBrief, mentioned_ids
from atr_user_sim.interface import (
    ChatMessage,
    ClassifierVerdict,
    CompletionModel,
    HistoryEntry,
    PoolRule,
    RouterVerdict,
    SimulatorReply,
    ToolOffer,
    UserSimFault,
)
from atr_user_sim.model_call import TRIES, Module, call, call_for_json
from atr_user_sim.prompt_files import prompt

_POOL_TRIES = 2
_END_TOOL = "mark_task_complete"

_ROUTER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "is_strict_rule_question": {"type": "boolean"},
        "rule_question_span": {"type": ["string", "null"]},
    },
    "required": ["is_strict_rule_question", "rule_question_span"],
    "additionalProperties": False,
}
_CLASSIFIER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"rule_id": {"type": ["string", "null"]}, "reasoning": {"type": "string"}},
    "required": ["rule_id", "reasoning"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ModelRouter:
    """Routes with one call. A well-formed verdict is an object whose flag is a boolean and whose span is a
    string or null, and not blank when the flag is true; anything else is a fault at once."""

    model: CompletionModel

    async def route(self, *, output: str, reason: str) -> RouterVerdict:
        messages = [
            ChatMessage("system", prompt("router")),
            ChatMessage("user", prompt("router_input", reason=reason, output=output)),
        ]
        answer, usage = await call_for_json(self.model, "router", messages, _ROUTER_SCHEMA)
        fields = _object(answer, "router")
        strict, span = fields.get("is_strict_rule_question"), fields.get("rule_question_span")
        if not isinstance(strict, bool):
            raise UserSimFault("router", f"is_strict_rule_question is no boolean: {strict!r:.80}")
        if span is not None and not isinstance(span, str):
            raise UserSimFault("router", f"rule_question_span is neither a string nor null: {span!r:.80}")
        span = (span or "").strip() or None
        if strict and span is None:
            raise UserSimFault("router", "a standing-rule question was seen, but no sentence that asks it")
        return RouterVerdict(strict, span if strict else None, usage)


@dataclass(frozen=True, slots=True)
class ModelClassifier:
    """Picks a rule with one call, and a second one when the first names a rule that is not in the pool."""

    model: CompletionModel

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        statements = json.dumps(
            [{"rule_id": rule.rule_id, "canonical_answer": rule.canonical_answer} for rule in pool],
            ensure_ascii=False,
            indent=1,
        )
        content = prompt("classifier_input", pool=statements, question=question)
        system = ChatMessage("system", prompt("classifier"))
        usage, rule_id = Usage(), None
        for _ in range(_POOL_TRIES):
            messages = [system, ChatMessage("user", content)]
            answer, spent = await call_for_json(self.model, "cls", messages, _CLASSIFIER_SCHEMA)
            usage += spent
            rule_id = _object(answer, "cls").get("rule_id")
            if not rule_id:
                return ClassifierVerdict(None, usage)
            if rule_id in [rule.rule_id for rule in pool]:
                return ClassifierVerdict(rule_id, usage)
            content = f"{content}\n\n{prompt('pool_reminder', rule_id=str(rule_id))}"
        raise UserSimFault("cls", f"{rule_id!r:.80} is no rule of the pool")


@dataclass(frozen=True, slots=True)
class ModelSimulator:
    """Plays the user from a brief. A blank reply is asked for again, up to three calls in total."""

    model: CompletionModel
    brief: UserBrief

    async def open(self) -> SimulatorReply:
        messages = [
            ChatMessage("system", "\n\n".join([prompt("opening"), *_opening_data(self.brief)])),
            ChatMessage("user", prompt("opening_start")),
        ]
        usage = Usage()
        for _ in range(TRIES):
            completion, spent = await call(self.model, "user_sim", messages)
            usage += spent
            if text := (completion.text or "").strip():
                return SimulatorReply(text, "continue", usage)
        raise UserSimFault("user_sim", f"the opening was blank {TRIES} times")

    async def reply(
        self, *, agent_text: str, history: Sequence[HistoryEntry], answer_directive: str | None
    ) -> SimulatorReply:
        messages = [
            ChatMessage("system", "\n\n".join([prompt("reply"), *_reply_data(self.brief)])),
            *(ChatMessage(_other(entry.role), entry.content) for entry in history),
            ChatMessage("user", agent_text or prompt("silence")),
        ]
        if answer_directive is not None:
            messages.append(ChatMessage("user", answer_directive))
        usage = Usage()
        for _ in range(TRIES):
            completion, spent = await call(
                self.model, "user_sim", messages, tools=[ToolOffer(_END_TOOL, prompt("end_tool"))]
            )
            usage += spent
            text = (completion.text or "").strip()
            if any(tool_call.name == _END_TOOL for tool_call in completion.tool_calls):
                return SimulatorReply(text, "end", usage)
            if text:
                return SimulatorReply(text, "continue", usage)
        raise UserSimFault("user_sim", f"the reply was blank {TRIES} times")


def _object(answer: Any, module: Module) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise UserSimFault(module, f"the answer is no JSON object: {answer!r:.80}")
    return cast(dict[str, Any], answer)


def _other(role: Literal["user", "assistant"]) -> Literal["user", "assistant"]:
    """The roles change sides: the model's own lines are the user's."""
    return "user" if role == "assistant" else "assistant"


def _opening_data(brief: UserBrief) -> Iterator[str]:
    yield from _section("What you want", brief.reason_for_call)
    yield from _section("Kind of task", brief.task_type)
    yield from _section("What you may hint at", "\n".join(_line(n, v) for n, v in brief.hint.items()))


def _reply_data(brief: UserBrief) -> Iterator[str]:
    requirements = [line for item in brief.task_params.items() for line in _requirement(*item, brief)]
    steps = (
        f"{number}. {step.tool} {_json(step.arguments)}"
        for number, step in enumerate(brief.gold_trajectory, start=1)
    )
    yield from _section("Who you are", brief.narrative)
    yield from _section("What you want", brief.reason_for_call)
    yield from _section("Your requirements", "\n".join(requirements))
    yield from _section("Guided path", "\n".join(steps))


def _section(title: str, text: str) -> Iterator[str]:
    if text:
        yield f"## {title}\n\n{text}"


def _requirement(name: str, value: Any, brief: UserBrief) -> Iterator[str]:
    """A task parameter, followed by what is known of each object it names."""
    yield _line(name, value)
    for id_ in mentioned_ids(value):
        if id_ in brief.references:
            yield f"  - {id_}: {_json(brief.references[id_].attributes)}"


def _line(name: str, value: Any) -> str:
    return f"- {name}: {value if isinstance(value, str) else _json(value)}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
