"""Every word of a provider for a fault, statuses, ids, and the edges of keys, waits and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from atr_client.errors import WireError
from atr_client.models.base import ModelReply
from atr_client.models.call_ids import is_renamed, unique_id
from atr_client.models.guess import guessed_usage
from atr_client.models.retry import RetryPolicy, with_retries
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wires import openai_chat
from atr_data.trajectory import Message, ToolCall
from tests.support.mock_provider import CannedServer, answer
from tests.support.strict_provider import MISSING, reply_of
from tests.support.wire_calls import FIND, conversation, endpoint, opened

ASK = WireRequest(conversation().messages)

STATUS_OF: dict[str, int] = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "INVALID_ARGUMENT": 400,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "UNAUTHENTICATED": 401,
    "insufficient_quota": 402,
    "billing_error": 402,
    "permission_error": 403,
    "PERMISSION_DENIED": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "NOT_FOUND": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "RESOURCE_EXHAUSTED": 429,
    "api_error": 500,
    "server_error": 500,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "vector_store_timeout": 504,
    "DEADLINE_EXCEEDED": 504,
    "overloaded_error": 529,
}
FINAL = {401, 402, 403, 404}
AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 529}


async def faults(to: Endpoint, count: int) -> list[WireError]:
    found: list[WireError] = []
    async with opened(openai_chat.open_wire, to) as wire:
        for _ in range(count):
            with pytest.raises(WireError) as caught:
                await wire.send(ASK)
            found.append(caught.value)
    return found


async def test_every_word_for_a_fault_stands_for_a_status(canned_server: CannedServer) -> None:
    canned_server.queue(*(answer({"error": {"message": "m", "code": word}}) for word in STATUS_OF))
    found = await faults(endpoint(canned_server.url), len(STATUS_OF))
    told = {word: (e.status, e.final, e.retryable) for word, e in zip(STATUS_OF, found, strict=True)}
    assert told == {word: (code, code in FINAL, code in AGAIN) for word, code in STATUS_OF.items()}


async def test_every_status_is_final_or_worth_another_try_or_neither(canned_server: CannedServer) -> None:
    codes = sorted(
        {neighbour for code in FINAL | AGAIN for neighbour in (code - 1, code, code + 1)} - {399, 407}
    )
    canned_server.queue(*(answer({"error": {"message": "m"}}, code) for code in codes))
    found = await faults(endpoint(canned_server.url), len(codes))
    assert {e.status for e in found if e.final} == FINAL
    assert {e.status for e in found if e.retryable} == AGAIN


@pytest.mark.parametrize(("key", "shown"), [("abcdefgh", "[key]"), ("abcdefg", "abcdefg")])
async def test_a_key_of_eight_signs_is_hidden(key: str, shown: str, canned_server: CannedServer) -> None:
    canned_server.queue(answer({"error": {"message": f"bad {key}!"}}, 400))
    (error,) = await faults(replace(endpoint(canned_server.url), api_key=key), 1)
    assert str(error) == f"bad {shown}!"


@pytest.mark.parametrize(
    ("parameters", "sent"),
    [
        ({"response_format": {"strict": 1}}, {"type": "json_schema", "strict": 1}),
        ({"response_format": "text"}, "text"),
        ({"response_format": None}, None),
        ({"top_p": {"a": 1}}, {"type": "json_schema"}),
    ],
)
async def test_objects_among_parameters_are_merged_and_all_else_replaces(
    parameters: dict[str, Any], sent: Any, canned_server: CannedServer
) -> None:
    canned_server.queue(answer(reply_of("openai_chat", content="{}")))
    async with opened(openai_chat.open_wire, endpoint(canned_server.url, parameters=parameters)) as wire:
        await wire.send(replace(ASK, schema={"type": "object"}))
    body = canned_server.bodies[-1]
    found = body["response_format"]
    assert ({key: found[key] for key in sent} if isinstance(sent, dict) else found) == sent
    assert body.get("top_p") == parameters.get("top_p")


@pytest.mark.parametrize(
    ("total", "expected"), [(130, 130), (0, 120), (None, 120), (-5, 120), (MISSING, 120)]
)
async def test_a_total_is_the_providers_where_it_says_one(
    total: Any, expected: int, canned_server: CannedServer
) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": total}
    usage = {name: count for name, count in usage.items() if count is not MISSING}
    canned_server.queue(answer(reply_of("openai_chat", content="Hi.", usage=usage)))
    async with opened(openai_chat.open_wire, endpoint(canned_server.url)) as wire:
        found = (await wire.send(ASK)).usage
    assert found and found.total_tokens == expected


@pytest.mark.parametrize(
    ("taken", "call_id"), [([], "a"), (["b"], "a"), (["a"], "a_again_1"), (["a", "a_again_1"], "a_again_2")]
)
def test_an_id_that_is_taken_gets_the_next_mark(taken: Sequence[str], call_id: str) -> None:
    assert unique_id("a", taken) == call_id
    assert is_renamed(call_id) is ("a" in taken)


@pytest.mark.parametrize("call_id", ["a_again", "a_again_x", "a_again_1b", "again_1"])
def test_other_ids_are_not_renamed(call_id: str) -> None:
    assert is_renamed(call_id) is False


async def test_a_policy_waits_by_itself_and_its_numbers_are_known() -> None:
    assert RetryPolicy() == RetryPolicy(attempts=10, first=2.0, longest=90.0, longest_asked=300.0)
    errors = [WireError("busy", retryable=True)]

    async def call() -> str:
        if errors:
            raise errors.pop()
        return "fine"

    assert await with_retries(call, RetryPolicy(first=0.001, longest=0.002), model="m") == "fine"


def test_a_guess_counts_all_that_was_sent_and_came() -> None:
    def sent(*messages: Message, **fields: Any) -> int:
        return guessed_usage(WireRequest(messages, **fields), ModelReply()).prompt_tokens

    assert [sent(Message(role="user", content="x" * n)) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert sent(Message(role="assistant", reasoning_content="x" * 8)) == 2
    call = ToolCall(id="c", name="look", arguments={"a": 1})
    assert sent(Message(role="assistant", tool_calls=[call, call])) == (2 * (4 + len('{"a": 1}')) + 3) // 4
    assert sent(tools=[FIND]) > (len(FIND.name) + len(FIND.description)) // 4
    came = guessed_usage(WireRequest([]), ModelReply("x" * 4, [call], reasoning_content="y" * 4))
    assert (came.prompt_tokens, came.completion_tokens) == (0, 5)
    assert (came.total_tokens, came.calls) == (5, 1)
