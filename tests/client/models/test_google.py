"""generateContent through the real SDK over loopback: llmock, and canned replies where llmock has none."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from atr_client.errors import ContextOverflow, ModelError, WireError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wires.google import open_wire
from atr_client.session.transcript import Transcript
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage
from tests.support.mock_provider import CannedServer, LlmockServer, answer
from tests.support.wire_calls import FIND, LABEL, conversation, endpoint, opened


def llmock(server: LlmockServer, **changes: Any) -> Endpoint:
    return endpoint(server.url, **{"base_url": f"{server.url}/gemini", **changes})


def canned(server: CannedServer, **changes: Any) -> Endpoint:
    return endpoint(server.url, **{"base_url": server.url, **changes})


async def ask(to: Endpoint, transcript: Transcript, *tools: ToolSpec, **options: Any) -> ModelReply:
    async with opened(open_wire, to) as wire:
        return await wire.send(WireRequest(transcript.messages, tools, **options))


def candidate(*parts: dict[str, Any], finish: str | None = "STOP") -> dict[str, Any]:
    return {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}


def reply_of(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"candidates": [candidate(*parts)], "modelVersion": "test-model", **fields}


def call(arguments: Any, call_id: str | None = None, **beside: Any) -> dict[str, Any]:
    named = {"id": call_id} if call_id else {}
    return {"functionCall": {"name": "find_parcels", **named, "args": arguments}, **beside}


def user(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def model(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def result(call: ToolCall, **response: str) -> dict[str, Any]:
    return {"functionResponse": {"id": call.id, "name": call.name, "response": response}}


FIRST = user({"text": "Where is my parcel?"})
MARK = "skip_thought_signature_validator"
UNSIGNED = {"thoughtSignature": MARK}


async def test_plain_text_comes_back_with_its_usage(llmock_server: LlmockServer):
    llmock_server.queue({"type": "reply", "text": "On its way."})
    reply = await ask(llmock(llmock_server), conversation())
    assert (reply.content, reply.tool_calls, reply.finish) == ("On its way.", [], "stop")
    assert reply.native_assistant_payload == model({"text": "On its way."})
    assert reply.native_payload_format == "gemini_v1beta"
    assert reply.usage is not None
    assert (reply.usage.completion_tokens, reply.usage.calls) == (2, 1)
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + 2
    assert llmock_server.requests()[-1]["path"] == "/gemini/v1beta/models/test-model:generateContent"
    body = llmock_server.body()
    assert body.keys() == {"contents", "systemInstruction", "generationConfig"}
    assert body["contents"] == [FIRST]
    assert body["systemInstruction"]["parts"] == [{"text": "You run a post office."}]
    assert body["generationConfig"] == {}


async def test_settings_of_the_endpoint_and_the_request_are_sent(llmock_server: LlmockServer):
    to = llmock(
        llmock_server, parameters={"thinking_config": {"thinking_level": "HIGH"}}, max_output_tokens=300
    )
    await ask(to, conversation(), FIND, LABEL, temperature=0.0, seed=7)
    body = llmock_server.body()
    config = body["generationConfig"]
    assert (config["temperature"], config["seed"], config["maxOutputTokens"]) == (0.0, 7, 300)
    assert list(config["thinkingConfig"].values()) == ["HIGH"]
    (group,) = body["tools"]
    assert [tool["name"] for tool in group["functionDeclarations"]] == [FIND.name, LABEL.name]
    schemas = [tool["parameters_json_schema"] for tool in group["functionDeclarations"]]
    assert schemas == [FIND.input_schema, LABEL.input_schema]


async def test_without_sampling_no_temperature_is_sent(llmock_server: LlmockServer):
    await ask(llmock(llmock_server, sampling=False), conversation(), temperature=0.0, seed=7)
    assert llmock_server.body()["generationConfig"] == {}


async def test_a_schema_asks_for_json_of_that_form(llmock_server: LlmockServer):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    reply = await ask(llmock(llmock_server), conversation(), schema=schema)
    config = llmock_server.body()["generationConfig"]
    assert config == {"responseMimeType": "application/json", "responseJsonSchema": schema}
    assert json.loads(reply.content or "").keys() == {"ok"}


async def test_a_provider_without_structured_output_gets_no_schema(llmock_server: LlmockServer):
    await ask(llmock(llmock_server, structured_output=False), conversation(), schema={"type": "object"})
    assert llmock_server.body()["generationConfig"] == {}


async def test_the_version_of_the_api_is_a_parameter(llmock_server: LlmockServer):
    to = llmock(llmock_server, parameters={"http_options": {"api_version": "v1alpha"}})
    with pytest.raises(WireError) as caught:
        await ask(to, conversation())
    assert (caught.value.status, caught.value.retryable) == (404, False)
    request = llmock_server.requests()[-1]
    assert request["path"] == "/gemini/v1alpha/models/test-model:generateContent"
    assert request["body"]["contents"] == [FIRST]


async def test_a_parameter_that_the_sdk_does_not_know_is_refused_at_once():
    to = endpoint("http://127.0.0.1", parameters={"thinking_config": {"thinking": "HIGH"}})
    with pytest.raises(ModelError, match=r"request parameter thinking_config\.thinking: Extra inputs"):
        open_wire(to)


async def test_calls_without_an_id_get_one_that_goes_back_with_their_results(llmock_server: LlmockServer):
    calls = [
        {"name": "find_parcels", "arguments": {"city": "Zürich"}},
        {"name": "find_parcels", "arguments": {"city": "Bern"}},
        {"name": "print_label", "arguments": {}},
    ]
    llmock_server.queue({"type": "reply", "text": "I look.", "tool_calls": calls})
    transcript = conversation()
    reply = await ask(llmock(llmock_server), transcript, FIND, LABEL)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("find_parcels", {"city": "Zürich"}),
        ("find_parcels", {"city": "Bern"}),
        ("print_label", {}),
    ]
    assert (reply.content, reply.finish) == ("I look.", "tool_calls")
    first, second, third = reply.tool_calls
    assert len({first.id, second.id, third.id}) == 3
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(first, '{"count": 0}', False)
    transcript.tool(second, '{"count": 2}', False)
    transcript.tool(third, "the printer is off", True)
    transcript.user("Any news?")
    await ask(llmock(llmock_server), transcript, FIND, LABEL)
    contents = llmock_server.body()["contents"]
    assert isinstance(reply.native_assistant_payload, dict)
    text, *parts = reply.native_assistant_payload["parts"]
    assert contents[:2] == [FIRST, model(text, *({**part, **UNSIGNED} for part in parts))]
    sent_ids = [part["functionCall"]["id"] for part in contents[1]["parts"][1:]]
    assert sent_ids == [first.id, second.id, third.id]
    assert contents[2:] == [
        user(
            result(first, output='{"count": 0}'),
            result(second, output='{"count": 2}'),
            result(third, error="the printer is off"),
            {"text": "Any news?"},
        )
    ]


async def test_thoughts_and_their_signatures_go_back_unchanged(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    parts = [
        {"text": "Look first.", "thought": True},
        {"text": "One moment.", "thoughtSignature": "CiQB+/sig=="},
        call({"city": "Bern", "n": 1.0, "deep": {"a_b": None}}, "fc-1", thoughtSignature="EqQB-_sig"),
        {"functionCall": {"name": "print_label", "id": "fc-2"}},
        {"text": "", "thoughtSignature": "last+/=="},
        {"aPartOfTomorrow": {"x": 1}},
    ]
    canned_server.queue(answer(reply_of(*parts)))
    transcript = conversation()
    reply = await ask(canned(canned_server), transcript)
    assert (reply.reasoning_content, reply.content) == ("Look first.", "One moment.")
    assert [(call.id, call.arguments) for call in reply.tool_calls] == [
        ("fc-1", {"city": "Bern", "n": 1.0, "deep": {"a_b": None}}),
        ("fc-2", {}),
    ]
    assert reply.native_assistant_payload == model(*parts)
    transcript.assistant(reply, reply.tool_calls)
    for called in reply.tool_calls:
        transcript.tool(called, "{}", False)
    stored = [Message.model_validate_json(message.model_dump_json()) for message in transcript.messages]
    canned_server.queue(answer(reply_of({"text": "Done."})))
    async with opened(open_wire, canned(canned_server)) as wire:
        await wire.send(WireRequest(stored))
    assert canned_server.bodies[-1]["contents"] == [
        FIRST,
        model(*parts),
        user(*(result(called, output="{}") for called in reply.tool_calls)),
    ]
    async with opened(open_wire, llmock(llmock_server)) as wire:
        await wire.send(WireRequest(stored))
    assert llmock_server.body()["contents"] == canned_server.bodies[-1]["contents"]


async def test_a_dropped_call_stays_away(canned_server: CannedServer, llmock_server: LlmockServer):
    parts = [call({"city": "Bern"}, thoughtSignature="s=="), call({"city": "Basel"})]
    canned_server.queue(answer(reply_of(*parts)))
    transcript = conversation()
    reply = await ask(canned(canned_server), transcript)
    kept = reply.tool_calls[0]
    transcript.assistant(reply, [kept])
    transcript.tool(kept, "{}", False)
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["contents"][1:] == [
        model(call({"city": "Bern"}, kept.id, thoughtSignature="s==")),
        user(result(kept, output="{}")),
    ]


async def test_the_user_says_go_on_wherever_the_assistant_speaks_twice_or_last(llmock_server: LlmockServer):
    transcript = conversation()
    transcript.messages += [Message(role="assistant", content=words) for words in ("I look.", "", "I print.")]
    await ask(llmock(llmock_server), transcript)
    go_on = user({"text": "Continue."})
    assert llmock_server.body()["contents"] == [
        FIRST,
        model({"text": "I look."}),
        go_on,
        model({"text": "I print."}),
        go_on,
    ]


async def test_turns_of_other_providers_are_written_anew(llmock_server: LlmockServer):
    transcript = conversation()
    calls = [
        ToolCall(id="c1", name="find_parcels", arguments={"city": "Bern"}),
        ToolCall(id="c2", name="find_parcels", parse_error="arguments are not JSON"),
    ]
    foreign = {"native_assistant_payload": {"role": "assistant"}, "native_payload_format": "other_v1"}
    transcript.messages += [
        Message(role="assistant", content="Looking.", tool_calls=calls, **foreign),
        Message(role="tool", content=None, tool_call_id="c1"),
        Message(role="tool", content="no", tool_call_id="c2", tool_error=True),
    ]
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["contents"][1:] == [
        model({"text": "Looking."}, call({"city": "Bern"}, "c1", **UNSIGNED), call({}, "c2", **UNSIGNED)),
        user(result(calls[0], output=""), result(calls[1], error="no")),
    ]


async def test_an_endpoint_may_mark_payloads_its_own_way(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    canned_server.queue(answer(reply_of({"text": "Hi.", "thoughtSignature": "s=="})))
    transcript = conversation()
    reply = await ask(canned(canned_server, payload_format="gateway_v1"), transcript)
    assert reply.native_payload_format == "gateway_v1"
    transcript.assistant(reply, None)
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["contents"][1] == model({"text": "Hi."})


ARGUMENTS: list[tuple[Any, dict[str, Any], str | None]] = [
    (None, {}, None),
    ('{"city": "Bern"}', {"city": "Bern"}, None),
    ([1], {}, "arguments must be a JSON object, got array"),
    ('{"city": ', {}, "arguments are not JSON: Expecting value: line 1 column 10 (char 9)"),
]


@pytest.mark.parametrize(("sent", "read", "problem"), ARGUMENTS)
async def test_arguments_that_are_no_object_are_a_result_and_go_back_as_one(
    sent: Any,
    read: dict[str, Any],
    problem: str | None,
    canned_server: CannedServer,
    llmock_server: LlmockServer,
):
    canned_server.queue(answer(reply_of(call(sent, "c1"))))
    transcript = conversation()
    reply = await ask(canned(canned_server), transcript)
    assert [(call.arguments, call.parse_error) for call in reply.tool_calls] == [(read, problem)]
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(reply.tool_calls[0], "{}", False)
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["contents"][1] == model(call(read, "c1", **UNSIGNED))


@pytest.mark.parametrize(
    ("came", "back"),
    [
        ([None], [MARK]),
        ([None, None], [MARK, MARK]),
        (["s1==", None], ["s1==", None]),
        ([None, "s2=="], [MARK, "s2=="]),
    ],
)
async def test_calls_that_stand_before_any_signed_one_get_the_documented_mark(
    came: list[str | None], back: list[str | None], canned_server: CannedServer, llmock_server: LlmockServer
):
    def signed(signature: str | None) -> dict[str, Any]:
        return {"thoughtSignature": signature} if signature else {}

    calls = [call({}, f"c{n}", **signed(signature)) for n, signature in enumerate(came)]
    canned_server.queue(answer(reply_of({"text": "Hm.", "thoughtSignature": "t=="}, *calls)))
    transcript = conversation()
    reply = await ask(canned(canned_server), transcript)
    transcript.assistant(reply, reply.tool_calls)
    await ask(llmock(llmock_server), transcript)
    text, *parts = llmock_server.body()["contents"][1]["parts"]
    assert text == {"text": "Hm.", "thoughtSignature": "t=="}
    assert [part.get("thoughtSignature") for part in parts] == back


async def test_text_that_no_encoding_can_carry_is_replaced(canned_server: CannedServer):
    canned_server.queue(answer(reply_of({"text": "broken \ud83d"})))
    assert (await ask(canned(canned_server), conversation())).content == "broken ?"


FINISHES = [
    (None, "stop"),
    ("STOP", "stop"),
    ("OTHER", "stop"),
    ("MALFORMED_FUNCTION_CALL", "stop"),
    ("A_NEW_REASON", "stop"),
    ("MAX_TOKENS", "length"),
    ("CONTINUATION", "length"),
    ("SAFETY", "content_filter"),
    ("RECITATION", "content_filter"),
    ("PROHIBITED_CONTENT", "content_filter"),
    ("MODEL_ARMOR", "content_filter"),
]


async def test_every_way_to_end_is_told(canned_server: CannedServer):
    async with opened(open_wire, canned(canned_server)) as wire:
        for reason, finish in FINISHES:
            canned_server.queue(answer({"candidates": [candidate({"text": "a"}, finish=reason)]}))
            reply = await wire.send(WireRequest(conversation().messages))
            assert (reply.content, reply.finish) == ("a", finish), reason


async def test_the_sdk_is_not_left_to_call_tools_by_itself(
    llmock_server: LlmockServer, caplog: pytest.LogCaptureFixture
):
    with caplog.at_level(logging.INFO, logger="google_genai"):
        await ask(llmock(llmock_server), conversation())
        await ask(llmock(llmock_server), conversation(), FIND)
    assert [record.message for record in caplog.records if record.name.startswith("google_genai")] == []


async def test_the_server_is_told_how_long_the_client_waits(canned_server: CannedServer):
    canned_server.queue(answer(reply_of({"text": "hi"})))
    await ask(canned(canned_server, timeout=7.5), conversation())
    assert canned_server.headers[-1]["x-server-timeout"] == "8"


async def test_the_sdk_is_not_left_to_continue_by_itself(canned_server: CannedServer):
    cut = {**candidate({"text": "a"}, finish="CONTINUATION"), "continuationToken": "Zm9v"}
    canned_server.queue(answer({"candidates": [cut]}))
    await ask(canned(canned_server), conversation())
    assert len(canned_server.bodies) == 1


EMPTY: list[tuple[dict[str, Any], str]] = [
    ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "content_filter"),
    ({"usageMetadata": {"promptTokenCount": 3}}, "content_filter"),
    ({"candidates": [{"finishReason": "SAFETY"}]}, "content_filter"),
    ({"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}, "length"),
    ({"candidates": [{"content": None, "finishReason": "STOP"}]}, "stop"),
    ({"candidates": [candidate({"text": ""})]}, "stop"),
]


async def test_a_reply_without_content_is_empty_and_tells_why(canned_server: CannedServer):
    async with opened(open_wire, canned(canned_server)) as wire:
        for body, finish in EMPTY:
            canned_server.queue(answer(body))
            reply = await wire.send(WireRequest(conversation().messages))
            assert (reply.is_empty, reply.finish) == (True, finish), body


async def test_llmock_cuts_replies_short(llmock_server: LlmockServer):
    llmock_server.queue(
        {"type": "reply", "text": "It is", "finish_reason": "length"},
        {"type": "reply", "text": "", "finish_reason": "content_filter"},
    )
    cut = await ask(llmock(llmock_server), conversation())
    blocked = await ask(llmock(llmock_server), conversation())
    assert (cut.finish, cut.content) == ("length", "It is")
    assert (blocked.finish, blocked.is_empty) == ("content_filter", True)


@pytest.mark.parametrize(
    ("body", "place"),
    [({"candidates": "none"}, "candidates"), ({"candidates": [candidate({"text": 1})]}, "candidates.0")],
)
async def test_a_reply_that_is_no_answer_is_retryable(body: Any, place: str, canned_server: CannedServer):
    canned_server.queue(answer(body))
    with pytest.raises(WireError, match=f"malformed reply: {place}") as caught:
        await ask(canned(canned_server), conversation())
    assert caught.value.retryable


async def test_a_context_overflow_is_known_by_its_words(llmock_server: LlmockServer):
    words = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    llmock_server.queue({"type": "fail", "status": 400, "message": words})
    with pytest.raises(ContextOverflow) as caught:
        await ask(llmock(llmock_server), conversation())
    assert str(caught.value) == words


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


@pytest.mark.parametrize(
    ("details", "headers", "wait"),
    [
        ([{"@type": "other"}, RETRY_INFO], {}, 34.5),
        ([RETRY_INFO], {"retry_after": "7"}, 7.0),
        ([{"retryDelay": "soon"}], {}, None),
        ([], {}, None),
        (None, {}, None),
    ],
)
async def test_the_wait_may_stand_in_the_details_of_the_error(
    details: Any, headers: dict[str, str], wait: float | None, canned_server: CannedServer
):
    error = {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED", "details": details}
    canned_server.queue(answer({"error": error}, 429, **headers))
    with pytest.raises(WireError, match=r"Quota\.") as caught:
        await ask(canned(canned_server), conversation())
    assert (caught.value.retryable, caught.value.retry_after) == (True, wait)


USAGES: list[tuple[dict[str, Any] | None, Usage | None]] = [
    (None, None),
    (
        {
            "promptTokenCount": 90,
            "toolUsePromptTokenCount": 10,
            "cachedContentTokenCount": 64,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 15,
            "totalTokenCount": 120,
        },
        Usage(100, 20, 120, cached_tokens=64, reasoning_tokens=15, calls=1),
    ),
    ({"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": None}, Usage(5, 2, 7, calls=1)),
]


async def test_usage_is_read_into_the_common_counters(canned_server: CannedServer):
    async with opened(open_wire, canned(canned_server)) as wire:
        for reported, usage in USAGES:
            canned_server.queue(answer(reply_of({"text": "hi"}, usageMetadata=reported)))
            assert (await wire.send(WireRequest(conversation().messages))).usage == usage
