"""A completion model that plays back answers and keeps what it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atr_data.trajectory import ToolCall
from atr_data.usage import Usage
from atr_user_sim.interface import ChatMessage, Completion, ToolOffer

ONE_CALL = Usage(prompt_tokens=10, completion_tokens=2, total_tokens=12)


@dataclass
class FakeModel:
    """`answers` are texts, completions, or errors to raise, one per call."""

    answers: Sequence[str | Completion | Exception | None]
    asked: list[list[ChatMessage]] = field(default_factory=list)
    schemas: list[Mapping[str, Any] | None] = field(default_factory=list)
    tools: list[list[str]] = field(default_factory=list)

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolOffer] = (),
    ) -> Completion:
        answer = self.answers[len(self.asked)]
        self.asked.append(list(messages))
        self.schemas.append(schema)
        self.tools.append([tool.name for tool in tools])
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Completion) else Completion(answer, usage=ONE_CALL)


def tool_answer(content: str | None, *names: str) -> Completion:
    return Completion(content, [ToolCall(id=f"t{n}", name=name) for n, name in enumerate(names)], ONE_CALL)
