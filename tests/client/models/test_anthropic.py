"""The Messages API through the real SDK over loopback: llmock, and canned replies where llmock has none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atr_client.errors import ContextOverflow, WireError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wires.anthropic import open_wire
from atr_client.session.transcript import Transcript
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage
from tests.support.mock_provider import CannedServer, LlmockServer, answer
from tests.support.wire_calls import FIND, LABEL, conversation, endpoint, opened


def llmock(server: LlmockServer, **changes: Any) -> Endpoint:
    return endpoint(server.url, **{"base_url": f"{server.url}/anthropic", **changes})


def canned(server: CannedServer, **changes: Any) -> Endpoint:
    return endpoint(server.url, **{"base_url": server.url, **changes})


async def ask(to: Endpoint, transcript: Transcript, *tools: ToolSpec, **options: Any) -> ModelReply:
    async with opened(open_wire, to) as wire:
        return await wire.send(WireRequest(transcript.messages, tools, **options))


def message(*content: dict[str, Any], stop_reason: str | None = "end_turn", **fields: Any) -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "test-model"}
    return {**head, "content": list(content), "stop_reason": stop_reason, "stop_sequence": None, **fields}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str | None, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "find_parcels", "input": arguments}


def thought(words: str, signature: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": signature}


def user(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def assistant(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


FIRST = user(text("Where is my parcel?"))


async def test_plain_text_comes_back_with_its_usage(llmock_server: LlmockServer):
    llmock_server.queue({"type": "reply", "text": "On its way."})
    reply = await ask(llmock(llmock_server), conversation())
    assert (reply.content, reply.tool_calls, reply.finish) == ("On its way.", [], "stop")
    assert reply.native_assistant_payload == [text("On its way.")]
    assert reply.native_payload_format == "anthropic_messages_v1"
    assert reply.usage == Usage(9, 2, 11, calls=1)
    assert llmock_server.requests()[-1]["path"] == "/anthropic/v1/messages"
    assert llmock_server.body() == {
        "model": "test-model",
        "system": "You run a post office.",
        "messages": [FIRST],
        "max_tokens": 16384,
    }


async def test_settings_of_the_endpoint_are_sent_and_sampling_is_not(llmock_server: LlmockServer):
    parameters = {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}, "mode": "new"}
    to = llmock(llmock_server, parameters=parameters, max_output_tokens=300, sampling=True)
    await ask(to, conversation(), FIND, temperature=0.0, seed=7)
    body = llmock_server.body()
    tool = {"name": FIND.name, "description": FIND.description, "input_schema": FIND.input_schema}
    assert {key: body[key] for key in parameters} == parameters
    assert (body["max_tokens"], body["tools"]) == (300, [tool])
    assert not {"temperature", "seed", "top_p"} & body.keys()


async def test_a_limit_that_the_sdk_would_only_stream_is_sent(llmock_server: LlmockServer):
    await ask(llmock(llmock_server, max_output_tokens=128_000), conversation())
    assert llmock_server.body()["max_tokens"] == 128_000


async def test_a_schema_is_sent_as_output_format_beside_the_effort(llmock_server: LlmockServer):
    schema = {"type": "object", "properties": {"ok": {"type": ["boolean", "null"]}}, "required": ["ok"]}
    to = llmock(llmock_server, parameters={"output_config": {"effort": "low"}})
    await ask(to, conversation(), schema=schema)
    form = {"type": "json_schema", "schema": schema}
    assert llmock_server.body()["output_config"] == {"format": form, "effort": "low"}


async def test_a_provider_without_structured_output_gets_no_schema(llmock_server: LlmockServer):
    await ask(llmock(llmock_server, structured_output=False), conversation(), schema={"type": "object"})
    assert "output_config" not in llmock_server.body()


async def test_results_of_tools_and_what_the_user_says_next_are_one_turn(llmock_server: LlmockServer):
    calls = [
        {"name": "find_parcels", "arguments": {"city": "Zürich"}},
        {"name": "print_label", "arguments": {}},
    ]
    llmock_server.queue({"type": "reply", "text": "I look.", "tool_calls": calls})
    transcript = conversation()
    reply = await ask(llmock(llmock_server), transcript, FIND, LABEL)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [
        ("find_parcels", {"city": "Zürich"}),
        ("print_label", {}),
    ]
    assert (reply.content, reply.finish) == ("I look.", "tool_calls")
    first, second = reply.tool_calls
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(first, '{"count": 0}', False)
    transcript.tool(second, "the printer is off", True)
    transcript.user("Any news?")
    await ask(llmock(llmock_server), transcript, FIND, LABEL)
    assert llmock_server.body()["messages"] == [
        FIRST,
        {"role": "assistant", "content": reply.native_assistant_payload},
        user(
            {"type": "tool_result", "tool_use_id": first.id, "content": '{"count": 0}'},
            {
                "type": "tool_result",
                "tool_use_id": second.id,
                "content": "the printer is off",
                "is_error": True,
            },
            text("Any news?"),
        ),
    ]


async def test_thinking_and_its_signatures_go_back_unchanged(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    content = [
        thought("Look first.", "EqQB+/sig=="),
        {"type": "redacted_thinking", "data": "sealed+/=="},
        thought("", "second=="),
        {**text("One moment."), "citations": None},
        {**call("toolu_1", {"city": "Bern", "n": 1.0}), "caller": {"type": "direct"}},
    ]
    canned_server.queue(answer(message(*content, stop_reason="tool_use")))
    transcript = conversation()
    reply = await ask(canned(canned_server), transcript)
    assert (reply.reasoning_content, reply.content) == ("Look first.", "One moment.")
    assert reply.native_assistant_payload == content
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(reply.tool_calls[0], "{}", False)
    stored = [Message.model_validate_json(message.model_dump_json()) for message in transcript.messages]
    async with opened(open_wire, llmock(llmock_server)) as wire:
        await wire.send(WireRequest(stored))
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "{}"}
    assert llmock_server.body()["messages"] == [FIRST, assistant(*content), user(result)]


async def test_a_dropped_call_and_blank_text_stay_away(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    content = [thought("a", "s=="), text("\n\n"), call("c1", {"city": "Bern"}), call("c2", {})]
    canned_server.queue(answer(message(*content, stop_reason="tool_use")))
    transcript = conversation()
    reply = await ask(canned(canned_server), transcript)
    transcript.assistant(reply, reply.tool_calls[:1])
    transcript.tool(reply.tool_calls[0], "{}", False)
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["messages"][1] == assistant(content[0], content[2])


async def test_the_user_says_go_on_wherever_the_assistant_speaks_twice_or_last(llmock_server: LlmockServer):
    transcript = conversation()
    transcript.messages += [Message(role="assistant", content=words) for words in ("I look.", "", "I print.")]
    await ask(llmock(llmock_server), transcript)
    go_on = user(text("Continue."))
    assert llmock_server.body()["messages"] == [
        FIRST,
        assistant(text("I look.")),
        go_on,
        assistant(text("I print.")),
        go_on,
    ]


async def test_a_conversation_that_the_assistant_began_has_a_word_of_the_user_before_it(
    llmock_server: LlmockServer,
):
    transcript = conversation()
    transcript.messages[1:] = [
        Message(role="assistant", content="Hello."),
        Message(role="user", content="Hi."),
        Message(role="user", content="Well?"),
    ]
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["messages"] == [
        user(text("Continue.")),
        assistant(text("Hello.")),
        user(text("Hi."), text("Well?")),
    ]


async def test_turns_of_other_providers_are_written_anew(llmock_server: LlmockServer):
    transcript = conversation()
    calls = [
        ToolCall(id="c1", name="find_parcels", arguments={"city": "Bern"}),
        ToolCall(id="c2", name="find_parcels", parse_error="arguments are not JSON"),
    ]
    foreign = {"native_assistant_payload": [{"type": "reasoning"}], "native_payload_format": "other_v1"}
    transcript.messages += [
        Message(role="assistant", content="Looking.", tool_calls=calls, **foreign),
        Message(role="tool", content=None, tool_call_id="c1"),
        Message(role="tool", content="no", tool_call_id="c2", tool_error=True),
    ]
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["messages"][1:] == [
        assistant(text("Looking."), call("c1", {"city": "Bern"}), call("c2", {})),
        user(
            {"type": "tool_result", "tool_use_id": "c1", "content": ""},
            {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True},
        ),
    ]


async def test_an_endpoint_may_mark_payloads_its_own_way(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    canned_server.queue(answer(message(thought("a", "s=="), text("Hi."))))
    transcript = conversation()
    reply = await ask(canned(canned_server, payload_format="gateway_v1"), transcript)
    assert reply.native_payload_format == "gateway_v1"
    transcript.assistant(reply, None)
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["messages"][1] == assistant(text("Hi."))


ARGUMENTS: list[tuple[Any, dict[str, Any], str | None]] = [
    ({"city": "Bern"}, {"city": "Bern"}, None),
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
    canned_server.queue(answer(message(call("c1", sent), stop_reason="tool_use")))
    transcript = conversation()
    reply = await ask(canned(canned_server), transcript)
    assert [(call.arguments, call.parse_error) for call in reply.tool_calls] == [(read, problem)]
    transcript.assistant(reply, reply.tool_calls)
    transcript.tool(reply.tool_calls[0], "{}", False)
    await ask(llmock(llmock_server), transcript)
    assert llmock_server.body()["messages"][1] == assistant(call("c1", read))


async def test_calls_without_an_id_of_their_own_get_one_that_their_results_can_name(
    canned_server: CannedServer, llmock_server: LlmockServer
):
    content = [call(None, {}), call("c1", {}), call("c1", {})]
    canned_server.queue(answer(message(*content, stop_reason="tool_use")))
    transcript = conversation()
    reply = await ask(canned(canned_server), transcript)
    ids = [call.id for call in reply.tool_calls]
    assert len(set(ids)) == 3
    assert ids[1] == "c1"
    transcript.assistant(reply, reply.tool_calls)
    await ask(llmock(llmock_server), transcript)
    assert [block["id"] for block in llmock_server.body()["messages"][1]["content"]] == ids


async def test_text_that_no_encoding_can_carry_is_replaced(canned_server: CannedServer):
    canned_server.queue(answer(json.dumps(message(text("broken \ud83d"))).encode()))
    assert (await ask(canned(canned_server), conversation())).content == "broken ?"


async def test_llmock_cuts_a_reply_short(llmock_server: LlmockServer):
    llmock_server.queue({"type": "reply", "text": "It is", "finish_reason": "length"})
    reply = await ask(llmock(llmock_server), conversation())
    assert (reply.finish, reply.content) == ("length", "It is")


FINISHES: list[tuple[dict[str, Any], str, str | None]] = [
    (message(text("a"), text("b")), "stop", "ab"),
    (message(text("a"), stop_reason="stop_sequence"), "stop", "a"),
    (message(text("a"), stop_reason="a_new_reason"), "stop", "a"),
    (message(text("a"), stop_reason="max_tokens"), "length", "a"),
    (message(text("a"), stop_reason="model_context_window_exceeded"), "length", "a"),
    (message(call("c1", {}), stop_reason="max_tokens"), "length", None),
    (message(stop_reason="refusal", stop_details={"type": "refusal"}), "refusal", None),
    (message(call("c1", {}), stop_reason="tool_use"), "tool_calls", None),
    (message(), "stop", None),
    (message(thought("a", "s==")), "stop", None),
]


async def test_every_way_to_end_is_told(canned_server: CannedServer):
    async with opened(open_wire, canned(canned_server)) as wire:
        for body, finish, content in FINISHES:
            canned_server.queue(answer(body))
            reply = await wire.send(WireRequest(conversation().messages))
            assert (reply.finish, reply.content) == (finish, content)
            assert reply.is_empty == (content is None and not reply.tool_calls)


async def test_a_reply_that_broke_off_is_retryable(canned_server: CannedServer):
    canned_server.queue(answer(message(text("It is"), stop_reason=None)))
    with pytest.raises(WireError, match="no stop reason") as caught:
        await ask(canned(canned_server), conversation())
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("content", "place"),
    [(None, "content"), ([{"text": "no type"}], "content.0.type"), ([text("a") | {"text": 1}], "content.0")],
)
async def test_a_reply_that_is_no_message_is_retryable(content: Any, place: str, canned_server: CannedServer):
    canned_server.queue(answer(message() | {"content": content}))
    with pytest.raises(WireError, match=f"malformed reply: {place}") as caught:
        await ask(canned(canned_server), conversation())
    assert caught.value.retryable


OVERFLOWS = [
    "prompt is too long: 208310 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000",
]


@pytest.mark.parametrize("words", OVERFLOWS)
async def test_a_context_overflow_is_known_by_its_words(words: str, llmock_server: LlmockServer):
    llmock_server.queue({"type": "fail", "status": 400, "message": words})
    with pytest.raises(ContextOverflow) as caught:
        await ask(llmock(llmock_server), conversation())
    assert str(caught.value) == words


USAGES: list[tuple[dict[str, Any] | None, Usage | None]] = [
    (None, None),
    (
        {
            "input_tokens": 10,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 26,
            "output_tokens": 20,
            "output_tokens_details": {"thinking_tokens": 15},
        },
        Usage(100, 20, 120, cached_tokens=64, reasoning_tokens=15, calls=1),
    ),
    ({"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": None}, Usage(5, 2, 7, calls=1)),
]


async def test_usage_is_read_into_the_common_counters(canned_server: CannedServer):
    async with opened(open_wire, canned(canned_server)) as wire:
        for reported, usage in USAGES:
            canned_server.queue(answer(message(text("hi"), usage=reported)))
            assert (await wire.send(WireRequest(conversation().messages))).usage == usage
