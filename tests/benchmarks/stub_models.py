"""Models that answer at once, or after `ATR_STUB_SECONDS`: in the agent's part and in the user's.

To import this module makes `atr-client run` ask them in place of any remote model, also in worker processes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable

import anyio

from atr_client.models import recording
from atr_client.models.base import ModelReply
from atr_client.models.recording import CallSite
from atr_client.models.wire import WireRequest
from atr_data.constants import FINISH_SESSION, SEND_TO_USER
from atr_data.trajectory import ToolCall
from atr_data.usage import Usage

SECONDS = float(os.environ.get("ATR_STUB_SECONDS", "0"))
USAGE = Usage(prompt_tokens=1000, completion_tokens=20, total_tokens=1020, calls=1)
SEARCHES = 2
"""Calls of a session's first tool before the agent speaks or ends."""


class StubExchanges:
    """Answers every call itself."""

    async def exchange(
        self, site: CallSite, model_id: str, request: WireRequest, call: Callable[[], Awaitable[ModelReply]]
    ) -> ModelReply:
        if SECONDS:
            await anyio.sleep(SECONDS)
        return _agent(request) if site.role == "agent" else _user(site.role, request)


def _agent(request: WireRequest) -> ModelReply:
    said = sum(message.role == "assistant" for message in request.messages)
    names = {tool.name for tool in request.tools}
    if said < SEARCHES:
        name, arguments = "get_user_confirmation", {"target_tool": "x", "target_params": {}}
    elif FINISH_SESSION in names:
        name, arguments = FINISH_SESSION, {}
    else:
        name, arguments = SEND_TO_USER, {"output": f"Is that all ({said})?", "reason": "to end"}
    return ModelReply(tool_calls=[ToolCall(id=f"c{said}", name=name, arguments=arguments)], usage=USAGE)


def _user(role: str, request: WireRequest) -> ModelReply:
    if role == "router":
        return ModelReply(
            json.dumps({"is_strict_rule_question": False, "rule_question_span": None}), usage=USAGE
        )
    if request.tools:
        return ModelReply(tool_calls=[ToolCall(id="u", name=request.tools[0].name)], usage=USAGE)
    return ModelReply("Please do it for me.", usage=USAGE)


def stub_exchanges(record: object, replay: object) -> StubExchanges:
    return StubExchanges()


recording.chosen_exchanges = stub_exchanges
