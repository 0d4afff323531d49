"""Recorded model calls, played back without a key and without a provider."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from atr_client.agents.asker import Asker
from atr_client.models.base import ModelReply
from atr_client.models.recording import CallSite, Recording, Replay
from atr_client.models.wire import WireRequest
from atr_data.trajectory import ToolCall
from tests.support.command import call, only_row, trajectories, write_config
from tests.support.mock_provider import CannedServer, LlmockServer, answer
from tests.support.provider_script import offline_script
from tests.support.recorded_run import EPISODES, NAMES, STORE, config, run_arguments


def test_the_recorded_run_plays_to_its_end_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LAB_API_KEY", raising=False)
    outputs = tmp_path / "outputs"
    assert call(*run_arguments(config(tmp_path), outputs, "--replay", STORE)) == 0
    row = only_row(outputs)
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in STORE.rglob("*.jsonl"))
    assert sum(row[f"tok_{role}_calls"] for role in ("agent", "router", "user", "cls")) == lines
    assert (row["n_learning"], row["n_test"], row["non_clean_terminations"]) == (3, 2, {})
    assert row["cost_usd"] > 0


def test_a_replay_gives_the_recorded_trajectories_to_the_byte_apart_from_times(
    tmp_path: Path, llmock_server: LlmockServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "sk-sentinel-0123456789")
    script, _ = offline_script(tmp_path / "offline", EPISODES, Asker(), "always_ask", NAMES)
    llmock_server.queue(*script)
    first, again, store = tmp_path / "first", tmp_path / "again", tmp_path / "store"
    assert call(*run_arguments(config(tmp_path, llmock_server.url), first, "--record", store)) == 0
    monkeypatch.delenv("LAB_API_KEY")
    asked = len(llmock_server.requests())
    assert call(*run_arguments(config(tmp_path), again, "--replay", store, "--model", "lab/m1")) == 0
    assert trajectories(again) == trajectories(first)
    assert len(trajectories(first)) == 5
    assert len(llmock_server.requests()) == asked
    assert not [p for p in store.rglob("*") if p.is_file() and b"sk-sentinel" in p.read_bytes()]


def test_a_request_that_was_not_recorded_is_shown_against_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episode = next(EPISODES.glob("*.json"))
    other = tmp_path / "episodes" / episode.name
    other.parent.mkdir()
    text = episode.read_text("utf-8")
    test = text.index('"instruction":"') + len('"instruction":"')
    other.write_text(f"{text[:test]}Quickly, please. {text[test:]}", encoding="utf-8")
    outputs = tmp_path / "outputs"
    arguments = ["--episodes", other.parent, "--outputs", outputs, "--replay", STORE, "--no-progress"]
    assert call("run", "--config", config(tmp_path), *arguments) == 1
    error = capsys.readouterr().out
    assert "agent call of session" in error
    assert "the nearest recorded one differs:" in error
    assert '+   "content": "Quickly, please. ' in error


def test_an_overflow_is_recorded_too(tmp_path: Path, canned_server: CannedServer) -> None:
    too_long = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    tests = 2
    canned_server.queue(*[answer(too_long, 400)] * tests)
    model = {"id": "lab/m2", "wire": "openai_chat", "base_url": f"{canned_server.url}/v1"}
    settings = write_config(tmp_path, variants=["oracle_target"], models=[model])
    for name, how in (("live", "--record"), ("again", "--replay")):
        assert call(*run_arguments(settings, tmp_path / name, how, tmp_path / "store")) == 0
        reasons = only_row(tmp_path / name)["non_clean_terminations"]
        assert list(reasons.values()) == ["context_overflow"] * tests
    assert trajectories(tmp_path / "live") == trajectories(tmp_path / "again")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--record", "a", "--replay", STORE], "exclude each other"),
        (["--replay", "/none"], "--replay: /none: no such folder"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_line(
    tmp_path: Path, more: list[object], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*run_arguments(config(tmp_path), tmp_path / "outputs", *more)) == 2
    assert reason in capsys.readouterr().err


FINISH = {"id": "end", "type": "function", "function": {"name": "finish_session", "arguments": "{}"}}


def completion(*calls: dict[str, object], content: object = None) -> dict[str, object]:
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


def odd_call(name: str, arguments: object) -> dict[str, object]:
    return {"id": name, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_whatever_a_plain_run_survives_is_recorded_and_plays_back_the_same(
    tmp_path: Path, canned_server: CannedServer
) -> None:
    odd = [
        completion(content="half \ud83d of it"),
        completion(odd_call("lo\ud800ne", '{"a": "\ud800"}')),
        completion(odd_call("text", '{"a": "\\ud800"}'), odd_call("nan", '{"a": NaN}')),
        completion(odd_call("object", {"a": "\ud800", "b": float("nan")}), odd_call("broken", "{")),
    ]
    finish = answer(completion(FINISH))
    canned_server.queue(*(answer(body) for body in odd), finish, finish)
    model = {"id": "lab/m2", "wire": "openai_chat", "base_url": f"{canned_server.url}/v1"}
    limits = {"call_attempts": 1, "test_sessions": 1}
    settings = write_config(tmp_path, variants=["oracle_target"], models=[model], limits=limits)
    logs: list[str] = []
    for name, how in (("live", "--record"), ("again", "--replay")):
        assert call(*run_arguments(settings, tmp_path / name, how, tmp_path / "store")) == 0
        (log,) = (tmp_path / name).rglob("calls.jsonl")
        logs.append(re.sub(r'"seconds":[^,}]*', "", log.read_text("utf-8")))
    assert trajectories(tmp_path / "live") == trajectories(tmp_path / "again")
    assert logs[0] == logs[1]
    raws = [json.loads(line).get("raw_arguments") for line in log.read_text("utf-8").splitlines()]
    assert [raw for raw in raws if raw] == ['{"a": "\\ud800"}', '{"a": NaN}', '{"a": "?", "b": NaN}', "{"]


async def test_text_that_no_encoding_can_carry_is_stored_with_replacement_signs(tmp_path: Path) -> None:
    site, request = CallSite("cell", "s1", "agent"), WireRequest([])
    odd = ModelReply("a\ud800b", [ToolCall(id="c", name="n\udfff")])

    async def live() -> ModelReply:
        return odd

    async def never() -> ModelReply:
        raise AssertionError("the model is not asked")

    assert await Recording(tmp_path).exchange(site, "m", request, live) == odd
    again = await Replay(tmp_path).exchange(site, "m", request, never)
    assert again == ModelReply("a?b", [ToolCall(id="c", name="n?")])


GOOD = {"role": "agent", "digest": "d", "occurrence": 0, "request": {}, "reply": {"content": "hi"}}
DAMAGED: dict[str, bytes] = {
    "torn": b'{"role": "agent", "dig',
    "no_object": b"[1]",
    "binary": b"\xff\xfe\x00",
    "without_a_digest": b'{"role": "agent", "occurrence": 0, "request": {}}',
    "without_an_outcome": json.dumps({**GOOD, "reply": None}).encode(),
    "odd_reply": json.dumps({**GOOD, "reply": {"content": 5}}).encode(),
    "odd_occurrence": json.dumps({**GOOD, "occurrence": "first"}).encode(),
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("line", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_recording_names_file_and_line(
    line: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store"
    shutil.copytree(STORE, store)
    (path,) = store.rglob("*_s01.jsonl")
    first, *rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(b"\n".join([first, line, *rest]))
    assert call(*run_arguments(config(tmp_path), tmp_path / "outputs", "--replay", store)) == 1
    assert f"{path}: line 2 is no recorded call: " in capsys.readouterr().out
