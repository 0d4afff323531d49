"""What the wires to Anthropic and Google make of a provider in trouble: the real SDKs against servers on
loopback."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from atr_client.errors import ModelError, WireError
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wires import anthropic, google
from tests.support.mock_provider import Answer, CannedServer, LlmockServer, answer, drop, trickle
from tests.support.wire_calls import KEY, conversation, endpoint, opened

WIRES = pytest.mark.parametrize("wire", [anthropic, google], ids=["anthropic", "google"])
ROOTS = {anthropic: "/anthropic", google: "/gemini"}


def llmock(wire: ModuleType, server: LlmockServer, **changes: Any) -> Endpoint:
    return endpoint(server.url, base_url=server.url + ROOTS[wire], **changes)


def canned(server: CannedServer, **changes: Any) -> Endpoint:
    return endpoint(server.url, base_url=server.url, **changes)


async def failure(wire: ModuleType, to: Endpoint) -> WireError:
    async with opened(wire.open_wire, to) as opened_wire:
        with pytest.raises(WireError) as caught:
            await opened_wire.send(WireRequest(conversation().messages))
    return caught.value


async def words(wire: ModuleType, to: Endpoint) -> str | None:
    async with opened(wire.open_wire, to) as opened_wire:
        return (await opened_wire.send(WireRequest(conversation().messages))).content


@WIRES
async def test_a_rate_limit_is_retryable_and_tells_the_wait(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 429, "retry_after": 2.5})
    error = await failure(wire, llmock(wire, llmock_server))
    assert (error.retryable, error.status, error.retry_after) == (True, 429, 2.5)
    assert str(error) == "Rate limit exceeded."


@WIRES
async def test_a_rate_limit_may_tell_no_wait(wire: ModuleType, canned_server: CannedServer):
    canned_server.queue(answer({"error": {"message": "slow down"}}, 429))
    error = await failure(wire, canned(canned_server))
    assert (error.retryable, error.status, error.retry_after) == (True, 429, None)
    assert str(error) == "slow down"


@WIRES
async def test_the_sdk_does_not_retry_by_itself(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 500})
    error = await failure(wire, llmock(wire, llmock_server))
    assert (error.retryable, error.status, error.retry_after) == (True, 500, None)
    assert len(llmock_server.requests()) == 1


@WIRES
async def test_only_passing_trouble_is_retryable(wire: ModuleType, llmock_server: LlmockServer):
    passing, refused = [408, 409, 425, 502, 503, 504, 529], [400, 401, 403, 404, 413, 422, 501]
    told: dict[int, bool] = {}
    async with opened(wire.open_wire, llmock(wire, llmock_server)) as opened_wire:
        for status in passing + refused:
            llmock_server.queue({"type": "fail", "status": status})
            with pytest.raises(WireError) as caught:
                await opened_wire.send(WireRequest(conversation().messages))
            told[caught.value.status or 0] = caught.value.retryable
    assert told == {**dict.fromkeys(passing, True), **dict.fromkeys(refused, False)}


@WIRES
async def test_the_providers_words_are_told_without_the_key(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 401, "message": f"no, because\n{KEY} is bad"})
    assert str(await failure(wire, llmock(wire, llmock_server))) == "no, because [key] is bad"


@WIRES
async def test_a_slow_answer_is_a_retryable_time_out(wire: ModuleType, llmock_server: LlmockServer):
    llmock_server.queue({"type": "delay", "seconds": 0.6})
    error = await failure(wire, llmock(wire, llmock_server, timeout=0.2))
    assert (error.retryable, error.status) == (True, None)
    assert str(error) == "no answer within 0.2 seconds"


@WIRES
async def test_a_server_that_trickles_bytes_meets_the_time_out_too(
    wire: ModuleType, canned_server: CannedServer
):
    canned_server.queue(trickle(3.0))
    error = await failure(wire, canned(canned_server, timeout=0.3))
    assert error.retryable
    assert str(error) == "no answer within 0.3 seconds"


CUT_OFF = b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"


@WIRES
@pytest.mark.parametrize("sent", [b"", CUT_OFF], ids=["before_the_answer", "within_the_answer"])
async def test_a_dropped_connection_is_retryable(wire: ModuleType, sent: bytes, canned_server: CannedServer):
    canned_server.queue(drop(sent))
    error = await failure(wire, canned(canned_server))
    assert (error.retryable, error.status) == (True, None)
    assert str(error).startswith("connection failed: RemoteProtocolError")
    assert len(canned_server.bodies) == 1


@WIRES
async def test_a_port_where_nobody_listens_is_retryable(wire: ModuleType):
    error = await failure(wire, endpoint("http://127.0.0.1:9"))
    assert (error.retryable, error.status) == (True, None)


UNUSABLE: dict[str, tuple[Answer, str]] = {
    "invalid_json": (answer(b'{"content": [{"te'), "the reply is not JSON; it begins '{"),
    "a_web_page": (answer(b"<html>hello</html>", content_type="text/html"), "the reply is not JSON"),
    "nothing": (answer(b""), "the reply is not JSON"),
    "nested_without_end": (answer(b"[" * 100_000), "the reply is not JSON"),
    "a_list": (answer([]), "malformed reply: the reply"),
    "an_empty_object": (answer({}), "reply"),
}


@WIRES
@pytest.mark.parametrize(("sent", "reason"), UNUSABLE.values(), ids=UNUSABLE)
async def test_a_reply_that_cannot_be_read_is_retryable(
    wire: ModuleType, sent: Answer, reason: str, canned_server: CannedServer
):
    canned_server.queue(sent)
    error = await failure(wire, canned(canned_server))
    assert (error.retryable, error.status) == (True, None)
    assert reason in str(error)


UNTOLD: dict[str, object] = {
    "a_text": b"nothing here",
    "a_web_page": b"<html>nothing here</html>",
    "another_form": {"detail": "nothing here"},
    "no_object": ["nothing here"],
    "an_error_that_is_a_text": {"error": "nothing here"},
    "no_encoding": b'{"error": "nothing here \xff"}',
}


@WIRES
@pytest.mark.parametrize("body", UNTOLD.values(), ids=UNTOLD)
async def test_the_reason_of_a_refusal_is_told_whatever_its_form(
    wire: ModuleType, body: object, canned_server: CannedServer
):
    canned_server.queue(answer(body, 502))
    error = await failure(wire, canned(canned_server))
    assert error.retryable
    assert "nothing here" in str(error)


@WIRES
async def test_a_proxy_of_the_environment_never_sees_a_loopback_request(
    wire: ModuleType, llmock_server: LlmockServer, monkeypatch: pytest.MonkeyPatch
):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    llmock_server.queue({"type": "reply", "text": "here"})
    assert await words(wire, llmock(wire, llmock_server)) == "here"


@pytest.mark.parametrize(
    ("wire", "variable"),
    [(anthropic, "ANTHROPIC_BASE_URL"), (google, "GOOGLE_GEMINI_BASE_URL")],
    ids=["anthropic", "google"],
)
async def test_without_an_address_the_sdk_knows_where_to_go(
    wire: ModuleType, variable: str, llmock_server: LlmockServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(variable, llmock_server.url + ROOTS[wire])
    llmock_server.queue({"type": "reply", "text": "here"})
    assert await words(wire, Endpoint(model="test-model", api_key=KEY)) == "here"


async def test_gemini_is_reached_as_such_whatever_the_environment_says(
    llmock_server: LlmockServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_API_KEY", "another-key")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v1alpha")
    llmock_server.queue({"type": "reply", "text": "here"})
    assert await words(google, llmock(google, llmock_server)) == "here"


@WIRES
async def test_a_closed_wire_sends_nothing(wire: ModuleType, llmock_server: LlmockServer):
    closed = wire.open_wire(llmock(wire, llmock_server))
    await closed.aclose()
    with pytest.raises((RuntimeError, WireError), match="closed"):
        await closed.send(WireRequest(conversation().messages))
    assert llmock_server.requests() == []


@pytest.mark.parametrize(
    ("wire", "module", "told"),
    [
        (anthropic, "anthropic", r"needs the anthropic SDK: pip install 'atrbench\[anthropic\]'"),
        (google, "google.genai", r"needs the google-genai SDK: pip install 'atrbench\[google\]'"),
    ],
    ids=["anthropic", "google"],
)
def test_a_missing_sdk_is_an_error_that_names_the_extra(
    wire: ModuleType, module: str, told: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModelError, match=told):
        wire.open_wire(endpoint("http://127.0.0.1"))


@WIRES
def test_an_address_and_a_key_that_cannot_be_used_are_refused_at_once(wire: ModuleType):
    with pytest.raises(ModelError, match="test-model: base_url must look like"):
        wire.open_wire(Endpoint(model="test-model", api_key=KEY, base_url="localhost:8000"))
    with pytest.raises(ModelError, match="the API key is empty or holds characters"):
        wire.open_wire(Endpoint(model="test-model", api_key="abc\n"))
