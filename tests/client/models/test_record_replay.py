"""Recorded model calls, played back without a key and without a provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr_client.agents.asker import Asker
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
