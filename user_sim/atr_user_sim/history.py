"""The conversation as the simulated user sees it: what was said, and a trace of what the agent did."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest

from atr_data.constants import CONFIRMATION, FINISH_SESSION, SEND_TO_USER
from atr_data.trajectory import Message, ToolCall
from atr_user_sim.interface import HistoryEntry

_MAX_ARGUMENTS = 80
_MAX_ERROR = 60


def render_history(
    messages: Sequence[Message], *, exclude_call_id: str | None = None, before_turn: int | None = None
) -> list[HistoryEntry]:
    """The user's and the agent's entries, in order; what has nothing to show is left out.

    Text next to tool calls is the agent's private thought and stays hidden. A `send_to_user` call shows its
    output, `finish_session` and `get_user_confirmation` show nothing, any other call shows as
    `[invoked NAME(ARGS) → ok]` or `→ error: TEXT`, without an arrow when its result is missing. The results
    of a message's calls are the tool messages right after it, in call order, with the same ids.

    `exclude_call_id` hides the `send_to_user` call being answered (the last call of that id), and
    `before_turn` every message from that `turn_idx` on.
    """
    seen = [m for m in messages if before_turn is None or m.turn_idx < before_turn]
    answered = _last_with_call(seen, exclude_call_id) if exclude_call_id is not None else None
    entries: list[HistoryEntry] = []
    for index, message in enumerate(seen):
        if message.role == "assistant" and message.tool_calls:
            results = list(takewhile(lambda m: m.role == "tool", seen[index + 1 :]))
            hidden = exclude_call_id if index == answered else None
            text = "\n".join(_call_lines(message.tool_calls, results, hidden))
        else:
            text = (message.content or "").strip()
        if text and message.role in ("user", "assistant"):
            entries.append(HistoryEntry("user" if message.role == "user" else "assistant", text))
    return entries


def _last_with_call(messages: Sequence[Message], call_id: str) -> int | None:
    with_call = (i for i, m in enumerate(messages) if any(c.id == call_id for c in m.tool_calls or ()))
    return max(with_call, default=None)


def _call_lines(calls: Sequence[ToolCall], results: Sequence[Message], hidden: str | None) -> Iterator[str]:
    for call, result in zip_longest(calls, results[: len(calls)]):
        if call.id == hidden or call.name in (FINISH_SESSION, CONFIRMATION):
            continue
        if call.name == SEND_TO_USER:
            if output := call.text("output"):
                yield output
        else:
            yield _invoked(call, result if result is not None and result.tool_call_id == call.id else None)


def _invoked(call: ToolCall, result: Message | None) -> str:
    arguments = _cut(json.dumps(call.arguments, ensure_ascii=False), _MAX_ARGUMENTS)
    name = f"{call.name}({arguments})" if call.arguments else call.name
    return f"[invoked {name}]" if result is None else f"[invoked {name} → {_outcome(result)}]"


def _outcome(result: Message) -> str:
    if not result.tool_error:
        return "ok"
    text = (result.content or "").replace("\n", " ").strip()
    return f"error: {_cut(text, _MAX_ERROR)}" if text else "error"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
