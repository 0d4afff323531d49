"""What the two OpenAI wires share: the SDK's client, its faults, and how a call of a tool is read."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import anyio
from pydantic import BaseModel, ConfigDict, ValidationError

from atr_client.models._http import check_endpoint, fault, is_loopback
from atr_client.models.base import Finish, ModelError
from atr_client.models.wire import ContextOverflow, Endpoint, WireError
from atr_data.trajectory import Message, ToolCall

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

_EXCERPT_LENGTH = 300


class Part(BaseModel):
    """A piece of a provider's reply: the fields this project reads, and all others as they came."""

    model_config = ConfigDict(extra="allow")


Shape = TypeVar("Shape", bound=Part)


class RawReply(Protocol):
    """A reply of the SDK before it is parsed."""

    @property
    def content(self) -> bytes: ...


def open_client(endpoint: Endpoint) -> AsyncOpenAI:
    """The SDK's client. It does not retry, and a proxy of the environment never sees a loopback request.

    Raises ModelError when the SDK is not installed, or when the key or the address cannot be used.
    """
    try:
        import openai
    except ImportError:
        raise ModelError(
            f"model {endpoint.model} needs the openai SDK: pip install 'atrbench[openai]'"
        ) from None
    check_endpoint(endpoint)
    loopback = is_loopback(endpoint.base_url)
    return openai.AsyncOpenAI(
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        timeout=endpoint.timeout,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(trust_env=False) if loopback else None,
    )


async def receive(pending: Awaitable[RawReply], endpoint: Endpoint, shape: type[Shape]) -> Shape:
    """Waits for a reply and reads it. Read raw, because the SDK builds its models from any JSON unchecked.

    The time-out holds for the whole call: the SDK's own counts from byte to byte, so a server that trickles
    bytes to keep the connection open would never meet it.

    Raises WireError and ContextOverflow.
    """
    import openai

    try:
        with anyio.fail_after(endpoint.timeout):
            reply = await pending
    except (openai.APITimeoutError, TimeoutError):
        raise fault(f"no answer within {endpoint.timeout:g} seconds", endpoint) from None
    except openai.APIConnectionError as error:
        raise fault(f"connection failed: {error.__cause__!r}", endpoint) from None
    except openai.APIStatusError as error:
        raise _refusal(error, endpoint) from None
    return _shaped(reply.content, endpoint, shape)


def _refusal(error: APIStatusError, endpoint: Endpoint) -> WireError | ContextOverflow:
    told: object = error.body
    body = cast("dict[str, Any]", told) if isinstance(told, dict) else {"message": told}
    text = " ".join(str(body[key]) for key in ("message", "code") if body.get(key)) or str(told or error.message)
    return fault(text, endpoint, status=error.status_code, headers=error.response.headers)


def _shaped(content: bytes, endpoint: Endpoint, shape: type[Shape]) -> Shape:
    """The reply in its shape. Text that no encoding can carry is replaced sign by sign on the way."""
    try:
        readable = json.dumps(json.loads(content), ensure_ascii=False).encode("utf-8", "replace")
        return shape.model_validate(json.loads(readable))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"]) or "the reply"
        problem = f"malformed reply: {place}: {first['msg']}"
    except (ValueError, RecursionError):
        problem = "the reply is not JSON"
    excerpt = content[:_EXCERPT_LENGTH].decode("utf-8", "replace")
    raise fault(f"{problem}; it begins {excerpt!r}", endpoint)


def request_body(defaults: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A request's fields without those that are None, and with the endpoint's parameters over them; objects
    are merged field by field."""
    body = {key: value for key, value in defaults.items() if value is not None}
    for key, value in parameters.items():
        base = body.get(key)
        if isinstance(base, dict) and isinstance(value, Mapping):
            body[key] = request_body(cast("dict[str, Any]", base), cast("Mapping[str, Any]", value))
        else:
            body[key] = value
    return body


class CallIds:
    """Ids for the calls of one reply. A call without an id, or with one that the conversation has already,
    gets one of its own. Ids are made from positions, so that a replay makes the same."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._taken = {call.id for message in messages for call in message.tool_calls or ()}
        self._turn = len(messages)
        self._made = 0

    def unique(self, given: str | None) -> str:
        """`given` when it is fit, else a new id."""
        call_id = given
        while not call_id or call_id in self._taken:
            call_id = f"call_{self._turn}_{self._made}"
            self._made += 1
        self._taken.add(call_id)
        return call_id


def read_call(call_id: str, name: str | None, arguments: object) -> ToolCall:
    """A call as this project writes it. Nothing sent for arguments means none; some servers send an object
    in place of JSON text."""
    value, problem = _arguments(arguments)
    return ToolCall(id=call_id, name=name or "", arguments=value, parse_error=problem)


def _arguments(sent: object) -> tuple[dict[str, Any], str | None]:
    value: Any = sent
    if isinstance(sent, str) or sent is None:
        try:
            value = json.loads(sent) if sent and sent.strip() else {}
        except (ValueError, RecursionError) as error:
            return {}, f"arguments are not JSON: {error}"
    if not isinstance(value, dict):
        return {}, f"arguments must be a JSON object, got {_kind(value)}"
    return cast("dict[str, Any]", value), None


def _kind(value: object) -> str:
    names: dict[type[Any], str] = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def sent_arguments(call: ToolCall) -> str:
    """Arguments as they go back to the provider; those that could not be read go back as none."""
    return json.dumps({} if call.parse_error else call.arguments, ensure_ascii=False)


def finish_of(calls: Sequence[ToolCall], cut: Finish | None) -> Finish:
    """Why a reply ended: what cut it short, else whether it calls tools, whatever the provider named it."""
    return cut or ("tool_calls" if calls else "stop")
