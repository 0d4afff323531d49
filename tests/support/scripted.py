"""The four collaborators of the turn loop, reading scripts and noting what they were given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from atr_client.errors import ModelError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.session.turns import ToolOutcome
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage
from atr_user_sim.interface import (
    ClassifierVerdict,
    HistoryEntry,
    PoolRule,
    RouterVerdict,
    SimulatorReply,
    UserSimFault,
)

PER_CALL = Usage(
    prompt_tokens=100, completion_tokens=10, total_tokens=110, cached_tokens=5, reasoning_tokens=2, calls=1
)


@dataclass
class Scripts:
    """What is left of each script, what was used of it, and every call in order."""

    agent: list[dict[str, Any]]
    router: list[dict[str, Any]]
    classifier: list[dict[str, Any]]
    user_sim: list[dict[str, Any]]
    tool: list[dict[str, Any]]
    opening: str | None
    calls: list[dict[str, Any]] = field(default_factory=list)
    consumed: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("agent", "router", "classifier", "user_open", "user_sim", "tool"), 0
        )
    )

    def next(self, role: str) -> dict[str, Any]:
        self.consumed[role] += 1
        return getattr(self, role)[self.consumed[role] - 1]


@dataclass
class ScriptedAgent:
    scripts: Scripts
    offered: list[str] | None = None

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        if self.offered is None:
            self.offered = [tool.name for tool in tools]
        last = messages[-1]
        note = last.role == "user" and (last.content or "").startswith("<scaffolding_note>")
        self.scripts.calls.append({"role": "agent", "n_messages": len(messages), "note": note})
        entry = self.scripts.next("agent")
        if entry.get("raise"):
            raise ModelError("scripted")
        calls = [ToolCall(**call) for call in entry.get("tool_calls") or []]
        return ModelReply(
            entry.get("content"), calls, PER_CALL, reasoning_content=entry.get("reasoning_content")
        )


@dataclass
class ScriptedRouter:
    scripts: Scripts

    async def route(self, *, output: str, reason: str) -> RouterVerdict:
        self.scripts.calls.append({"role": "router", "output": output, "reason": reason})
        entry = self.scripts.next("router")
        if entry.get("raise"):
            raise UserSimFault("router", "scripted")
        return RouterVerdict(**entry, usage=PER_CALL)


@dataclass
class ScriptedClassifier:
    scripts: Scripts

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        self.scripts.calls.append(
            {"role": "classifier", "query": question, "pool": [rule.rule_id for rule in pool]}
        )
        entry = self.scripts.next("classifier")
        if entry.get("raise"):
            raise UserSimFault("cls", "scripted")
        return ClassifierVerdict(entry["rule_id"], PER_CALL)


@dataclass
class ScriptedSimulator:
    scripts: Scripts

    async def open(self) -> SimulatorReply:
        assert self.scripts.opening is not None
        self.scripts.consumed["user_open"] += 1
        return SimulatorReply(self.scripts.opening, "continue", PER_CALL)

    async def reply(
        self, *, agent_text: str, history: Sequence[HistoryEntry], answer_directive: str | None
    ) -> SimulatorReply:
        self.scripts.calls.append(
            {
                "role": "user_sim",
                "agent_text": agent_text,
                "history": [{"role": entry.role, "content": entry.content} for entry in history],
                "hook": answer_directive is not None,
            }
        )
        entry = self.scripts.next("user_sim")
        if entry.get("raise"):
            raise UserSimFault("user_sim", "scripted")
        return SimulatorReply(entry["reply"], entry["intent"], PER_CALL)


@dataclass
class ScriptedEnvironment:
    scripts: Scripts
    names: Sequence[str]

    async def tools(self) -> Sequence[ToolSpec]:
        return [ToolSpec(name, name, {"type": "object", "properties": {}}) for name in self.names]

    async def call(self, call: ToolCall, turn_idx: int) -> ToolOutcome:
        if call.name not in self.names:
            return ToolOutcome(f'{{"error": "Unknown tool: {call.name}"}}', True)
        entry = self.scripts.next("tool")
        return ToolOutcome(entry["content"], entry["is_error"])
