"""The Responses API through the real SDK over loopback: llmock, and canned replies where llmock has none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atr_client.errors import ContextOverflow, WireError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wires.openai_responses import open_wire
from atr_client.session.transcript import Transcript
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage
from tests.support.mock_provider import CannedServer, LlmockServer, answer
from tests.support.wire_calls import FIND, LABEL, conversation, endpoint, opened


async def ask(to: Endpoint, transcript: Transcript, *tools: ToolSpec, **options: Any) -> ModelReply:
    async with opened(open_wire, to) as wire:
        return await wire.send(WireRequest(transcript.messages, tools, **options))


def response(*output: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": "completed", "output": list(output), **fields}


def said(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return {**item, "content": list(parts), **fields}


def text(words: str) -> dict[str, Any]:
    return {"type": "output_text", "text": words, "annotations": [], "logprobs": []}


def call(call_id: str | None, arguments: Any = "{}", name: str = "find_parcels") -> dict[str, Any]:
    item = {"type": "function_call", "id": f"fc_{call_id}", "status": "completed"}
    return {**item, "call_id": call_id, "name": name, "arguments": arguments}


def thought(name: str, *summary: str) -> dict[str, Any]:
    pieces = [{"type": "summary_text", "text": words} for words in summary]
    return {
        "type": "reasoning",
        "id": f"rs_{name}",
        "encrypted_content": f"sealed-{name}==",
        "summary": pieces,
    }


async def test_plain_text_comes_back_with_its_usage(llmock_server: LlmockServer):
    llmock_server.queue({"type": "reply", "text": "On its way."})
    reply = await ask(endpoint(llmock_server.url), conversation())
    assert (reply.content, reply.tool_calls, reply.finish) == ("On its way.", [], "stop")
    assert reply.native_payload_format == "openai_responses_v1"
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.calls) == (9, 1)
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert llmock_server.requests()[-1]["path"] == "/v1/responses"
    assert llmock_server.body() == {
        "model": "test-model",
        "instructions": "You run a post office.",
        "input": [{"role": "user", "content": "Where is my parcel?"}],
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }


async def test_settings_of_the_endpoint_and_the_request_are_sent(llmock_server: LlmockServer):
    parameters = {"reasoning": {"effort": "high"}, "service_tier": "flex"}
    to = endpoint(llmock_server.url, parameters=parameters, max_output_tokens=300)
    await ask(to, conversation(), FIND, temperature=0.0, seed=7)
    body = llmock_server.body()
    assert {key: body[key] for key in parameters} == parameters
    assert (body["max_output_tokens"], body["temperature"]) == (300, 0.0)
    assert "seed" not in body
    assert body["tools"] == [
        {
            "type": "function",
            "name": FIND.name,
            "description": FIND.description,
            "parameters": FIND.input_schema,
            "strict": False,
        }
    ]


async def test_without_sampling_no_temperature_is_sent(llmock_server: LlmockServer):
    await ask(endpoint(llmock_server.url, sampling=False), conversation(), temperature=0.0, seed=7)
    assert llmock_server.body().keys() == {"model", "instructions", "input", "store", "include"}


async def test_a_schema_is_sent_as_text_format_beside_other_text_parameters(llmock_server: LlmockServer):
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    to = endpoint(llmock_server.url, parameters={"text": {"verbosity": "low"}})
    reply = await ask(to, conversation(), schema=schema)
    assert llmock_server.body()["text"] == {
        "format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": False},
        "verbosity": "low",
    }
    assert json.loads(reply.content or "").keys() == {"ok"}


async def test_a_provider_without_structured_output_gets_no_schema(llmock_server: LlmockServer):
    await ask(endpoint(llmock_server.url, structured_output=False), conversation(), schema={"type": "object"})
    assert "text" not in llmock_server.body()


async def test_a_turn_of_several_calls_goes_back_as_it_came_with_its_results(llmock_server: LlmockServer):
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
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(first, '{"count": 0}', False)
    transcript.tool(second, "print_label: the printer is off", True)
    assert (await ask(endpoint(llmock_server.url), transcript, FIND, LABEL)).content == "Done."
    sent = llmock_server.body()["input"][1:]
    assert sent[:2] == reply.native_assistant_payload
    assert [item["call_id"] for item in sent[:2]] == [first.id, second.id]
    assert sent[2:] == [
        {"type": "function_call_output", "call_id": first.id, "output": '{"count": 0}'},
        {"type": "function_call_output", "call_id": second.id, "output": "print_label: the printer is off"},
    ]


async def test_reasoning_goes_back_unchanged_and_in_place(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    output = [
        thought("1", "Look first.", "Then tell."),
        said(text("One moment."), phase="commentary"),
        call("c1", '{ "city":"Bern" }'),
    ]
    canned_server.queue(answer(response(*output)))
    transcript = conversation()
    reply = await ask(endpoint(canned_server.url), transcript)
    assert reply.reasoning_content == "Look first.\nThen tell."
    assert (reply.content, reply.finish) == ("One moment.", "tool_calls")
    assert reply.native_assistant_payload == output
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(reply.tool_calls[0], "{}", False)
    stored = [Message.model_validate_json(message.model_dump_json()) for message in transcript.messages]
    async with opened(open_wire, endpoint(llmock_server.url)) as wire:
        await wire.send(WireRequest(stored))
    assert llmock_server.body()["input"][1:] == [
        *output,
        {"type": "function_call_output", "call_id": "c1", "output": "{}"},
    ]


async def test_the_text_of_open_reasoning_is_preferred_to_its_summary(canned_server: CannedServer):
    content = [{"type": "reasoning_text", "text": "All of it."}]
    canned_server.queue(answer(response({**thought("1", "Short."), "content": content}, said(text("Hi.")))))
    reply = await ask(endpoint(canned_server.url), conversation())
    assert (reply.reasoning_content, reply.content) == ("All of it.", "Hi.")


async def test_a_dropped_call_and_the_reasoning_that_led_to_it_alone_stay_away(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    output = [thought("1"), call("c1"), call("c2"), thought("2"), call("c3"), thought("3"), call("c4")]
    canned_server.queue(answer(response(*output)))
    transcript = conversation()
    reply = await ask(endpoint(canned_server.url), transcript)
    transcript.assistant(reply, [call for call in reply.tool_calls if call.id in ("c1", "c4")])
    await ask(endpoint(llmock_server.url), transcript)
    assert llmock_server.body()["input"][1:] == [output[0], output[1], output[5], output[6]]


async def test_turns_of_other_providers_are_written_anew(llmock_server: LlmockServer):
    transcript = conversation()
    calls = [
        ToolCall(id="c1", name="find_parcels", arguments={"city": "Zürich"}),
        ToolCall(id="c2", name="print_label", parse_error="arguments are not JSON"),
    ]
    foreign = {"native_assistant_payload": [{"type": "thinking"}], "native_payload_format": "other_v1"}
    transcript.messages += [
        Message(role="assistant", content="Looking.", tool_calls=calls, **foreign),
        Message(role="tool", content=None, tool_call_id="c1"),
        Message(role="assistant", content=None, tool_calls=calls[1:]),
        Message(role="assistant", content="Here."),
        Message(role="assistant", content=None),
    ]
    await ask(endpoint(llmock_server.url), transcript)
    empty = {"type": "function_call", "call_id": "c2", "name": "print_label", "arguments": "{}"}
    assert llmock_server.body()["input"][1:] == [
        {"role": "assistant", "content": "Looking."},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "find_parcels",
            "arguments": '{"city": "Zürich"}',
        },
        empty,
        {"type": "function_call_output", "call_id": "c1", "output": ""},
        empty,
        {"role": "assistant", "content": "Here."},
        {"role": "assistant", "content": ""},
    ]


async def test_an_endpoint_may_mark_payloads_its_own_way(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    canned_server.queue(answer(response(thought("1"), said(text("Hi.")))))
    transcript = conversation()
    reply = await ask(endpoint(canned_server.url, payload_format="gateway_v1"), transcript)
    assert reply.native_payload_format == "gateway_v1"
    transcript.assistant(reply, None)
    await ask(endpoint(llmock_server.url), transcript)
    assert llmock_server.body()["input"][1:] == [{"role": "assistant", "content": "Hi."}]


async def test_arguments_that_are_not_json_are_a_result_and_go_back_as_none(llmock_server: LlmockServer):
    llmock_server.queue({"type": "tool_fault", "kind": "malformed_arguments"})
    transcript = conversation()
    reply = await ask(endpoint(llmock_server.url), transcript, FIND)
    (broken,) = reply.tool_calls
    assert (broken.name, broken.arguments) == ("find_parcels", {})
    assert (broken.parse_error or "").startswith("arguments are not JSON: ")
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(broken, "arguments are not JSON", True)
    await ask(endpoint(llmock_server.url), transcript, FIND)
    assert isinstance(reply.native_assistant_payload, list)
    *before, item = reply.native_assistant_payload
    assert llmock_server.body()["input"][1:3] == [*before, {**item, "arguments": "{}"}]
    assert broken.raw_arguments == item["arguments"]


async def test_calls_without_an_id_of_their_own_get_one_that_their_results_can_name(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    canned_server.queue(answer(response(call(None), call("c1"), call("c1"), call("c2", "[1]"))))
    transcript = conversation()
    reply = await ask(endpoint(canned_server.url), transcript)
    ids = [call.id for call in reply.tool_calls]
    assert len(set(ids)) == 4
    assert (ids[1], ids[3]) == ("c1", "c2")
    assert reply.tool_calls[3].parse_error == "arguments must be a JSON object, got array"
    transcript.assistant(reply, reply.tool_calls)
    await ask(endpoint(llmock_server.url), transcript)
    assert [item["call_id"] for item in llmock_server.body()["input"][1:]] == ids


async def test_llmock_cuts_a_reply_short(llmock_server: LlmockServer):
    llmock_server.queue({"type": "reply", "text": "It is", "finish_reason": "length"})
    reply = await ask(endpoint(llmock_server.url), conversation())
    assert (reply.finish, reply.content) == ("length", "It is")


REFUSED = {"type": "refusal", "refusal": "I can't."}
FINISHES: list[tuple[dict[str, Any], str, str | None]] = [
    (response(said(text("a"), text("b"))), "stop", "ab"),
    (response(said(text("a")), status=None), "stop", "a"),
    (response(said(REFUSED)), "refusal", "I can't."),
    (response(said(text("a")), status="incomplete"), "length", "a"),
    (
        response(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
        "length",
        None,
    ),
    (
        response(status="incomplete", incomplete_details={"reason": "content_filter"}),
        "content_filter",
        None,
    ),
    (response(call("c1", '{"ci'), status="incomplete"), "length", None),
    (response(call("c1")), "tool_calls", None),
    (response(), "stop", None),
    (response(thought("1")), "stop", None),
    (response(said(text(""))), "stop", None),
]


async def test_every_way_to_end_is_told(canned_server: CannedServer):
    async with opened(open_wire, endpoint(canned_server.url)) as wire:
        for body, finish, content in FINISHES:
            canned_server.queue(answer(body))
            reply = await wire.send(WireRequest(conversation().messages))
            assert (reply.finish, reply.content) == (finish, content)
            assert reply.is_empty == (content is None and not reply.tool_calls)


@pytest.mark.parametrize(
    ("error", "told", "retryable"),
    [
        ({"code": "server_error", "message": "It broke."}, "It broke. server_error", True),
        ({"code": "rate_limit_exceeded", "message": "Too fast."}, "Too fast. rate_limit_exceeded", True),
        ({"code": "invalid_prompt", "message": "No."}, "No. invalid_prompt", False),
        (None, "no reason given", False),
    ],
)
async def test_a_failed_response_is_an_error(
    error: dict[str, str] | None, told: str, retryable: bool, canned_server: CannedServer
):
    canned_server.queue(answer(response(status="failed", error=error)))
    with pytest.raises(WireError) as caught:
        await ask(endpoint(canned_server.url), conversation())
    assert caught.value.retryable == retryable
    assert str(caught.value) == f"response failed: {told}"


async def test_a_failed_response_may_be_a_context_overflow(canned_server: CannedServer):
    error = {"code": "context_length_exceeded", "message": "Your input exceeds the context window."}
    canned_server.queue(answer(response(status="failed", error=error)))
    with pytest.raises(ContextOverflow):
        await ask(endpoint(canned_server.url), conversation())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (response() | {"output": None}, "output"),
        (response({"id": "no type"}), "output.0.type"),
        (response(said()) | {"output": [{"type": "message", "content": "hi"}]}, "output.0.content"),
    ],
)
async def test_a_reply_that_is_no_response_is_retryable(
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
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 15},
            "total_tokens": 120,
        },
        Usage(100, 20, 120, cached_tokens=64, reasoning_tokens=15, calls=1),
    ),
    ({"input_tokens": 5, "output_tokens": 2, "input_tokens_details": None}, Usage(5, 2, 7, calls=1)),
]


async def test_usage_is_read_into_the_common_counters(canned_server: CannedServer):
    async with opened(open_wire, endpoint(canned_server.url)) as wire:
        for reported, usage in USAGES:
            canned_server.queue(answer(response(said(text("hi")), usage=reported)))
            assert (await wire.send(WireRequest(conversation().messages))).usage == usage
