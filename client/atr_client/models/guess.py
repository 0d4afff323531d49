"""What a call took, where its provider does not say."""

from __future__ import annotations

import json

from atr_client.models.base import ModelReply
from atr_client.models.wire import WireRequest
from atr_data.trajectory import Message
from atr_data.usage import Usage

SIGNS_PER_TOKEN = 4


def guessed_usage(request: WireRequest, reply: ModelReply) -> Usage:
    """Tokens by the length of what was sent and what came back."""
    sent = sum(_length(message) for message in request.messages) + sum(
        len(tool.name) + len(tool.description) + len(json.dumps(tool.input_schema)) for tool in request.tools
    )
    came = _length(
        Message(
            role="assistant",
            content=reply.content,
            tool_calls=reply.tool_calls,
            reasoning_content=reply.reasoning_content,
        )
    )
    prompt, completion = -(-sent // SIGNS_PER_TOKEN), -(-came // SIGNS_PER_TOKEN)
    return Usage(prompt, completion, prompt + completion, calls=1)


def _length(message: Message) -> int:
    calls = sum(len(call.name) + len(json.dumps(call.arguments)) for call in message.tool_calls or ())
    return len(message.content or "") + len(message.reasoning_content or "") + calls
