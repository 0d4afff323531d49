"""The Messages API: Claude models, with their thinking and its signatures kept from turn to turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import anyio

from atr_client.errors import ContextOverflow, ModelError, WireError
from atr_client.models.base import Finish, ModelReply, ToolSpec
from atr_client.models.wire import Endpoint, Wire, WireRequest
from atr_client.models.wires._calls import (
    CallIds,
    finish_of,
    legal_id,
    legal_name,
    read_call,
    stored_payload,
)
from atr_client.models.wires._counting import IfObject, Tokens, counted, total_of
from atr_client.models.wires._faults import codes_in, fault
from atr_client.models.wires._http import check_endpoint, is_loopback, request_body
from atr_client.models.wires._reading import Part, Word, as_it_came, served_model, shaped
from atr_client.models.wires._turns import alternating
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage

if TYPE_CHECKING:
    from anthropic import APIStatusError, AsyncAnthropic

PAYLOAD_FORMAT = "anthropic_messages_v1"
"""Mark of a stored payload: the list of a reply's content blocks as they came."""

DEFAULT_MAX_TOKENS = 16384
"""The API wants a limit in every request; this one goes where the endpoint names none."""

_CUT: Mapping[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class _Block(Part):
    type: str
    text: str | None = None
    thinking: str | None = None
    id: Word = None
    name: Word = None
    input: Any = None


class _OutputDetails(Part):
    thinking_tokens: Tokens = None


class _Usage(Part):
    input_tokens: Tokens = None
    output_tokens: Tokens = None
    cache_read_input_tokens: Tokens = None
    cache_creation_input_tokens: Tokens = None
    output_tokens_details: IfObject[_OutputDetails] = None


class _Reply(Part):
    content: list[_Block]
    stop_reason: str | None = None
    usage: IfObject[_Usage] = None


def open_wire(endpoint: Endpoint) -> Wire:
    """A client of one endpoint. It neither retries nor keeps time by itself, and a proxy of the environment
    never sees a loopback request. Sampling parameters are never sent, the API has none; thinking and effort
    come with the endpoint's parameters.

    Raises ModelError when the SDK is missing or the endpoint cannot be used.
    """
    try:
        import anthropic
    except ImportError:
        raise ModelError(
            f"model {endpoint.model} needs the anthropic SDK: pip install 'atrbench[anthropic]'"
        ) from None
    check_endpoint(endpoint)
    loopback = is_loopback(endpoint.base_url)
    client = anthropic.AsyncAnthropic(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        timeout=None,
        max_retries=0,
        http_client=anthropic.DefaultAsyncHttpxClient(trust_env=False) if loopback else None,
    )
    return _MessagesWire(endpoint, client)


class _MessagesWire:
    def __init__(self, endpoint: Endpoint, client: AsyncAnthropic) -> None:
        self._endpoint = endpoint
        self._client = client
        self._format = endpoint.payload_format or PAYLOAD_FORMAT

    async def send(self, request: WireRequest) -> ModelReply:
        reply = shaped(await self._receive(request), self._endpoint, _Reply)
        if reply.stop_reason is None:
            raise fault("the reply has no stop reason: it broke off", self._endpoint)
        return _read(reply, reply.stop_reason, request.messages, self._format)

    async def _receive(self, request: WireRequest) -> bytes:
        """The endpoint's time-out holds for the whole call. The SDK's own would count from byte to byte, and
        its default refuses to ask for many tokens."""
        import anthropic

        endpoint = self._endpoint
        turns = alternating(
            request.messages[1:], lambda message: list(_blocks(message, endpoint, self._format))
        )
        sent = [{"role": turn.role, "content": turn.pieces} for turn in turns]
        try:
            with anyio.fail_after(endpoint.timeout):
                raw = await self._client.messages.with_raw_response.create(
                    model=endpoint.model,
                    max_tokens=endpoint.max_output_tokens or DEFAULT_MAX_TOKENS,
                    messages=cast("Any", sent),
                    extra_body=_fields(request, endpoint),
                )
                return await raw.read()
        except TimeoutError:
            raise fault(f"no answer within {endpoint.timeout:g} seconds", endpoint) from None
        except anthropic.APIConnectionError as error:
            raise fault(f"connection failed: {error.__cause__!r}", endpoint) from None
        except anthropic.APIStatusError as error:
            raise _refusal(error, endpoint) from None

    async def aclose(self) -> None:
        await self._client.close()


def _refusal(error: APIStatusError, endpoint: Endpoint) -> WireError | ContextOverflow:
    status, headers = error.status_code, error.response.headers
    text = error.api_message or error.message
    return fault(text, endpoint, status=status, codes=codes_in(error.body), headers=headers)


def _fields(request: WireRequest, endpoint: Endpoint) -> dict[str, Any]:
    """All that is not the conversation: gateways take parameters that the SDK has no argument for."""
    schema = request.schema if endpoint.structured_output else None
    return request_body(
        {
            "system": request.messages[0].content or None,
            "tools": [_tool(tool) for tool in request.tools] or None,
            "output_config": schema and {"format": {"type": "json_schema", "schema": schema}},
        },
        endpoint.parameters,
    )


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}


def _blocks(message: Message, endpoint: Endpoint, payload_format: str) -> Iterator[dict[str, Any]]:
    """The content blocks of a message: those that the provider made as they came, all others written anew.
    Blank text is left out, because the API refuses it."""
    if message.role == "tool":
        result = {
            "type": "tool_result",
            "tool_use_id": legal_id(message.tool_call_id or ""),
            "content": message.content or "",
        }
        yield {**result, "is_error": True} if message.tool_error else result
        return
    payload = stored_payload(message, endpoint, payload_format)
    if isinstance(payload, list):
        yield from _kept(cast("list[dict[str, Any]]", payload), message.tool_calls or ())
        return
    if (message.content or "").strip():
        yield {"type": "text", "text": message.content}
    for call in message.tool_calls or ():
        yield {"type": "tool_use", **_legal(call)}


def _legal(call: ToolCall) -> dict[str, Any]:
    return {"id": legal_id(call.id), "name": legal_name(call.name), "input": call.arguments}


def _kept(payload: list[dict[str, Any]], calls: Sequence[ToolCall]) -> Iterator[dict[str, Any]]:
    """All blocks but the calls that the turn loop dropped: the API refuses a call without a result, and one
    of another form than it wants."""
    kept = {call.id: call for call in calls}
    for block in payload:
        if block["type"] == "tool_use":
            if block["id"] in kept:
                yield {**block, **_legal(kept[block["id"]])}
        elif block["type"] != "text" or (block.get("text") or "").strip():
            yield block


def _read(reply: _Reply, stop_reason: str, asked: Sequence[Message], payload_format: str) -> ModelReply:
    ids = CallIds(asked)
    calls: list[ToolCall] = []
    for block in reply.content:
        if block.type == "tool_use":
            block.id = ids.unique(block.id)
            calls.append(read_call(block.id, block.name, block.input))
    return ModelReply(
        content="".join(block.text or "" for block in reply.content if block.type == "text") or None,
        tool_calls=calls,
        usage=reply.usage and _usage(reply.usage),
        reasoning_content="\n".join(block.thinking for block in reply.content if block.thinking) or None,
        native_assistant_payload=[as_it_came(block) for block in reply.content],
        native_payload_format=payload_format,
        finish=finish_of(calls, _CUT.get(stop_reason)),
        served_model=served_model(reply),
    )


def _usage(reported: _Usage) -> Usage | None:
    """The API counts tokens read from the cache, written to it, and neither, apart: all three are prompt
    tokens here, and those read are the cached ones. Thinking is a part of the output."""
    cached, written = reported.cache_read_input_tokens, reported.cache_creation_input_tokens
    details = reported.output_tokens_details
    return counted(
        prompt=total_of(reported.input_tokens, cached, written),
        completion=reported.output_tokens,
        cached=cached,
        reasoning=details and details.thinking_tokens,
    )
