"""A model that writes into its client's own files before it plays, and what it saw of them.

Each session gets a mark of its own. The first turn writes it with the client's own tool for files; whether a
mark stands in what the client sends as a session begins shows what it remembers by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from atr_client.models.base import ToolSpec
from atr_data.trajectory import Message
from tests.clients.asker_brain import asker_brain, instructions_in
from tests.clients.mock_providers import Call, MockProvider, Turn

MARK = re.compile(r"KEPT-\d+-")
_WORK = re.compile(r"(/[\w./-]*/agent-\w+/work)\b")
_MEMORY = re.compile(r"`(/[^`\s]+/memory)/")
"""Where the client tells its model that its memory of this folder lies."""


def mark(number: int) -> str:
    return f"KEPT-{number}-"


@dataclass
class NoteTaker:
    """`notes` are the files for one session after the other, `{work}` and `{memory}` filled in; `write` is
    the call that writes one. `seen` are the marks in what came as each session began, `answers` what the
    client answered to the writing."""

    notes: Sequence[str]
    write: Callable[[str, str], Call]
    provider: MockProvider = field(init=False)
    seen: list[set[str]] = field(default_factory=list[set[str]])
    answers: dict[int, str] = field(default_factory=dict[int, str])
    _sessions: list[str] = field(default_factory=list[str])

    def __call__(self, conversation: list[Message], tools: list[ToolSpec]) -> Turn:
        told = instructions_in(conversation)
        if told not in self._sessions:
            self._sessions.append(told)
            self.seen.append(set(MARK.findall(self._sent())))
        number = self._sessions.index(told)
        called = [m for m in conversation if m.role == "assistant" and m.tool_calls]
        if not called:
            return [self.write(self._place(self.notes[number]), mark(number))]
        written = [call.id for call in called[0].tool_calls or ()]
        (answer,) = (m for m in conversation if m.tool_call_id in written)
        self.answers[number] = str(answer.content)
        rest = [m for m in conversation if m is not called[0] and m is not answer]
        return asker_brain(rest, tools)

    def _sent(self) -> str:
        """The request that brought the session."""
        return json.dumps(self.provider.requests[-1][1])

    def _place(self, template: str) -> str:
        sent = self._sent()
        found = {"work": _WORK.search(sent), "memory": _MEMORY.search(sent)}
        return template.format(**{name: match[1] for name, match in found.items() if match})
