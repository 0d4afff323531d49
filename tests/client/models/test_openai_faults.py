"""What both OpenAI wires make of a provider in trouble: the real SDK against servers on loopback."""

from __future__ import annotations

import sys
import time
from email.utils import formatdate
from types import ModuleType

import pytest

from atr_client.errors import ContextOverflow, ModelError, WireError
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wires import openai_chat, openai_responses
from tests.support.mock_provider import Answer, CannedServer, LlmockServer, answer, drop, trickle
from tests.support.wire_calls import KEY, conversation, endpoint, opened

WIRES = pytest.mark.parametrize("wire", [openai_chat, openai_responses], ids=["chat", "responses"])


async def failures(wire: ModuleType, to: Endpoint, count: int) -> list[WireError]:
    """The errors of as many calls, sent by one client."""
    errors: list[WireError] = []
    async with opened(wire.open_wire, to) as opened_wire:
        for _ in range(count):
            with pytest.raises(WireError) as caught:
                await opened_wire.send(WireRequest(conversation().messages))
            errors.append(caught.value)
    return errors


async def failure(wire: ModuleType, to: Endpoint) -> WireError:
    (error,) = await failures(wire, to, 1)
    return error


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
async def test_only_passing_trouble_is_retryable(wire: ModuleType, llmock_server: LlmockServer):
    passing, refused = [408, 409, 425, 502, 503, 504, 529], [400, 401, 403, 404, 413, 422, 501]
    llmock_server.queue(*({"type": "fail", "status": status} for status in passing + refused))
    errors = await failures(wire, endpoint(llmock_server.url), len(passing + refused))
    assert {error.status: error.retryable for error in errors} == {
        **dict.fromkeys(passing, True),
        **dict.fromkeys(refused, False),
    }


@WIRES
async def test_the_providers_words_are_told_without_the_key(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 401, "message": f"no, because\n{KEY} is bad"})
    error = await failure(wire, endpoint(llmock_server.url))
    assert str(error) == "no, because [key] is bad invalid_api_key"
    assert KEY not in repr(endpoint(llmock_server.url))


WAITS: list[tuple[dict[str, str], float | None]] = [
    ({}, None),
    ({"retry_after": "7"}, 7.0),
    ({"retry_after": "1", "retry_after_ms": "250"}, 0.25),
    ({"retry_after": "8", "retry_after_ms": "soon"}, 8.0),
    ({"retry_after": formatdate(0, usegmt=True)}, 0.0),
    ({"retry_after": "-3"}, 0.0),
    ({"retry_after": "inf"}, None),
    ({"retry_after": "soon"}, None),
]


async def test_every_form_of_retry_after_is_read(canned_server: CannedServer):
    body = {"error": {"message": "slow down"}}
    canned_server.queue(*(answer(body, 429, **headers) for headers, _ in WAITS))
    errors = await failures(openai_chat, endpoint(canned_server.url), len(WAITS))
    assert [error.retry_after for error in errors] == [wait for _, wait in WAITS]


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
    error = await failure(openai_chat, endpoint(canned_server.url, timeout=0.3))
    assert error.retryable
    assert str(error) == "no answer within 0.3 seconds"


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


UNUSABLE: list[tuple[Answer, str]] = [
    (answer(b'{"choices": [{"mess'), "the reply is not JSON"),
    (answer(b"<html>hello</html>", content_type="text/html"), "the reply is not JSON"),
    (answer(b""), "the reply is not JSON"),
    (answer(b"[" * 100_000), "the reply is not JSON"),
    (answer(b'{"choices": "\xff"}'), "the reply is not JSON"),
    (answer([]), "malformed reply: the reply"),
    (answer({}), "malformed reply: "),
    (answer({"error": {"message": f"{KEY}: busy"}}), "[key]: busy"),
]


@WIRES
async def test_a_reply_that_cannot_be_read_is_retryable(wire: ModuleType, canned_server: CannedServer):
    canned_server.queue(*(sent for sent, _ in UNUSABLE))
    errors = await failures(wire, endpoint(canned_server.url), len(UNUSABLE))
    for error, (_, reason) in zip(errors, UNUSABLE, strict=True):
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


UNTOLD: list[tuple[object, str]] = [
    ({"error": "model not found"}, "model not found"),
    ({"detail": "Not Found"}, "Not Found"),
    (b"nothing here", "nothing here"),
    (b"", "Error code: 404"),
]


async def test_the_reason_of_a_refusal_is_told_whatever_its_form(canned_server: CannedServer):
    canned_server.queue(*(answer(body, 404) for body, _ in UNTOLD))
    errors = await failures(openai_chat, endpoint(canned_server.url), len(UNTOLD))
    for error, (_, reason) in zip(errors, UNTOLD, strict=True):
        assert reason in str(error)


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
@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1",
        "",
        "https://",
        "ftp://host/v1",
        "http://[::1/v1",
        "http://host:port/v1",
        "http://host:0/v1",
    ],
)
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
