"""The Responses API: OpenAI's own models. Reasoning is kept from turn to turn without server state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, cast

from atr_client.models.base import Finish, ModelReply, ToolSpec
from atr_client.models.call_ids import unique_id
from atr_client.models.wire import Endpoint, Wire, WireRequest
from atr_client.models.wires._calls import (
    CallIds,
    finish_of,
    legal_id,
    legal_name,
    read_call,
    sent_arguments,
    stored_payload,
)
from atr_client.models.wires._counting import IfObject, Tokens, counted
from atr_client.models.wires._faults import told_in_reply
from atr_client.models.wires._http import request_body
from atr_client.models.wires._openai import open_client, receive
from atr_client.models.wires._reading import Part, Word, as_it_came, served_model
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage

PAYLOAD_FORMAT = "openai_responses_v1"
"""Mark of a stored payload: the list of a reply's output items as they came."""


class _Piece(Part):
    type: str | None = None
    text: str | None = None
    refusal: str | None = None


class _Item(Part):
    type: str
    content: list[_Piece] | None = None
    summary: list[_Piece] | None = None
    call_id: Word = None
    name: Word = None
    arguments: Any = None


class _InputDetails(Part):
    cached_tokens: Tokens = None


class _OutputDetails(Part):
    reasoning_tokens: Tokens = None


class _Usage(Part):
    input_tokens: Tokens = None
    output_tokens: Tokens = None
    total_tokens: Tokens = None
    input_tokens_details: IfObject[_InputDetails] = None
    output_tokens_details: IfObject[_OutputDetails] = None


class _Incomplete(Part):
    reason: str | None = None


class _Response(Part):
    output: list[_Item]
    status: str | None = None
    error: Any = None
    incomplete_details: _Incomplete | None = None
    usage: IfObject[_Usage] = None


def open_wire(endpoint: Endpoint) -> Wire:
    """A client of one endpoint. Nothing is stored at the provider: reasoning comes back encrypted and is sent
    again with the next turn. The API knows no seed; it is never sent.

    Raises ModelError when the SDK is missing or the endpoint cannot be used.
    """
    return _ResponsesWire(endpoint)


class _ResponsesWire:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client = open_client(endpoint)
        self._format = endpoint.payload_format or PAYLOAD_FORMAT

    async def send(self, request: WireRequest) -> ModelReply:
        sent = [_sent(message, self._endpoint, self._format) for message in request.messages[1:]]
        items = list(_named_once(chain.from_iterable(sent)))
        pending = self._client.responses.with_raw_response.create(
            model=self._endpoint.model,
            input=cast("Any", items),
            extra_body=_fields(request, self._endpoint),
        )
        response = await receive(pending, self._endpoint, _Response)
        return _reply(response, request.messages, self._endpoint, self._format)

    async def aclose(self) -> None:
        await self._client.close()


def _fields(request: WireRequest, endpoint: Endpoint) -> dict[str, Any]:
    """All of the body but model and input: gateways take parameters that the SDK has no argument for."""
    schema = request.schema if endpoint.structured_output else None
    form = {"type": "json_schema", "name": "answer", "schema": schema, "strict": False}
    return request_body(
        {
            "instructions": request.messages[0].content,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "tools": [_tool(tool) for tool in request.tools] or None,
            "text": schema and {"format": form},
            "max_output_tokens": endpoint.max_output_tokens,
            "temperature": request.temperature if endpoint.sampling else None,
        },
        endpoint.parameters,
    )


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        "strict": False,
    }


def _sent(message: Message, endpoint: Endpoint, payload_format: str) -> Iterator[dict[str, Any]]:
    """The input items of a message: those that the provider made as they came, all others written anew."""
    if message.role == "tool":
        call_id, output = legal_id(message.tool_call_id or ""), message.content or ""
        yield {"type": "function_call_output", "call_id": call_id, "output": output}
        return
    payload = stored_payload(message, endpoint, payload_format)
    if isinstance(payload, list):
        yield from _kept(cast("list[dict[str, Any]]", payload), message.tool_calls or ())
        return
    if message.content or not message.tool_calls:
        yield {"role": message.role, "content": message.content or ""}
    for call in message.tool_calls or ():
        yield {"type": "function_call", **_legal(call, None)}


def _legal(call: ToolCall, came: Any) -> dict[str, Any]:
    """What the API checks of a call. Arguments that it takes stay as they `came`, to the sign."""
    is_object = isinstance(came, str) and came.lstrip().startswith("{") and call.parse_error is None
    arguments = came if is_object else sent_arguments(call)
    return {"call_id": legal_id(call.id), "name": legal_name(call.name), "arguments": arguments}


def _kept(payload: list[dict[str, Any]], calls: Sequence[ToolCall]) -> Iterator[dict[str, Any]]:
    """All items but the calls that the turn loop dropped, and the reasoning that led to nothing else: the
    provider refuses a call without an output, and reasoning without what came of it."""
    kept = {call.id: call for call in calls}
    reasoning: list[dict[str, Any]] = []
    for is_reasoning, run in groupby(payload, lambda item: item["type"] == "reasoning"):
        if is_reasoning:
            reasoning = list(run)
            continue
        items = [item for item in run if item["type"] != "function_call" or item["call_id"] in kept]
        if items:
            yield from reasoning
        for item in items:
            call = kept.get(item["call_id"]) if item["type"] == "function_call" else None
            yield {**item, **_legal(call, item.get("arguments"))} if call else item


def _named_once(items: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The items, with another id for each that was there before: the API refuses a second one. What is no
    text is no id, and is left out."""
    seen: set[str] = set()
    for item in items:
        name = item.get("id")
        if isinstance(name, str):
            seen.add(unique := unique_id(name, seen))
            yield {**item, "id": unique}
        else:
            yield {key: value for key, value in item.items() if key != "id"}


def _reply(
    response: _Response, asked: Sequence[Message], endpoint: Endpoint, payload_format: str
) -> ModelReply:
    if response.status == "failed":
        raise told_in_reply(response.error, endpoint, prefix="response failed: ", retryable=False)
    ids = CallIds(asked)
    calls: list[ToolCall] = []
    for item in response.output:
        if item.type == "function_call":
            item.call_id = ids.unique(item.call_id)
            calls.append(read_call(item.call_id, item.name, item.arguments))
    said = [piece for item in response.output if item.type == "message" for piece in item.content or ()]
    refusal = "".join(piece.refusal or "" for piece in said)
    text = "".join(piece.text or "" for piece in said)
    return ModelReply(
        content=text or refusal or None,
        tool_calls=calls,
        usage=response.usage and _usage(response.usage),
        reasoning_content=_reasoning(response.output),
        native_assistant_payload=[as_it_came(item) for item in response.output],
        native_payload_format=payload_format,
        finish=finish_of(calls, "refusal" if refusal else _cut(response)),
        served_model=served_model(response),
    )


def _cut(response: _Response) -> Finish | None:
    if response.status != "incomplete":
        return None
    details = response.incomplete_details
    return "content_filter" if details and details.reason == "content_filter" else "length"


def _reasoning(output: Sequence[_Item]) -> str | None:
    """The reasoning that may be read: its text where a server gives it, else its summary."""
    thoughts = [item.content or item.summary or () for item in output if item.type == "reasoning"]
    return "\n".join(piece.text for pieces in thoughts for piece in pieces if piece.text) or None


def _usage(reported: _Usage) -> Usage | None:
    read, thought = reported.input_tokens_details, reported.output_tokens_details
    return counted(
        prompt=reported.input_tokens,
        completion=reported.output_tokens,
        total=reported.total_tokens,
        cached=read and read.cached_tokens,
        reasoning=thought and thought.reasoning_tokens,
    )
