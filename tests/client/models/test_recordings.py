"""What a store of recorded calls holds, which request it answers, and what it says when it has none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atr_client.errors import ConfigError, ContextOverflow, DamagedRecording, NotRecorded, WireError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.recording import CallSite, Live, Recording, Replay, chosen_exchanges
from atr_client.models.wire import WireRequest
from atr_data.trajectory import Message, ToolCall

SITE = CallSite("cell/x", "s1", "agent")
ASK = WireRequest([Message(role="system", content="s"), Message(role="user", content="hi", turn_idx=1)])


async def never() -> ModelReply:
    raise AssertionError("the model is not asked")


async def recorded(folder: Path, site: CallSite, *turns: tuple[WireRequest, str | Exception]) -> None:
    store = Recording(folder)
    for request, answer in turns:

        async def live(answer: str | Exception = answer) -> ModelReply:
            if isinstance(answer, Exception):
                raise answer
            return ModelReply(answer)

        with suppress(ContextOverflow):
            await store.exchange(site, "m", request, live)


async def replayed(folder: Path, site: CallSite, *requests: WireRequest) -> list[str | None]:
    store = Replay(folder)
    return [(await store.exchange(site, "m", request, never)).content for request in requests]


TOOL = ToolSpec("look", "Looks.", {"type": "object"})


def after(*messages: Message) -> WireRequest:
    return replace(ASK, messages=[*ASK.messages, *messages])


def calling(**fields: Any) -> WireRequest:
    call = ToolCall(**{"id": "a", "name": "n", **fields})
    return after(Message(role="assistant", tool_calls=[call]))


OTHER: Sequence[WireRequest] = (
    replace(ASK, messages=[ASK.messages[0], Message(role="user", content="ho", turn_idx=1)]),
    replace(ASK, messages=[ASK.messages[0], Message(role="assistant", content="hi", turn_idx=1)]),
    after(Message(role="assistant", content="x")),
    after(Message(role="assistant", content="x", reasoning_content="r")),
    after(Message(role="assistant", content="x", native_assistant_payload=[1])),
    after(Message(role="assistant", content="x", native_payload_format="f")),
    after(Message(role="tool", content="x", tool_call_id="a")),
    after(Message(role="tool", content="x", tool_call_id="b")),
    after(Message(role="tool", content="x", tool_call_id="a", tool_error=True)),
    calling(),
    calling(id="b"),
    calling(name="o"),
    calling(arguments={"x": 1}),
    calling(parse_error="e"),
    replace(ASK, tools=[TOOL]),
    replace(ASK, tools=[replace(TOOL, description="Looks on.")]),
    replace(ASK, schema={"type": "object"}),
    replace(ASK, temperature=0.0),
    replace(ASK, seed=0),
)


async def test_whatever_a_model_would_be_sent_makes_another_request_of_it(tmp_path: Path) -> None:
    requests = [ASK, *OTHER]
    await recorded(tmp_path, SITE, *((request, str(n)) for n, request in enumerate(requests)))
    assert await replayed(tmp_path, SITE, *reversed(requests)) == [
        str(number) for number in reversed(range(len(requests)))
    ]
    with pytest.raises(NotRecorded):
        await Replay(tmp_path).exchange(SITE, "another model", ASK, never)


async def test_times_make_no_other_request_and_a_retry_has_the_next_answer(tmp_path: Path) -> None:
    later = [message.model_copy(update={"timestamp": "2031", "turn_idx": 9}) for message in ASK.messages]
    await recorded(tmp_path, SITE, (ASK, "one"), (ASK, "two"))
    again = replace(ASK, messages=later)
    assert await replayed(tmp_path, SITE, ASK, again) == ["one", "two"]
    with pytest.raises(
        NotRecorded, match="agent call of session s1 is not in the store: the same request was"
    ):
        await replayed(tmp_path, SITE, ASK, ASK, ASK)
    with pytest.raises(NotRecorded, match="recorded 2 times only"):
        await replayed(tmp_path, SITE, ASK, ASK, ASK)


async def test_a_session_that_is_run_again_is_recorded_again_and_others_stay(tmp_path: Path) -> None:
    other = replace(SITE, session_id="s2")
    await recorded(tmp_path, SITE, (ASK, "old"), (ASK, "older"))
    await recorded(tmp_path, other, (ASK, "other"))
    await recorded(tmp_path, SITE, (ASK, "new"))
    assert await replayed(tmp_path, SITE, ASK) == ["new"]
    assert await replayed(tmp_path, other, ASK) == ["other"]
    with pytest.raises(NotRecorded):
        await replayed(tmp_path, SITE, ASK, ASK)


async def test_what_is_not_in_a_store_is_said_beside_what_is_nearest(tmp_path: Path) -> None:
    with pytest.raises(NotRecorded, match=r"store, which holds no agent call for cell/x/s1$"):
        await replayed(tmp_path, SITE, ASK)
    far = replace(ASK, messages=[Message(role="system", content="other"), *OTHER[7].messages[1:]], seed=3)
    await recorded(tmp_path, SITE, (far, "far"), (OTHER[0], "near"), (replace(far, seed=4), "farther"))
    with pytest.raises(NotRecorded, match="which holds no router call for cell/x/s1"):
        await replayed(tmp_path, replace(SITE, role="router"), ASK)
    with pytest.raises(NotRecorded) as caught:
        await replayed(tmp_path, SITE, ASK)
    heading, *difference = str(caught.value).split("\n")
    assert heading == "agent call of session s1 is not in the store; the nearest recorded one differs:"
    assert difference[:2] == ["--- recorded", "+++ asked"]
    assert [line for line in difference[2:] if line[0] in "+-"] == [
        '-   "content": "ho",',
        '+   "content": "hi",',
    ]
    assert len(difference) == 7


async def test_of_a_long_difference_forty_lines_of_200_signs_are_shown(tmp_path: Path) -> None:
    long = [Message(role="user", content=f"{number} " * 200) for number in range(50)]
    await recorded(tmp_path, SITE, (ASK, "x"))
    with pytest.raises(NotRecorded) as caught:
        await replayed(tmp_path, SITE, replace(ASK, messages=long))
    _, *difference = str(caught.value).split("\n")
    assert len(difference) == 40 and max(map(len, difference)) == 200


async def test_each_session_has_its_own_count_of_a_request(tmp_path: Path) -> None:
    other = replace(SITE, session_id="s2")
    store = Recording(tmp_path)

    async def live() -> ModelReply:
        return ModelReply("x")

    for site in (SITE, other, SITE):
        await store.exchange(site, "m", ASK, live)
    again = Replay(tmp_path)
    for site in (SITE, other, SITE):
        assert (await again.exchange(site, "m", ASK, never)).content == "x"
    with pytest.raises(NotRecorded, match="recorded 1 times only"):
        await again.exchange(other, "m", ASK, never)


async def test_a_request_that_was_asked_too_often_is_said_to_be_so_whatever_else_was_recorded(
    tmp_path: Path,
) -> None:
    await recorded(tmp_path, SITE, (OTHER[0], "other"), (ASK, "x"), (OTHER[1], "another"))
    with pytest.raises(NotRecorded, match="the same request was recorded 1 times only"):
        await replayed(tmp_path, SITE, ASK, ASK)


@pytest.mark.parametrize("how", ["record", "replay"])
def test_a_path_that_no_system_takes_is_refused(how: str) -> None:
    stores = {"record": None, "replay": None, how: Path("a\0b")}
    with pytest.raises(ConfigError):
        chosen_exchanges(stores["record"], stores["replay"])


async def test_an_overflow_is_played_back_in_the_words_of_the_provider(tmp_path: Path) -> None:
    await recorded(tmp_path, SITE, (ASK, ContextOverflow("too many tokens")), (ASK, "fine"))
    store = Replay(tmp_path)
    with pytest.raises(ContextOverflow, match=r"^too many tokens$"):
        await store.exchange(SITE, "m", ASK, never)
    assert (await store.exchange(SITE, "m", ASK, never)).content == "fine"
    await recorded(tmp_path, SITE, (ASK, ContextOverflow("")))
    with pytest.raises(ContextOverflow, match="the conversation was too long"):
        await replayed(tmp_path, SITE, ASK)


async def test_a_call_that_failed_is_not_recorded(tmp_path: Path) -> None:
    async def fails() -> ModelReply:
        raise WireError("gone", retryable=False)

    with pytest.raises(WireError):
        await Recording(tmp_path).exchange(SITE, "m", ASK, fails)
    with pytest.raises(NotRecorded, match="holds no agent call"):
        await replayed(tmp_path, SITE, ASK)


async def test_tools_lie_once_in_a_store_and_none_lie_nowhere(tmp_path: Path) -> None:
    await recorded(tmp_path, SITE, (ASK, "x"))
    assert not (tmp_path / "tools").exists()
    await recorded(tmp_path, SITE, *[(replace(ASK, tools=[TOOL]), "x")] * 2)
    (path,) = (tmp_path / "tools").iterdir()
    assert json.loads(path.read_text()) == [
        {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
    ]


@pytest.mark.parametrize(
    "outcome", [{}, {"reply": {"content": "x"}, "context_overflow": "long"}, {"reply": None}]
)
async def test_a_line_without_exactly_one_outcome_is_damaged(tmp_path: Path, outcome: Any) -> None:
    await recorded(tmp_path, SITE, (ASK, "x"))
    path = tmp_path / "cell" / "x" / "s1.jsonl"
    line = json.loads(path.read_text())
    del line["reply"]
    path.write_text(json.dumps(line | outcome) + "\n")
    with pytest.raises(DamagedRecording, match=r"the recording cannot be used: .*s1\.jsonl: line 1"):
        await replayed(tmp_path, SITE, ASK)


def test_calls_go_to_the_model_a_store_or_both(tmp_path: Path) -> None:
    assert isinstance(chosen_exchanges(None, None), Live)
    made = chosen_exchanges(tmp_path / "new", None)
    assert isinstance(made, Recording) and made.folder == tmp_path / "new"
    played = chosen_exchanges(None, tmp_path)
    assert isinstance(played, Replay) and played.folder == tmp_path
