"""Chat Completions through the real SDK over loopback: llmock, and canned replies where llmock has none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atr_client.errors import WireError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wires.openai_chat import open_wire
from atr_client.session.transcript import Transcript
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage
from tests.support.mock_provider import CannedServer, LlmockServer, answer
from tests.support.wire_calls import FIND, LABEL, conversation, endpoint, opened


async def ask(to: Endpoint, transcript: Transcript, *tools: ToolSpec, **options: Any) -> ModelReply:
    async with opened(open_wire, to) as wire:
        return await wire.send(WireRequest(transcript.messages, tools, **options))


def completion(message: dict[str, Any], finish: str | None = "stop", **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], **fields}


def call(arguments: Any, call_id: str | None = "c1", **fields: Any) -> dict[str, Any]:
    function = {"name": "find_parcels", "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **fields}


async def test_plain_text_comes_back_with_its_usage(llmock_server: LlmockServer):
    llmock_server.queue({"type": "reply", "text": "On its way."})
    reply = await ask(endpoint(llmock_server.url), conversation())
    assert (reply.content, reply.tool_calls, reply.finish) == ("On its way.", [], "stop")
    assert reply.native_payload_format == "openai_chat_v1"
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.calls) == (9, 1)
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert llmock_server.body() == {
        "model": "test-model",
        "messages": [
            {"role": "system", "content": "You run a post office."},
            {"role": "user", "content": "Where is my parcel?"},
        ],
    }


async def test_settings_of_the_endpoint_and_the_request_are_sent(llmock_server: LlmockServer):
    parameters = {"thinking": {"type": "enabled"}, "reasoning_effort": "high", "top_p": 0.5}
    to = endpoint(llmock_server.url, parameters=parameters, max_output_tokens=300)
    await ask(to, conversation(), FIND, temperature=0.0, seed=7)
    body = llmock_server.body()
    assert {key: body[key] for key in parameters} == parameters
    assert (body["max_tokens"], body["temperature"], body["seed"]) == (300, 0.0, 7)
    function = {"name": FIND.name, "description": FIND.description, "parameters": FIND.input_schema}
    assert body["tools"] == [{"type": "function", "function": function}]


async def test_without_sampling_neither_temperature_nor_seed_is_sent(llmock_server: LlmockServer):
    await ask(endpoint(llmock_server.url, sampling=False), conversation(), temperature=0.0, seed=7)
    assert llmock_server.body().keys() == {"model", "messages"}


async def test_a_schema_is_sent_as_response_format(llmock_server: LlmockServer):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    reply = await ask(endpoint(llmock_server.url), conversation(), schema=schema)
    assert llmock_server.body()["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": False},
    }
    assert json.loads(reply.content or "").keys() == {"ok"}


async def test_a_provider_without_structured_output_gets_no_schema(llmock_server: LlmockServer):
    await ask(endpoint(llmock_server.url, structured_output=False), conversation(), schema={"type": "object"})
    assert "response_format" not in llmock_server.body()


async def test_a_turn_of_several_calls_goes_back_with_its_results(llmock_server: LlmockServer):
    calls = [
        {"name": "find_parcels", "arguments": {"city": "Zürich"}},
        {"name": "print_label", "arguments": {}},
    ]
    llmock_server.queue({"type": "reply", "tool_calls": calls}, {"type": "reply", "text": "Done."})
    transcript = conversation()
    reply = await ask(endpoint(llmock_server.url), transcript, FIND, LABEL)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("find_parcels", {"city": "Zürich"}),
        ("print_label", {}),
    ]
    assert (reply.content, reply.finish) == (None, "tool_calls")
    first, second = reply.tool_calls
    assert first.id != second.id
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(first, '{"count": 0}', False)
    transcript.tool(second, "print_label: the printer is off", True)
    assert (await ask(endpoint(llmock_server.url), transcript, FIND, LABEL)).content == "Done."
    assert llmock_server.body()["messages"][2:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": first.id,
                    "type": "function",
                    "function": {"name": "find_parcels", "arguments": '{"city": "Zürich"}'},
                },
                {"id": second.id, "type": "function", "function": {"name": "print_label", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": first.id, "content": '{"count": 0}'},
        {"role": "tool", "tool_call_id": second.id, "content": "print_label: the printer is off"},
    ]


async def test_blank_text_beside_calls_is_null_and_alone_is_empty(llmock_server: LlmockServer):
    transcript = conversation()
    beside = ToolCall(id="c1", name="print_label")
    transcript.messages += [
        Message(role="assistant", content=" \n", tool_calls=[beside]),
        Message(role="tool", content=None, tool_call_id="c1"),
        Message(role="assistant", content=None),
        Message(role="assistant", content="Soon.", tool_calls=[beside]),
    ]
    await ask(endpoint(llmock_server.url), transcript)
    sent = llmock_server.body()["messages"][2:]
    assert [message["content"] for message in sent] == [None, "", "", "Soon."]


async def test_arguments_that_are_not_json_are_a_result_and_go_back_empty(llmock_server: LlmockServer):
    llmock_server.queue({"type": "tool_fault", "kind": "malformed_arguments"})
    transcript = conversation()
    reply = await ask(endpoint(llmock_server.url), transcript, FIND)
    (broken,) = reply.tool_calls
    assert (broken.name, broken.arguments) == ("find_parcels", {})
    assert (broken.parse_error or "").startswith("arguments are not JSON: ")
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(broken, "arguments are not JSON", True)
    await ask(endpoint(llmock_server.url), transcript, FIND)
    assert llmock_server.body()["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


ARGUMENTS: list[tuple[Any, dict[str, Any], str | None]] = [
    ('{"city": "Bern"}', {"city": "Bern"}, None),
    ({"city": "Bern"}, {"city": "Bern"}, None),
    ("", {}, None),
    (None, {}, None),
    ("[1]", {}, "arguments must be a JSON object, got array"),
    ('"Bern"', {}, "arguments must be a JSON object, got string"),
    ("null", {}, None),
    (" null\n", {}, None),
    ("true", {}, "arguments must be a JSON object, got boolean"),
    ("1.5", {}, "arguments must be a JSON object, got number"),
    ([1], {}, "arguments must be a JSON object, got array"),
    ("{'city': 1}", {}, "arguments are not JSON: "),
    ("[" * 100_000, {}, "arguments are not JSON: "),
]


async def test_arguments_are_an_object_or_the_reason_why_not(canned_server: CannedServer):
    async with opened(open_wire, endpoint(canned_server.url)) as wire:
        for sent, arguments, problem in ARGUMENTS:
            canned_server.queue(answer(completion({"content": None, "tool_calls": [call(sent)]})))
            (read,) = (await wire.send(WireRequest(conversation().messages))).tool_calls
            assert read.arguments == arguments
            assert (read.parse_error or "").startswith(problem or "")
            assert (read.parse_error is None) == (problem is None)


async def test_calls_without_an_id_of_their_own_get_one(canned_server: CannedServer):
    transcript = conversation()
    transcript.messages.append(
        Message(role="assistant", tool_calls=[ToolCall(id="old", name="print_label")], turn_idx=2)
    )
    sent = [call("{}", given) for given in ("old", None, "", "new", "new", "call_3_9")]
    canned_server.queue(*[answer(completion({"content": None, "tool_calls": sent}))] * 2)
    first, again = [await ask(endpoint(canned_server.url), transcript) for _ in range(2)]
    ids = [call.id for call in first.tool_calls]
    assert len({*ids, "old"}) == len(sent) + 1
    assert (ids[3], ids[5]) == ("new", "call_3_9")
    assert ids == [call.id for call in again.tool_calls]


FINISHES: list[tuple[dict[str, Any], str | None, str, str | None]] = [
    ({"content": "hi"}, "stop", "stop", "hi"),
    ({"content": "hi"}, None, "stop", "hi"),
    ({"content": "hi"}, "eos", "stop", "hi"),
    ({"content": "cut"}, "length", "length", "cut"),
    ({"content": None, "tool_calls": [call('{"ci')]}, "length", "length", None),
    ({"content": ""}, "content_filter", "content_filter", None),
    ({"content": None, "refusal": "I can't."}, "stop", "refusal", "I can't."),
    ({"content": "", "tool_calls": [call("{}")]}, "stop", "tool_calls", None),
    ({"content": "hi", "tool_calls": []}, "tool_calls", "stop", "hi"),
    ({"content": None}, "stop", "stop", None),
    ({}, "stop", "stop", None),
]


async def test_every_way_to_end_is_told(canned_server: CannedServer):
    async with opened(open_wire, endpoint(canned_server.url)) as wire:
        for message, reason, finish, content in FINISHES:
            canned_server.queue(answer(completion(message, reason)))
            reply = await wire.send(WireRequest(conversation().messages))
            assert (reply.finish, reply.content) == (finish, content)
            assert reply.is_empty == (content is None and not reply.tool_calls)


async def test_llmock_cuts_a_reply_short(llmock_server: LlmockServer):
    llmock_server.queue(
        {"type": "reply", "text": "It is", "finish_reason": "length"},
        {"type": "reply", "text": "It", "finish_reason": "content_filter"},
    )
    finishes = [(await ask(endpoint(llmock_server.url), conversation())).finish for _ in range(2)]
    assert finishes == ["length", "content_filter"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion({"content": None}) | {"choices": []}, "choices"),
        (completion({"content": None}) | {"choices": None}, "choices"),
        (completion({"content": {"text": "hi"}}), "choices.0.message.content"),
        (completion({"content": "half"}, "insufficient_system_resource"), "gave up"),
        (completion({"content": "half"}, "error"), "gave up"),
        (completion({"content": "half"}, "abort"), "gave up"),
    ],
)
async def test_a_reply_that_is_no_completion_is_retryable(
    body: dict[str, Any], reason: str, canned_server: CannedServer
):
    canned_server.queue(answer(body))
    with pytest.raises(WireError, match=reason) as caught:
        await ask(endpoint(canned_server.url), conversation())
    assert caught.value.retryable


USAGES: list[tuple[dict[str, Any] | None, Usage | None]] = [
    (None, None),
    (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 15},
        },
        Usage(100, 20, 120, cached_tokens=64, reasoning_tokens=15, calls=1),
    ),
    (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "prompt_cache_hit_tokens": 64,
            "prompt_cache_miss_tokens": 36,
        },
        Usage(100, 20, 120, prompt_cache_hit_tokens=64, calls=1),
    ),
    (
        {"prompt_tokens": 5, "completion_tokens": None, "total_tokens": None, "prompt_tokens_details": None},
        Usage(5, 0, 5, calls=1),
    ),
]


async def test_usage_is_read_into_the_common_counters(canned_server: CannedServer):
    async with opened(open_wire, endpoint(canned_server.url)) as wire:
        for reported, usage in USAGES:
            canned_server.queue(answer(completion({"content": "hi"}, usage=reported)))
            assert (await wire.send(WireRequest(conversation().messages))).usage == usage


def reasoned(transcript: Transcript, reply: ModelReply) -> Transcript:
    """The transcript one tool turn and one text turn later, both with the same reply."""
    transcript.assistant(reply, reply.tool_calls)
    for sent in reply.tool_calls:
        transcript.tool(sent, "{}", False)
    transcript.messages.append(Message(role="assistant", content="Hm.", reasoning_content="Doubt."))
    transcript.messages.append(Message(role="assistant", content="Well."))
    return transcript


@pytest.mark.parametrize(
    ("echo", "echoed"),
    [
        ("never", [None, None, None]),
        ("tool_turns", ["Look.", None, None]),
        ("always", ["Look.", "Doubt.", ""]),
    ],
)
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_plain_reasoning_is_echoed_as_the_endpoint_wants(
    field: str,
    echo: str,
    echoed: list[str | None],
    canned_server: CannedServer,
    llmock_server: LlmockServer,
):
    message = {"content": None, field: "Look.", "tool_calls": [call("{}")]}
    canned_server.queue(answer(completion(message)))
    fields = {"echo_reasoning": echo, "payload_format": "deepseek_chat_v1"}
    reply = await ask(endpoint(canned_server.url, **fields), conversation())
    assert reply.reasoning_content == "Look."
    await ask(endpoint(llmock_server.url, **fields), reasoned(conversation(), reply))
    sent = [message for message in llmock_server.body()["messages"] if message["role"] == "assistant"]
    assert [message.get("reasoning_content") for message in sent] == echoed
    assert all("reasoning" not in message for message in sent)


DETAILS = [
    {"type": "reasoning.text", "id": "r1", "format": "MiniMax-response-v1", "index": 0, "text": "Look."}
]


async def test_what_a_provider_adds_to_a_message_goes_back_unchanged(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    signed = call('{ "city":"Bern" }', index=0, extra_content={"google": {"thought_signature": "c2ln"}})
    message = {"content": "", "refusal": None, "annotations": [], "name": "M2", "audio_content": ""}
    message |= {"reasoning_details": DETAILS, "tool_calls": [signed]}
    canned_server.queue(answer(completion(message)))
    reply = await ask(endpoint(canned_server.url, payload_format="minimax_chat_v1"), conversation())
    assert reply.native_assistant_payload == {"role": "assistant", **message}
    assert reply.native_payload_format == "minimax_chat_v1"
    transcript = reasoned(conversation(), reply)
    stored = [Message.model_validate_json(message.model_dump_json()) for message in transcript.messages]
    async with opened(open_wire, endpoint(llmock_server.url, payload_format="minimax_chat_v1")) as wire:
        await wire.send(WireRequest(stored))
    function = {"name": "find_parcels", "arguments": '{"city": "Bern"}'}
    assert llmock_server.body()["messages"][2] == {
        "role": "assistant",
        "content": None,
        "name": "M2",
        "audio_content": "",
        "reasoning_details": DETAILS,
        "tool_calls": [{**signed, "function": function}],
    }


async def test_only_the_calls_that_were_kept_go_back(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    message = {"content": None, "tool_calls": [call("{}", "c1"), call("{}", "c2")]}
    canned_server.queue(answer(completion(message)))
    fields = {"payload_format": "qwen_chat_v1"}
    transcript = conversation()
    reply = await ask(endpoint(canned_server.url, **fields), transcript)
    transcript.assistant(reply, reply.tool_calls[:1])
    await ask(endpoint(llmock_server.url, **fields), transcript)
    assert [sent["id"] for sent in llmock_server.body()["messages"][2]["tool_calls"]] == ["c1"]


@pytest.mark.parametrize("payload_format", [None, "qwen_chat_v1"])
async def test_a_payload_of_another_provider_is_left_out(
    payload_format: str | None, llmock_server: LlmockServer
):
    transcript = conversation()
    payload = {"role": "assistant", "content": "hi", "reasoning_details": DETAILS}
    for foreign in ("minimax_chat_v1", None):
        transcript.messages.append(
            Message(
                role="assistant",
                content="hi",
                native_assistant_payload=payload,
                native_payload_format=foreign,
            )
        )
    await ask(endpoint(llmock_server.url, payload_format=payload_format), transcript)
    assert llmock_server.body()["messages"][2:] == [{"role": "assistant", "content": "hi"}] * 2


async def test_text_that_no_encoding_can_carry_is_replaced(canned_server: CannedServer):
    body = json.dumps(completion({"content": "a\ud800b", "note": "\udfff"})).encode()
    canned_server.queue(answer(body))
    reply = await ask(endpoint(canned_server.url, payload_format="qwen_chat_v1"), conversation())
    assert reply.content == "a?b"
    assert reply.native_assistant_payload == {"role": "assistant", "content": "a?b", "note": "?"}
