"""Chat Completions: DeepSeek, Qwen, MiniMax, and every server that speaks OpenAI's older format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pydantic import Field

from atr_client.models.base import Finish, ModelReply, ToolSpec
from atr_client.models.wire import Endpoint, Wire, WireRequest
from atr_client.models.wires._calls import CallIds, finish_of, read_call, sent_arguments
from atr_client.models.wires._http import fault, request_body
from atr_client.models.wires._openai import open_client, receive
from atr_client.models.wires._reading import Part, served_model
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage

_CUT: dict[str | None, Finish] = {"length": "length", "content_filter": "content_filter"}
_BROKEN_OFF = frozenset({"error", "abort", "insufficient_system_resource"})
"""Finish reasons by which a server says that it gave up in the middle."""

_RENDERED = frozenset(
    {"role", "content", "tool_calls", "reasoning_content", "reasoning"}
    | {"refusal", "annotations", "audio", "function_call"}
)
"""Fields of a stored message that are written anew from the transcript, or that no server takes back."""


class _Function(Part):
    name: str | None = None
    arguments: Any = None


class _Call(Part):
    id: str | None = None
    function: _Function


class _Message(Part):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(Part):
    message: _Message
    finish_reason: str | None = None


class _PromptDetails(Part):
    cached_tokens: int | None = None


class _CompletionDetails(Part):
    reasoning_tokens: int | None = None


class _Usage(Part):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_cache_hit_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Completion(Part):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


def open_wire(endpoint: Endpoint) -> Wire:
    """A client of one endpoint.

    `max_output_tokens` is sent as `max_tokens`, the name that all servers know. The message of a reply is
    stored as it came when the endpoint names a payload format; what it holds beyond text, calls and plain
    reasoning goes back unchanged. Raises ModelError when the SDK is missing or the endpoint cannot be used.
    """
    return _ChatWire(endpoint)


class _ChatWire:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = open_client(endpoint)

    async def send(self, request: WireRequest) -> ModelReply:
        pending = self._client.chat.completions.with_raw_response.create(
            model=self._endpoint.model,
            messages=cast("Any", [_sent(message, self._endpoint) for message in request.messages]),
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
            "seed": request.seed if endpoint.sampling else None,
        },
        endpoint.parameters,
    )


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
    return {"type": "function", "function": function}


def _sent(message: Message, endpoint: Endpoint) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content or ""}
    if message.role != "assistant":
        return {"role": message.role, "content": message.content or ""}
    native = _native(message, endpoint)
    sent = {key: value for key, value in native.items() if key not in _RENDERED}
    sent |= {"role": "assistant", "content": message.content or ""}
    if message.tool_calls:
        native_calls = {call["id"]: call for call in native.get("tool_calls") or ()}
        sent["content"] = message.content if (message.content or "").strip() else None
        sent["tool_calls"] = [_sent_call(call, native_calls.get(call.id, {})) for call in message.tool_calls]
    if endpoint.echo_reasoning == "always" or (
        endpoint.echo_reasoning == "tool_turns" and message.tool_calls
    ):
        sent["reasoning_content"] = message.reasoning_content or ""
    return sent


def _native(message: Message, endpoint: Endpoint) -> dict[str, Any]:
    payload = message.native_assistant_payload
    ours = endpoint.payload_format is not None and message.native_payload_format == endpoint.payload_format
    return payload if ours and isinstance(payload, dict) else {}


def _sent_call(call: ToolCall, native: dict[str, Any]) -> dict[str, Any]:
    """A call as it came, with the arguments written anew."""
    function = {"name": call.name, "arguments": sent_arguments(call)}
    return {**native, "id": call.id, "type": "function", "function": function}


def _reply(completion: _Completion, asked: Sequence[Message], endpoint: Endpoint) -> ModelReply:
    choice, message = completion.choices[0], completion.choices[0].message
    if choice.finish_reason in _BROKEN_OFF:
        raise fault(f"the server gave up with finish reason {choice.finish_reason!r}", endpoint)
    ids = CallIds(asked)
    calls: list[ToolCall] = []
    for call in message.tool_calls or ():
        call.id = ids.unique(call.id)
        calls.append(read_call(call.id, call.function.name, call.function.arguments))
    cut = "refusal" if message.refusal else _CUT.get(choice.finish_reason)
    return ModelReply(
        content=message.content or message.refusal or None,
        tool_calls=calls,
        usage=completion.usage and _usage(completion.usage),
        reasoning_content=message.reasoning_content or message.reasoning,
        native_assistant_payload=message.model_dump(exclude_unset=True) if endpoint.payload_format else None,
        native_payload_format=endpoint.payload_format,
        finish=finish_of(calls, cut),
        served_model=served_model(completion),
    )


def _usage(reported: _Usage) -> Usage:
    """DeepSeek counts cached tokens under a name of its own, and again under the common one: they are told
    once, under its own."""
    prompt, completion = reported.prompt_tokens or 0, reported.completion_tokens or 0
    hit = reported.prompt_cache_hit_tokens or 0
    cached = reported.prompt_tokens_details and reported.prompt_tokens_details.cached_tokens
    thought = reported.completion_tokens_details and reported.completion_tokens_details.reasoning_tokens
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=reported.total_tokens or prompt + completion,
        cached_tokens=0 if hit else cached or 0,
        prompt_cache_hit_tokens=hit,
        reasoning_tokens=thought or 0,
        calls=1,
    )
