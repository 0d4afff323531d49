"""A provider that does not answer is never a score, whatever the session's deadline."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import call, only_row, trajectories, write_config
from tests.support.mock_provider import CannedServer, answer
from tests.support.provider_script import short_quickstart
from tests.support.strict_provider import reply_of

FINISH = answer(reply_of("openai_chat", ("end", "finish_session", "{}")))
REASON = "agent failed in session odalys_renner_commerce_01_test: lab/m1: no answer within 0.4 seconds"


def hang(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1.0)
    handler.close_connection = True


def places(tmp_path: Path, server: CannedServer, **limits: Any) -> list[object]:
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 2))
    model = {"id": "lab/m1", "wire": "openai_chat", "base_url": f"{server.url}/v1"}
    limits = {"call_attempts": 1, "test_sessions": 1, "call_timeout": 0.4, **limits}
    config = write_config(tmp_path, variants=["oracle_target"], models=[model], limits=limits)
    return ["--config", config, "--episodes", episodes, "--outputs", tmp_path / "outputs", "--no-progress"]


@pytest.mark.parametrize("timeout", [0.05, 0.3, 60.0, None])
def test_a_session_without_a_reply_is_no_result_and_its_cell_shows_no_score(
    timeout: float | None, tmp_path: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = tmp_path / "outputs"
    arguments = places(tmp_path, canned_server, timeout=timeout)
    canned_server.queue(hang)
    assert call("run", *arguments) == 1
    assert "aborted: odalys_renner/" in (out := capsys.readouterr().out)
    assert REASON in out
    assert not trajectories(outputs)
    assert call("score", outputs) == 1
    printed = capsys.readouterr().out
    assert REASON in printed
    assert "0.0" not in printed
    assert [line.split() for line in printed.splitlines() if line.split()[:1] == ["all"]] == [["all", "-"]]
    summary = json.loads(sorted((outputs / "_summary").glob("evaluator_*.json"))[-1].read_text())
    (row,) = summary["rows"]
    assert (row["ok"], row["aborted"], row["error"]) == (False, True, REASON)
    assert "payoff_accuracy" not in row
    canned_server.queue(FINISH, FINISH)
    arguments = places(tmp_path, canned_server, timeout=timeout, call_timeout=10.0)
    assert call("run", *arguments) == 0
    assert not list(outputs.rglob("_cell_aborted.json"))
    capsys.readouterr()
    assert call("score", outputs) == 0
    assert "0.0 (2)" in capsys.readouterr().out


def test_finished_sessions_of_an_aborted_cell_stay_and_count_for_nothing_yet(
    tmp_path: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    canned_server.queue(FINISH, hang)
    assert call("run", *places(tmp_path, canned_server)) == 1
    assert len(trajectories(tmp_path / "outputs")) == 1
    capsys.readouterr()
    assert call("score", tmp_path / "outputs", "--no-strict") == 1
    printed = capsys.readouterr().out
    assert "no answer within 0.4 seconds" in printed
    assert "0.0" not in printed
    (marker,) = (tmp_path / "outputs").rglob("_cell_aborted.json")
    marker.write_text("{", encoding="utf-8")
    assert call("score", tmp_path / "outputs", "--no-strict") == 0, "a torn marker says nothing"


def test_a_slow_session_ends_between_steps_with_what_it_did(
    tmp_path: Path, canned_server: CannedServer
) -> None:
    def slow(handler: BaseHTTPRequestHandler) -> None:
        time.sleep(0.3)
        answer(reply_of("openai_chat", ("c1", "search_products", "{}")))(handler)

    canned_server.queue(slow, slow)
    assert call("run", *places(tmp_path, canned_server, timeout=0.2, call_timeout=10.0)) == 0
    assert list(only_row(tmp_path / "outputs")["non_clean_terminations"].values()) == ["timeout"] * 2
    for path in (tmp_path / "outputs").rglob("trajectories/*.json"):
        document = json.loads(path.read_text())
        assert document["step_count"] == 1
        assert [message["role"] for message in document["messages"]] == [
            "system",
            "user",
            "assistant",
            "tool",
        ]


def test_a_cell_that_met_a_limit_on_cost_shows_no_score_either(
    tmp_path: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    canned_server.queue(FINISH)
    arguments = places(tmp_path, canned_server, cost_usd=0.001)
    config = json.loads((tmp_path / "run.yaml").read_text())
    config["models"][0]["price"] = {"input": 100, "output": 100}
    (tmp_path / "run.yaml").write_text(json.dumps(config))
    assert call("run", *arguments) == 3
    capsys.readouterr()
    assert call("score", tmp_path / "outputs") == 1
    assert "stopped: odalys_renner/" in (printed := capsys.readouterr().out)
    assert "stopped by limits.cost_usd" in printed
    assert "0.0" not in printed.replace("$0.0010", "")
