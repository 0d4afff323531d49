"""What came goes back in its place and under its own name, and what a provider's servers want beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from atr_client.models.catalogue import packaged_catalogue
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wires.openai_chat import open_wire
from atr_client.session.transcript import Transcript
from atr_client.sweep.config import RunConfig
from atr_client.sweep.registry import RemoteEntry, chosen_models
from tests.support.command import call, only_row, trajectories, write_config
from tests.support.mock_provider import Answer, CannedServer, answer
from tests.support.provider_script import short_quickstart
from tests.support.wire_calls import conversation, endpoint, opened


def completion(message: Mapping[str, Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def call_of(call_id: str, name: str = "find_parcels", arguments: str = "{}", **beside: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **beside}


async def second_request(
    server: CannedServer, message: dict[str, Any], **endpoint_fields: Any
) -> dict[str, Any]:
    """The assistant's message in the request after a reply."""
    fields = {"base_url": f"{server.url}/v1", **endpoint_fields}
    server.queue(answer(completion(message)), answer(completion({"content": "Done."})))
    transcript: Transcript = conversation()
    async with opened(open_wire, endpoint(server.url, **fields)) as wire:
        reply = await wire.send(WireRequest(transcript.messages))
        transcript.assistant(reply, reply.tool_calls or None)
        for sent in reply.tool_calls:
            transcript.tool(sent, "{}", False)
        transcript.user("And?")
        await wire.send(WireRequest(transcript.messages))
    return server.bodies[-1]["messages"][2]


SIGNED = {"google": {"thought_signature": "c2lnbmVk"}}
DETAILS = [{"type": "reasoning.encrypted", "data": "sealed", "index": 0}]
FAITHFUL: dict[str, dict[str, Any]] = {
    "signature_on_a_call": {"content": None, "tool_calls": [call_of("c1", extra_content=SIGNED)]},
    "field_of_a_function": {
        "content": None,
        "tool_calls": [call_of("c1") | {"function": {"name": "f", "arguments": "{}", "signature": "s"}}],
    },
    "reasoning_details": {"content": "Hm.", "reasoning": "Look.", "reasoning_details": DETAILS},
    "reasoning_content": {"content": "Hm.", "reasoning_content": "Look."},
    "both_names": {"content": "Hm.", "reasoning_content": "Look.", "reasoning": "Look."},
    "field_nobody_knows": {"content": "Hm.", "x_state": {"deep": [1, None, "z"]}},
    "parts_with_thinking": {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Look."}], "closed": True},
            {"type": "text", "text": "Hm."},
        ]
    },
}


@pytest.mark.parametrize("message", FAITHFUL.values(), ids=FAITHFUL)
async def test_a_reply_goes_back_as_it_came_unless_that_is_switched_off(
    message: dict[str, Any], canned_server: CannedServer
):
    assert await second_request(canned_server, message) == {"role": "assistant", **message}
    plain = await second_request(canned_server, message, faithful_replay=False)
    assert plain.keys() <= {"role", "content", "tool_calls"}
    assert plain["content"] in ("Hm.", None)
    for sent in plain.get("tool_calls") or ():
        assert sent.keys() == {"id", "type", "function"}
        assert sent["function"].keys() == {"name", "arguments"}


async def test_nulls_and_fields_that_no_server_takes_back_stay_away(canned_server: CannedServer):
    odd = {"refusal": None, "annotations": [], "audio": None, "function_call": None, "x": None}
    sent = await second_request(canned_server, {"content": "Hm.", "reasoning": None, **odd})
    assert sent == {"role": "assistant", "content": "Hm."}


async def test_numbers_that_json_has_no_word_for_go_back_as_null(canned_server: CannedServer):
    sent = await second_request(
        canned_server, {"content": "Hm.", "x_score": {"p": float("nan"), "n": 10**500}}
    )
    assert sent["x_score"] == {"p": None, "n": None}


@pytest.mark.parametrize(
    ("model", "messages", "marks"),
    [
        ("gemini-3-flash", [[None]], [[True]]),
        ("google/gemini-3-pro", [[None, None], ["s"]], [[True, True], [False]]),
        ("test-model", [["s", None], [None]], [[False, False], [True]]),
        ("test-model", [[None]], [[False]]),
    ],
)
async def test_calls_that_gemini_left_unsigned_get_the_documented_mark(
    model: str, messages: list[list[str | None]], marks: list[list[bool]], canned_server: CannedServer
):
    """Behind a gateway it is Gemini by its name, or because it signed another call."""
    transcript = conversation()
    to = Endpoint(model, "none", f"{canned_server.url}/v1")
    async with opened(open_wire, to) as wire:
        for turn, signatures in enumerate(messages):
            calls = [call_of(f"c{turn}_{n}") for n in range(len(signatures))]
            for unsigned, signature in zip(calls, signatures, strict=True):
                if signature:
                    unsigned["extra_content"] = {"google": {"thought_signature": signature}}
            canned_server.queue(answer(completion({"content": None, "tool_calls": calls})))
            reply = await wire.send(WireRequest(transcript.messages))
            transcript.assistant(reply, reply.tool_calls)
            for sent in reply.tool_calls:
                transcript.tool(sent, "{}", False)
        canned_server.queue(answer(completion({"content": "Done."})))
        await wire.send(WireRequest(transcript.messages))
    mark = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    sent_messages = [m for m in canned_server.bodies[-1]["messages"] if m["role"] == "assistant"]
    found = [[c.get("extra_content") == mark for c in m["tool_calls"]] for m in sent_messages]
    assert found == marks


async def test_the_mark_leaves_reasoning_details_alone(canned_server: CannedServer):
    """OpenRouter keeps the signatures there."""
    message = {"content": None, "reasoning_details": DETAILS, "tool_calls": [call_of("c1")]}
    sent = await second_request(canned_server, message)
    assert "extra_content" not in sent["tool_calls"][0]
    to = Endpoint("google/gemini-3-pro", "none", f"{canned_server.url}/v1")
    transcript = conversation()
    canned_server.queue(*[answer(completion(message))] * 2)
    async with opened(open_wire, to) as wire:
        reply = await wire.send(WireRequest(transcript.messages))
        transcript.assistant(reply, reply.tool_calls)
        transcript.tool(reply.tool_calls[0], "{}", False)
        await wire.send(WireRequest(transcript.messages))
    assert "extra_content" not in canned_server.bodies[-1]["messages"][2]["tool_calls"][0]


PARTS: list[tuple[Any, str | None, str | None]] = [
    ([{"type": "text", "text": "On "}, {"type": "text", "text": "its way."}], "On its way.", None),
    ([{"type": "thinking", "thinking": "Look."}, {"type": "text", "text": "Hm."}], "Hm.", "Look."),
    ([{"type": "thinking", "thinking": [{"type": "text", "text": "Look."}]}], None, "Look."),
    ([{"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "Hm."}], "Hm.", None),
    ([{"type": "text", "text": None}, {"type": "text"}], None, None),
    ([], None, None),
]


async def test_content_may_come_in_parts(canned_server: CannedServer):
    async with opened(open_wire, endpoint(canned_server.url)) as wire:
        for content, text, reasoning in PARTS:
            canned_server.queue(answer(completion({"content": content})))
            reply = await wire.send(WireRequest(conversation().messages))
            assert (reply.content, reply.reasoning_content) == (text, reasoning)
            assert reply.is_empty == (text is None)


async def test_parts_go_back_as_text_where_a_server_wants_text(canned_server: CannedServer):
    thinking = {"content": [{"type": "thinking", "thinking": "Look."}, {"type": "text", "text": "Hm."}]}
    sent = await second_request(canned_server, thinking, content_parts="text")
    assert sent == {"role": "assistant", "content": "Hm."}
    text_alone = {"content": [{"type": "text", "text": "Hm."}]}
    assert (await second_request(canned_server, text_alone))["content"] == "Hm."


def mistral(server: CannedServer, reply: Mapping[str, Any]) -> Answer:
    """Mistral's server, which refuses what it does not know or expect."""

    def problems(body: Mapping[str, Any]) -> Iterator[str]:
        unknown = body.keys() - {"model", "messages", "tools", "temperature", "random_seed", "max_tokens"}
        if unknown:
            yield f"Extra inputs are not permitted: {unknown}"
        roles = [message["role"] for message in body["messages"]]
        for before, role in pairwise(roles):
            if before == "tool" and role == "user":
                yield "Unexpected role 'user' after role 'tool'"
        if roles[-1] not in ("user", "tool"):
            yield f"Expected last role User or Tool, got {roles[-1]}"
        for message in body["messages"]:
            ids = [sent["id"] for sent in message.get("tool_calls") or ()]
            for call_id in [*ids, *filter(None, [message.get("tool_call_id")])]:
                if not re.fullmatch(r"[a-zA-Z0-9]{9}", call_id):
                    yield f"Tool call id was {call_id} but must be a-z, A-Z, 0-9, with a length of 9"

    def send(handler: BaseHTTPRequestHandler) -> None:
        found = list(problems(server.bodies[-1]))
        refusal = {"object": "error", "message": "; ".join(found), "type": "invalid_request_error"}
        answer(refusal if found else reply, 422 if found else 200)(handler)

    return send


def test_a_learning_session_with_mistral_comes_to_its_end(
    tmp_path: Path, canned_server: CannedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "sk-sentinel-0123456789")
    monkeypatch.setenv("MISTRAL_BASE_URL", f"{canned_server.url}/v1")
    episodes = short_quickstart(tmp_path / "episodes", learning=1, tests=slice(0, 1))
    words = json.dumps({"output": "Done, I think.", "reason": "tell"})
    said = call_of("Ab3dEf6h9", "send_to_user", words)
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Send."}]}
    sends = {"content": [thought, {"type": "text", "text": "So."}], "tool_calls": [said]}
    finish = {"content": "", "tool_calls": [call_of("", "finish_session")]}
    canned_server.queue(
        mistral(canned_server, completion({"content": "Hello?"})),
        *[mistral(canned_server, completion(sends))] * 3,
    )
    config = write_config(
        tmp_path, models=["mistral/magistral-small"], limits={"max_steps": 4, "call_attempts": 1}
    )
    places = ["--config", config, "--episodes", episodes, "--outputs", tmp_path / "outputs"]
    canned_server.queue(mistral(canned_server, completion(finish)))
    assert call("run", *places, "--no-progress") == 0, trajectories(tmp_path / "outputs")
    assert only_row(tmp_path / "outputs")["n_learning"] == 1
    learned = canned_server.bodies[3]["messages"]
    assert "".join(message["role"][0] for message in learned) == "suauatauatau"
    assert learned[4]["content"] == sends["content"]
    assert learned[6] == {"role": "assistant", "content": "Noted."}
    assert canned_server.bodies[0]["random_seed"] == 0


OPTIONS: dict[str, Any] = {
    "aliases": ["m"],
    "base_url_env": "LAB_URL",
    "sampling": False,
    "max_output_tokens": 9,
    "payload_format": "lab_v1",
    "faithful_replay": False,
    "structured_output": False,
    "echo_reasoning": "always",
    "content_parts": "text",
    "call_ids": "short",
    "seed_name": "random_seed",
    "prompts_after_text": False,
    "user_after_tool": "bridged",
    "context": 1000,
    "price": {"input": 1.0, "output": 2.0, "cached_input": None},
    "key": "LAB_API_KEY",
    "base_url": "http://127.0.0.1:9/v1",
    "model": "big",
    "wire": "openai_chat",
    "reasoning": {"on": {"effort": 3}, "off": {}, "unset": {"effort": 0}},
}


def test_whatever_the_registry_can_say_of_a_model_an_entry_of_the_run_can_say() -> None:
    here = {"name": "x", "variants": ["atr"], "models": [{"id": "lab/m1", **OPTIONS}]}
    there = {**here, "models": ["lab/m1"], "registry": {"models": {"lab/m1": OPTIONS}}}
    ((one,), (other,)) = (chosen_models(RunConfig.model_validate(config)) for config in (here, there))
    assert isinstance(one, RemoteEntry) and isinstance(other, RemoteEntry)
    assert one.spec.model == other.spec.model
    said = one.spec.model.entry.model_dump()
    assert {name: said[name] for name in OPTIONS.keys() & said.keys()} == {
        name: value for name, value in OPTIONS.items() if name in said
    }
    assert OPTIONS.keys() - said.keys() == {"aliases", "model"}
    environment = {"LAB_API_KEY": "none", "LAB_URL": "http://127.0.0.1:8/v1"}
    reached = one.spec.endpoint(environment, timeout=1)
    assert reached.parameters == {"effort": 3}
    assert (reached.base_url, reached.model, reached.seed_name) == (
        "http://127.0.0.1:8/v1",
        "big",
        "random_seed",
    )


@pytest.mark.parametrize(
    ("reasoning", "position", "parameters"),
    [("off", "off", {"a": 2}), (None, None, {}), ({"on": {"b": 1}}, "on", {"b": 1})],
)
def test_reasoning_of_an_entry_is_a_position_or_the_switch(
    reasoning: Any, position: str | None, parameters: dict[str, int]
) -> None:
    registry = {"models": {"lab/m1": {"wire": "google", "reasoning": {"on": {"a": 1}, "off": {"a": 2}}}}}
    models = [{"id": "lab/m1", "reasoning": reasoning}]
    config = RunConfig.model_validate(
        {"name": "x", "variants": ["atr"], "models": models, "registry": registry}
    )
    (entry,) = chosen_models(config)
    assert isinstance(entry, RemoteEntry)
    assert entry.reasoning == position
    assert entry.spec.endpoint({}, timeout=1).parameters == parameters


@pytest.mark.parametrize(
    ("alias", "echo"),
    [("deepseek-v4-pro", "tool_turns"), ("MiniMax-M2.7", "always"), ("qwen3.6-plus", "never")],
)
def test_the_papers_models_echo_reasoning_as_they_were_run(alias: str, echo: str) -> None:
    assert packaged_catalogue().find(alias).entry.echo_reasoning == echo
    assert packaged_catalogue().find("openrouter/any/model").entry.echo_reasoning == "as_sent"


def test_what_decides_how_a_conversation_is_sent_makes_another_model_of_it() -> None:
    def digest(**said: Any) -> str:
        config = {"name": "x", "variants": ["atr"], "models": [{"id": "lab/m1", "wire": "google", **said}]}
        (entry,) = chosen_models(RunConfig.model_validate(config))
        return entry.identity.sha256

    # The address is gated by itself, as the manifest names it.
    same = {"aliases", "key", "base_url", "base_url_env", "context", "price", "wire"}
    for name, value in OPTIONS.items():
        assert (digest(**{name: value} if name != "wire" else {}) == digest()) == (name in same), name
