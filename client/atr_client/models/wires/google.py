"""generateContent: Gemini models, with the thought signatures of their parts kept from turn to turn."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import anyio
from pydantic import Field, ValidationError

from atr_client.errors import ContextOverflow, ModelError, WireError
from atr_client.models.base import Finish, ModelReply, ToolSpec
from atr_client.models.wire import Endpoint, Wire, WireRequest
from atr_client.models.wires._calls import CallIds, finish_of, read_call
from atr_client.models.wires._counting import IfObject, Tokens, counted, total_of
from atr_client.models.wires._faults import codes_in, fault
from atr_client.models.wires._gemini_contents import contents_of
from atr_client.models.wires._http import check_endpoint, is_loopback, request_body
from atr_client.models.wires._reading import Part, Word, as_it_came, served_model, shaped
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentConfig, GenerateContentResponse
    from httpx2 import AsyncClient

PAYLOAD_FORMAT = "gemini_v1beta"
"""Mark of a stored payload: the content of a reply's candidate as it came."""

API_VERSION = "v1beta"

_CUT: Mapping[str, Finish] = {
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "ESCALATION": "content_filter",
    "PUP_LIMITED_DISABLED": "content_filter",
    "MODEL_ARMOR": "content_filter",
}
"""Finish reasons that cut a reply short. The others leave it as it is; after a call that the model could not
spell it is empty."""


class _FunctionCall(Part):
    id: Word = None
    name: Word = None
    args: Any = None


class _Piece(Part):
    text: str | None = None
    thought: bool | None = None
    function_call: _FunctionCall | None = Field(default=None, alias="functionCall")


class _Content(Part):
    parts: list[_Piece] | None = None


class _Candidate(Part):
    content: _Content | None = None
    finish_reason: str | None = Field(default=None, alias="finishReason")


class _Usage(Part):
    prompt: Tokens = Field(default=None, alias="promptTokenCount")
    tool_prompt: Tokens = Field(default=None, alias="toolUsePromptTokenCount")
    cached: Tokens = Field(default=None, alias="cachedContentTokenCount")
    answer: Tokens = Field(default=None, alias="candidatesTokenCount")
    thoughts: Tokens = Field(default=None, alias="thoughtsTokenCount")


class _Reply(Part):
    candidates: list[_Candidate] | None = None
    feedback: Any = Field(default=None, alias="promptFeedback")
    usage: IfObject[_Usage] = Field(default=None, alias="usageMetadata")


def open_wire(endpoint: Endpoint) -> Wire:
    """A client of one endpoint. `base_url` comes without the API version, which is v1beta unless the
    endpoint's parameters hold `{"http_options": {"api_version": ...}}`. Parameters are fields of the SDK's
    GenerateContentConfig.

    Raises ModelError when the SDK is missing or the endpoint cannot be used.
    """
    try:
        import httpx2
        from google import genai
        from google.genai import types
    except ImportError:
        raise ModelError(
            f"model {endpoint.model} needs the google-genai SDK: pip install 'atrbench[google]'"
        ) from None
    check_endpoint(endpoint)
    try:
        types.GenerateContentConfig.model_validate(dict(endpoint.parameters))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise ModelError(f"model {endpoint.model}: request parameter {place}: {first['msg']}") from None
    http_client = httpx2.AsyncClient(trust_env=not is_loopback(endpoint.base_url), follow_redirects=True)
    options = types.HttpOptions(
        base_url=endpoint.base_url,
        timeout=max(1, round(endpoint.timeout * 1000)),
        httpx_async_client=http_client,
    )
    client = genai.Client(enterprise=False, api_key=endpoint.api_key, http_options=options)
    return _GeminiWire(endpoint, client, http_client)


class _Generate(Protocol):
    def __call__(
        self, *, model: str, contents: str, config: GenerateContentConfig
    ) -> Awaitable[GenerateContentResponse]: ...


class _GeminiWire:
    """The HTTP client is given to the SDK: one that it makes itself may be aiohttp's, and retries unasked."""

    def __init__(self, endpoint: Endpoint, client: Client, http_client: AsyncClient) -> None:
        self._endpoint = endpoint
        self._client = client
        self._generate: _Generate = cast("Any", client.aio.models).generate_content
        self._http_client = http_client
        self._format = endpoint.payload_format or PAYLOAD_FORMAT

    async def send(self, request: WireRequest) -> ModelReply:
        reply = shaped(await self._receive(request), self._endpoint, _Reply)
        if not (reply.candidates or reply.feedback or reply.usage):
            raise fault("the reply has no candidates", self._endpoint)
        return _read(reply, request.messages, self._format)

    async def _receive(self, request: WireRequest) -> bytes:
        """The time-out holds for the whole call; the HTTP client's counts from byte to byte."""
        import httpx2
        from google.genai import errors, types

        endpoint = self._endpoint
        fields = _fields(request, endpoint, contents_of(request.messages, endpoint, self._format))
        try:
            with anyio.fail_after(endpoint.timeout):
                raw = await self._generate(
                    model=endpoint.model,
                    contents="replaced by extra_body",
                    config=types.GenerateContentConfig.model_validate(fields),
                )
        except (httpx2.TimeoutException, TimeoutError):
            raise fault(f"no answer within {endpoint.timeout:g} seconds", endpoint) from None
        except httpx2.RequestError as error:
            raise fault(f"connection failed: {error!r}", endpoint) from None
        except UnicodeDecodeError as error:
            raise fault(f"the call was refused, in no known encoding: {error.object!r}", endpoint) from None
        except errors.APIError as error:
            raise _refusal(cast("Any", error), endpoint) from None
        response = raw.sdk_http_response
        return ((response and response.body) or "").encode("utf-8", "replace")

    async def aclose(self) -> None:
        await self._http_client.aclose()
        self._client.close()


def _refusal(error: Any, endpoint: Endpoint) -> WireError | ContextOverflow:
    headers = dict(error.response.headers)
    delay = _retry_delay(error.details)
    if delay is not None:
        headers.setdefault("retry-after", delay)
    text, codes = error.message or str(error), codes_in(error.details)
    return fault(text, endpoint, status=error.code, codes=codes, headers=headers)


def _retry_delay(body: Any) -> str | None:
    """Seconds to wait, which the API tells in the error's details and not in a header."""
    try:
        details = body["error"]["details"]
        delays = [str(detail["retryDelay"]) for detail in details if "retryDelay" in detail]
    except (KeyError, TypeError):
        return None
    return delays[0].removesuffix("s") if delays else None


def _fields(request: WireRequest, endpoint: Endpoint, contents: list[dict[str, Any]]) -> dict[str, Any]:
    """The SDK's config. The conversation goes past the SDK's own types: they encode signatures anew, and
    refuse fields of a stored part that they do not know. The reply comes raw for the same reason."""
    schema = request.schema if endpoint.structured_output else None
    return request_body(
        {
            "system_instruction": request.messages[0].content or None,
            "tools": [{"function_declarations": [_tool(tool) for tool in request.tools]}]
            if request.tools
            else None,
            "automatic_function_calling": {"disable": True},
            "response_mime_type": "application/json" if schema else None,
            "response_json_schema": schema,
            "max_output_tokens": endpoint.max_output_tokens,
            "temperature": request.temperature if endpoint.sampling else None,
            "seed": request.seed if endpoint.sampling else None,
            "should_return_http_response": True,
            "http_options": {"api_version": API_VERSION, "extra_body": {"contents": contents}},
        },
        endpoint.parameters,
    )


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters_json_schema": tool.input_schema,
    }


def _read(reply: _Reply, asked: Sequence[Message], payload_format: str) -> ModelReply:
    """A blocked prompt has no candidate. Calls without an id get one here, which is stored in the payload and
    sent back like the API's own."""
    candidate = reply.candidates[0] if reply.candidates else _Candidate(finishReason="SAFETY")
    content = candidate.content or _Content()
    ids = CallIds(asked)
    calls: list[ToolCall] = []
    for part in content.parts or ():
        if call := part.function_call:
            call.id = ids.unique(call.id)
            calls.append(read_call(call.id, call.name, call.args))
    said = [part for part in content.parts or () if part.text]
    return ModelReply(
        content="".join(part.text or "" for part in said if not part.thought) or None,
        tool_calls=calls,
        usage=reply.usage and _usage(reply.usage),
        reasoning_content="\n".join(part.text or "" for part in said if part.thought) or None,
        native_assistant_payload=as_it_came(content),
        native_payload_format=payload_format,
        finish=finish_of(calls, _CUT.get(candidate.finish_reason or "")),
        served_model=served_model(reply, "modelVersion"),
    )


def _usage(reported: _Usage) -> Usage | None:
    """The API counts thoughts beside the answer; both are completion tokens here. It leaves out what is 0.
    Cached tokens are a part of the prompt."""
    return counted(
        prompt=total_of(reported.prompt, reported.tool_prompt),
        completion=total_of(reported.answer or 0, reported.thoughts),
        cached=reported.cached,
        reasoning=reported.thoughts,
    )
