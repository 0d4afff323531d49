"""Chat Completions: DeepSeek, Qwen, MiniMax, and every server that speaks OpenAI's older format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pydantic import Field

from atr_client.models.base import Finish, ModelReply, ToolSpec
from atr_client.models.wire import Endpoint, Wire, WireRequest
from atr_client.models.wires._calls import CallIds, finish_of, read_call
from atr_client.models.wires._chat_messages import PAYLOAD_FORMAT, message_sent
from atr_client.models.wires._counting import IfObject, Tokens, counted
from atr_client.models.wires._faults import fault, told_in_reply
from atr_client.models.wires._http import request_body
from atr_client.models.wires._openai import open_client, receive
from atr_client.models.wires._reading import Part, Word, as_it_came, served_model
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage

_CUT: dict[str | None, Finish] = {"length": "length", "content_filter": "content_filter"}
_BROKEN_OFF = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons by which a server says that it gave up in the middle."""


class _Function(Part):
    name: Word = None
    arguments: Any = None


class _Call(Part):
    id: Word = None
    function: _Function = Field(default_factory=_Function)


class _ContentPart(Part):
    """A part of type `text`, or `thinking` with parts of its own."""

    type: str | None = None
    text: str | None = None
    thinking: str | list[_ContentPart] | None = None


class _Message(Part):
    content: str | list[_ContentPart] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(Part):
    message: _Message = Field(default_factory=_Message)
    finish_reason: str | None = None
    error: Any = None


class _PromptDetails(Part):
    cached_tokens: Tokens = None


class _CompletionDetails(Part):
    reasoning_tokens: Tokens = None


class _Usage(Part):
    prompt_tokens: Tokens = None
    completion_tokens: Tokens = None
    total_tokens: Tokens = None
    prompt_cache_hit_tokens: Tokens = None
    prompt_tokens_details: IfObject[_PromptDetails] = None
    completion_tokens_details: IfObject[_CompletionDetails] = None


class _Completion(Part):
    choices: list[_Choice] = Field(min_length=1)
    usage: IfObject[_Usage] = None


def open_wire(endpoint: Endpoint) -> Wire:
    """A client of one endpoint.

    `max_output_tokens` is sent as `max_tokens`, the name that all servers know. The message of a reply is
    stored as it came, and what it holds beyond text and calls goes back unchanged.

    Raises ModelError when the SDK is missing or the endpoint cannot be used.
    """
    return _ChatWire(endpoint)


class _ChatWire:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = open_client(endpoint)

    async def send(self, request: WireRequest) -> ModelReply:
        pending = self._client.chat.completions.with_raw_response.create(
            model=self._endpoint.model,
            messages=cast("Any", message_sent(request.messages, self._endpoint)),
            extra_body=_fields(request, self._endpoint),
        )
        completion = await receive(pending, self._endpoint, _Completion)
        return _reply(completion, request.messages, self._endpoint)

    async def aclose(self) -> None:
        await self._client.close()


def _fields(request: WireRequest, endpoint: Endpoint) -> dict[str, Any]:
    """All of the body but model and messages: servers take parameters that the SDK has no argument for."""
    schema = request.schema if endpoint.structured_output else None
    form = {"name": "answer", "schema": schema, "strict": False}
    return request_body(
        {
            "tools": [_tool(tool) for tool in request.tools] or None,
            "response_format": schema and {"type": "json_schema", "json_schema": form},
            "max_tokens": endpoint.max_output_tokens,
            "temperature": request.temperature if endpoint.sampling else None,
            endpoint.seed_name: request.seed if endpoint.sampling else None,
        },
        endpoint.parameters,
    )


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _reply(completion: _Completion, asked: Sequence[Message], endpoint: Endpoint) -> ModelReply:
    choice, message = completion.choices[0], completion.choices[0].message
    if choice.error:
        raise told_in_reply(choice.error, endpoint, retryable=False)
    if choice.finish_reason in _BROKEN_OFF:
        raise fault(f"the server gave up with finish reason {choice.finish_reason!r}", endpoint)
    if "message" not in choice.model_fields_set:
        raise fault("malformed reply: choices.0.message: there is none", endpoint)
    ids = CallIds(asked)
    calls: list[ToolCall] = []
    for call in message.tool_calls or ():
        call.id = ids.unique(call.id)
        calls.append(read_call(call.id, call.function.name, call.function.arguments))
    cut = "refusal" if message.refusal else _CUT.get(choice.finish_reason)
    text, thoughts = _said(message.content)
    return ModelReply(
        content=text or message.refusal or None,
        tool_calls=calls,
        usage=completion.usage and _usage(completion.usage),
        reasoning_content=message.reasoning_content or message.reasoning or thoughts,
        native_assistant_payload=as_it_came(message),
        native_payload_format=endpoint.payload_format or PAYLOAD_FORMAT,
        finish=finish_of(calls, cut),
        served_model=served_model(completion),
    )


def _said(content: str | list[_ContentPart] | None) -> tuple[str | None, str | None]:
    """Text and reasoning of a content, which may come in parts."""
    if not isinstance(content, list):
        return content, None
    text = "".join(part.text or "" for part in content if part.type == "text")
    thoughts = [_thought(part.thinking) for part in content if part.type == "thinking"]
    return text or None, "\n".join(filter(None, thoughts)) or None


def _thought(thinking: str | list[_ContentPart] | None) -> str:
    if isinstance(thinking, list):
        return "".join(part.text or "" for part in thinking)
    return thinking or ""


def _usage(reported: _Usage) -> Usage | None:
    """DeepSeek counts cached tokens under a name of its own, and again under the common one: they are told
    once, under its own."""
    hit, read = reported.prompt_cache_hit_tokens, reported.prompt_tokens_details
    thought = reported.completion_tokens_details
    return counted(
        prompt=reported.prompt_tokens,
        completion=reported.completion_tokens,
        total=reported.total_tokens,
        cached=0 if hit else read and read.cached_tokens,
        cache_hit=hit,
        reasoning=thought and thought.reasoning_tokens,
    )
