"""What both OpenAI wires make of a provider in trouble: the real SDK against servers on loopback."""

from __future__ import annotations

import sys
import time
from email.utils import formatdate
from types import ModuleType

import pytest
from tests.support.mock_provider import Answer, CannedServer, LlmockServer, answer, drop, trickle
from tests.support.wire_calls import KEY, conversation, endpoint, opened

from atr_client.models import openai_chat, openai_responses
from atr_client.models.base import ModelError
from atr_client.models.wire import ContextOverflow, Endpoint, WireError, WireRequest

WIRES = pytest.mark.parametrize("wire", [openai_chat, openai_responses], ids=["chat", "responses"])


async def failure(wire: ModuleType, to: Endpoint) -> WireError:
    async with opened(wire.open_wire, to) as opened_wire:
        with pytest.raises(WireError) as caught:
            await opened_wire.send(WireRequest(conversation().messages))
    return caught.value


async def overflow(wire: ModuleType, to: Endpoint) -> str:
    async with opened(wire.open_wire, to) as opened_wire:
        with pytest.raises(ContextOverflow) as caught:
            await opened_wire.send(WireRequest(conversation().messages))
    return str(caught.value)


@WIRES
async def test_a_rate_limit_is_retryable_and_tells_the_wait(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 429, "retry_after": 2.5})
    error = await failure(wire, endpoint(llmock_server.url))
    assert (error.retryable, error.status, error.retry_after) == (True, 429, 2.5)
    assert "Rate limit exceeded." in str(error)


@WIRES
async def test_the_sdk_does_not_retry_by_itself(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 500})
    error = await failure(wire, endpoint(llmock_server.url))
    assert (error.retryable, error.status, error.retry_after) == (True, 500, None)
    assert len(llmock_server.requests()) == 1


@WIRES
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_the_provider_refuses_is_not_retryable(
    wire: ModuleType, status: int, llmock_server: LlmockServer
):
    llmock_server.queue({"type": "fail", "status": status, "message": f"no, because {KEY} is bad"})
    error = await failure(wire, endpoint(llmock_server.url))
    assert (error.retryable, error.status) == (False, status)
    assert "no, because [key] is bad" in str(error)


@WIRES
@pytest.mark.parametrize("status", [408, 409, 425, 502, 503, 504, 529])
async def test_passing_trouble_is_retryable(wire: ModuleType, status: int, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": status})
    error = await failure(wire, endpoint(llmock_server.url))
    assert (error.retryable, error.status) == (True, status)


WAITS = {
    "none": ({}, None),
    "seconds": ({"retry_after": "7"}, 7.0),
    "milliseconds_first": ({"retry_after": "1", "retry_after_ms": "250"}, 0.25),
    "past_date": ({"retry_after": formatdate(0, usegmt=True)}, 0.0),
    "negative": ({"retry_after": "-3"}, 0.0),
    "infinite": ({"retry_after": "inf"}, None),
    "words": ({"retry_after": "soon"}, None),
}


@pytest.mark.parametrize(("headers", "wait"), WAITS.values(), ids=WAITS)
async def test_every_form_of_retry_after_is_read(
    headers: dict[str, str], wait: float | None, canned_server: CannedServer
):
    canned_server.queue(answer({"error": {"message": "slow down"}}, 429, **headers))
    error = await failure(openai_chat, endpoint(canned_server.url))
    assert (error.status, error.retry_after) == (429, wait)


async def test_retry_after_may_be_a_date(canned_server: CannedServer):
    headers = {"retry_after": formatdate(time.time() + 60, usegmt=True)}
    canned_server.queue(answer({"error": {"message": "slow down"}}, 503, **headers))
    error = await failure(openai_chat, endpoint(canned_server.url))
    assert error.retry_after == pytest.approx(60, abs=5)


@WIRES
async def test_a_slow_answer_is_a_retryable_time_out(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue({"type": "delay", "seconds": 0.6})
    error = await failure(wire, endpoint(llmock_server.url, timeout=0.2))
    assert (error.retryable, error.status) == (True, None)
    assert str(error) == "no answer within 0.2 seconds"


async def test_a_server_that_trickles_bytes_meets_the_time_out_too(canned_server: CannedServer):
    canned_server.queue(trickle(3.0))
    started = time.monotonic()
    error = await failure(openai_chat, endpoint(canned_server.url, timeout=0.3))
    assert error.retryable
    assert time.monotonic() - started < 2.0


CUT_OFF = b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"


@WIRES
@pytest.mark.parametrize("sent", [b"", CUT_OFF], ids=["before_the_answer", "within_the_answer"])
async def test_a_dropped_connection_is_retryable(wire: ModuleType, sent: bytes, canned_server: CannedServer):
    canned_server.queue(drop(sent))
    error = await failure(wire, endpoint(canned_server.url))
    assert (error.retryable, error.status) == (True, None)
    assert str(error).startswith("connection failed: RemoteProtocolError")


@WIRES
async def test_a_port_where_nobody_listens_is_retryable(wire: ModuleType):
    error = await failure(wire, endpoint("http://127.0.0.1:9"))
    assert (error.retryable, error.status) == (True, None)


UNUSABLE: dict[str, tuple[Answer, str]] = {
    "invalid_json": (answer(b'{"choices": [{"mess'), "the reply is not JSON"),
    "a_web_page": (answer(b"<html>hello</html>", content_type="text/html"), "the reply is not JSON"),
    "nothing": (answer(b""), "the reply is not JSON"),
    "nested_without_end": (answer(b"[" * 100_000), "the reply is not JSON"),
    "a_list": (answer([]), "malformed reply: the reply"),
    "an_empty_object": (answer({}), "malformed reply: "),
    "an_error_under_status_200": (
        answer({"error": {"message": f"the backend of {KEY} is busy"}}),
        "the backend of [key] is busy",
    ),
}


@WIRES
@pytest.mark.parametrize(("sent", "reason"), UNUSABLE.values(), ids=UNUSABLE)
async def test_a_reply_that_cannot_be_read_is_retryable(
    wire: ModuleType, sent: Answer, reason: str, canned_server: CannedServer
):
    canned_server.queue(sent)
    error = await failure(wire, endpoint(canned_server.url))
    assert (error.retryable, error.status) == (True, None)
    assert reason in str(error)
    assert "\n" not in str(error)


@WIRES
async def test_the_code_of_a_context_overflow_is_known(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue(
        {"type": "fail", "status": 400, "message": "Too much.", "code": "context_length_exceeded"}
    )
    assert await overflow(wire, endpoint(llmock_server.url)) == "Too much. context_length_exceeded"


OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "the request exceeds the available context size, try increasing it",
    "Range of input length should be [1, 129024]",
    "invalid params, context window exceeds limit (2013)",
]


@pytest.mark.parametrize("message", OVERFLOWS)
async def test_the_words_of_a_context_overflow_are_known(message: str, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 400, "message": message})
    assert message in await overflow(openai_chat, endpoint(llmock_server.url))


async def test_a_quota_on_tokens_is_no_context_overflow(llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 429, "message": "exceeded the context tokens per minute"})
    assert (await failure(openai_chat, endpoint(llmock_server.url))).status == 429


UNTOLD: dict[str, tuple[object, str]] = {
    "error_is_a_text": ({"error": "model not found"}, "model not found"),
    "no_error_field": ({"detail": "Not Found"}, "Not Found"),
    "no_json": (b"nothing here", "nothing here"),
    "nothing_at_all": (b"", "Error code: 404"),
}


@pytest.mark.parametrize(("body", "reason"), UNTOLD.values(), ids=UNTOLD)
async def test_the_reason_of_a_refusal_is_told_whatever_its_form(
    body: object, reason: str, canned_server: CannedServer
):
    canned_server.queue(answer(body, 404))
    assert reason in str(await failure(openai_chat, endpoint(canned_server.url)))


async def test_a_long_reason_is_cut(llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 400, "message": "long\n" * 1000})
    assert len(str(await failure(openai_chat, endpoint(llmock_server.url)))) == 500


async def test_a_placeholder_for_a_key_is_not_cut_out_of_ordinary_words(llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 400, "message": "none of these"})
    to = Endpoint(model="test-model", api_key="none", base_url=f"{llmock_server.url}/v1")
    assert "none of these" in str(await failure(openai_chat, to))


@WIRES
async def test_a_proxy_of_the_environment_never_sees_a_loopback_request(
    wire: ModuleType, llmock_server: LlmockServer, monkeypatch: pytest.MonkeyPatch
):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    llmock_server.queue({"type": "reply", "text": "here"}, {"type": "reply", "text": "here"})
    for url in (llmock_server.url, llmock_server.url.replace("127.0.0.1", "localhost")):
        async with opened(wire.open_wire, endpoint(url)) as opened_wire:
            assert (await opened_wire.send(WireRequest(conversation().messages))).content == "here"


@WIRES
async def test_a_closed_wire_sends_nothing(wire: ModuleType, llmock_server: LlmockServer):
    closed = wire.open_wire(endpoint(llmock_server.url))
    await closed.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        await closed.send(WireRequest(conversation().messages))
    assert llmock_server.requests() == []


@WIRES
def test_a_missing_sdk_is_an_error_that_names_the_extra(wire: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ModelError, match=r"needs the openai SDK: pip install 'atrbench\[openai\]'"):
        wire.open_wire(endpoint("http://127.0.0.1"))


@WIRES
@pytest.mark.parametrize("url", ["localhost:8000/v1", "", "https://", "ftp://host/v1", "http://[::1/v1"])
def test_an_address_that_cannot_be_used_is_refused_at_once(wire: ModuleType, url: str):
    with pytest.raises(ModelError, match="test-model: base_url must look like https://host/v1, got"):
        wire.open_wire(Endpoint(model="test-model", api_key=KEY, base_url=url))


@WIRES
@pytest.mark.parametrize("key", ["", "sk-abc\n", "sk-\u201cabc\u201d"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(wire: ModuleType, key: str):
    with pytest.raises(ModelError, match="the API key is empty or holds characters") as caught:
        wire.open_wire(Endpoint(model="test-model", api_key=key))
    assert "abc" not in str(caught.value)


@WIRES
async def test_without_an_address_the_sdk_knows_where_to_go(
    wire: ModuleType, llmock_server: LlmockServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{llmock_server.url}/v1")
    llmock_server.queue({"type": "reply", "text": "here"})
    async with opened(wire.open_wire, Endpoint(model="test-model", api_key=KEY)) as opened_wire:
        assert (await opened_wire.send(WireRequest(conversation().messages))).content == "here"
