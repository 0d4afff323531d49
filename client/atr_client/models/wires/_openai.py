"""What the two OpenAI wires share: the SDK's client, and its faults."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import anyio

from atr_client.errors import ContextOverflow, ModelError, WireError
from atr_client.models.wire import Endpoint
from atr_client.models.wires._faults import codes_in, fault
from atr_client.models.wires._http import check_endpoint, is_loopback
from atr_client.models.wires._reading import Part, shaped

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

Shape = TypeVar("Shape", bound=Part)


class RawReply(Protocol):
    """A reply of the SDK before it is parsed."""

    @property
    def content(self) -> bytes: ...


def open_client(endpoint: Endpoint) -> AsyncOpenAI:
    """The SDK's client. It neither retries nor keeps time: both are done around it. A proxy of the
    environment never sees a loopback request.

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
        timeout=None,
        max_retries=0,
        http_client=openai.DefaultAsyncHttpxClient(trust_env=False) if loopback else None,
    )


async def receive(pending: Awaitable[RawReply], endpoint: Endpoint, shape: type[Shape]) -> Shape:
    """Waits for a reply and reads it.

    The endpoint's time-out holds for the whole call. The SDK's own would count from byte to byte: a server
    that trickles bytes to keep the connection open would never meet it.

    Raises WireError and ContextOverflow.
    """
    import openai

    try:
        with anyio.fail_after(endpoint.timeout):
            reply = await pending
    except TimeoutError:
        raise fault(f"no answer within {endpoint.timeout:g} seconds", endpoint) from None
    except openai.APIConnectionError as error:
        raise fault(f"connection failed: {error.__cause__!r}", endpoint) from None
    except openai.APIStatusError as error:
        raise _refusal(error, endpoint) from None
    return shaped(reply.content, endpoint, shape)


def _refusal(error: APIStatusError, endpoint: Endpoint) -> WireError | ContextOverflow:
    told: object = error.body
    body = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    text = " ".join(str(body[key]) for key in ("message", "code") if body.get(key))
    reason = text or str(error.body or error.message)
    status, headers = error.status_code, error.response.headers
    return fault(reason, endpoint, status=status, codes=codes_in(body), headers=headers)
