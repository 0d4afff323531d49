"""What can be wrong with a model or its provider: one line that names the key, or a recorded outcome."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import call, only_row, trajectories, write_config
from tests.support.mock_provider import CannedServer, answer
from tests.support.provider_script import short_quickstart

KEY = "sk-sentinel-0123456789"
LAB = {"id": "lab/m1", "wire": "openai_chat", "base_url": "http://127.0.0.1:9/v1"}
FINISH = {"id": "c1", "type": "function", "function": {"name": "finish_session", "arguments": "{}"}}


@pytest.fixture
def episodes(tmp_path: Path) -> Path:
    return short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 1))


def run(tmp_path: Path, episodes: Path, *more: object, **keys: Any) -> int:
    keys = {"variants": ["oracle_target"], **keys}
    limits = {"call_attempts": 1, **keys.pop("limits", {})}
    config = write_config(tmp_path, limits=limits, **keys)
    places = ["--config", config, "--episodes", episodes, "--outputs", tmp_path / "outputs"]
    return call("run", "--no-progress", *places, *more)


def completion(message: dict[str, Any], finish: str = "stop", tokens: int = 10) -> Any:
    usage = {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}
    return answer({"choices": [{"message": message, "finish_reason": finish}], "usage": usage})


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"models": ["nobody/knows"]}, "models.0: unknown model 'nobody/knows'; an id is provider/model"),
        ({"models": [{"id": "offline/noop", "wire": "google"}]}, "models.0: 'offline/noop' is offline"),
        ({"models": ["gpt-5.5"]}, "models.0: unknown model 'gpt-5.5'; did you mean 'gpt-5.4'?"),
        ({"models": ["offline/noop", "gpt-5.4"]}, "models.1: model openai/gpt-5.4: the environment variable"),
        ({"models": [{**LAB, "key": "LAB_API_KEY"}]}, "environment variable LAB_API_KEY is not set"),
        ({"models": [{**LAB, "base_url": "127.0.0.1"}]}, "models.0: model m1: base_url must look like"),
        ({"models": [{**LAB, "wire": "openai_caht"}]}, "models.0.wire: Input should be 'openai_responses'"),
        (
            {"models": [{**LAB, "reasonin": "on"}]},
            "models.0.reasonin: unknown key; did you mean 'reasoning'",
        ),
        (
            {"models": [LAB], "registry": {"models": {"lab/m2": {"wier": "google"}}}},
            "registry.models.lab/m2.wier: unknown key; did you mean 'wire'?",
        ),
        (
            {"models": [LAB], "limits": {"cost_usd": 5}},
            "limits.cost_usd: the price of lab/m1 is unknown",
        ),
        (
            {"models": [LAB], "user_sim": {"make": "model", "router": "offline/asker"}},
            "user_sim.router: 'offline/asker' is an agent",
        ),
        (
            {"models": [LAB], "user_sim": {"make": "model", "router": "gpt-5.9"}},
            "user_sim.router: unknown model 'gpt-5.9'",
        ),
        ({"models": [LAB], "user_sim": {"make": "offline", "router": "x"}}, "user_sim: router and simulator"),
        (
            {"models": [LAB], "user_sim": {"classifier": "lexicl"}},
            "user_sim: classifier: 'lexicl' is none",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line_before_anything_runs(
    tmp_path: Path,
    episodes: Path,
    keys: dict[str, Any],
    reason: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "LAB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert run(tmp_path, episodes, **keys) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert reason in line
    assert not trajectories(tmp_path / "outputs")


@pytest.mark.parametrize(
    ("wire", "module", "extra"),
    [
        ("openai_chat", "openai", "openai"),
        ("openai_responses", "openai", "openai"),
        ("anthropic", "anthropic", "anthropic"),
        ("google", "google.genai", "google"),
    ],
)
def test_a_missing_sdk_names_the_extra(
    tmp_path: Path,
    episodes: Path,
    wire: str,
    module: str,
    extra: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert run(tmp_path, episodes, models=[{**LAB, "wire": wire}]) == 2
    assert "models.0: model lab/m1 needs the package" in (error := capsys.readouterr().err)
    assert f"pip install 'atrbench[{extra}]'" in error


def test_an_address_where_nothing_answers_fails_the_cell_in_one_line(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, episodes, models=[LAB]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("aborted: ")]
    assert "lab/m1: connection failed: ConnectError" in line


@pytest.mark.parametrize(
    ("status", "message"),
    [(400, "m1 does not support tools"), (404, "no such route"), (401, f"bad key {KEY}")],
)
def test_what_a_provider_refuses_fails_the_cell_with_its_words(
    tmp_path: Path,
    episodes: Path,
    status: int,
    message: str,
    canned_server: CannedServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    canned_server.queue(answer({"error": {"message": message}}, status))
    model = {**LAB, "base_url": f"{canned_server.url}/v1", "key": "LAB_API_KEY"}
    assert run(tmp_path, episodes, models=[model]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("aborted: ")]
    assert f"lab/m1: HTTP {status}: {message.replace(KEY, '[key]')}" in line
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


def test_an_unknown_price_is_shown_as_unknown(
    tmp_path: Path, episodes: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    canned_server.queue(completion({"tool_calls": [FINISH]}, "tool_calls"))
    assert run(tmp_path, episodes, models=[{**LAB, "base_url": f"{canned_server.url}/v1"}]) == 0
    assert only_row(tmp_path / "outputs")["cost_usd"] is None
    printed = capsys.readouterr()
    assert "cost unknown" in printed.err
    assert "unknown" in printed.out


def test_a_conversation_that_outgrew_the_context_is_an_outcome_that_stays(
    tmp_path: Path, episodes: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    too_long = {"error": {"message": "This model's maximum context length is 8 tokens"}}
    canned_server.queue(answer(too_long, 400))
    keys: dict[str, Any] = {"models": [{**LAB, "base_url": f"{canned_server.url}/v1"}]}
    assert run(tmp_path, episodes, **keys) == 0
    outputs = tmp_path / "outputs"
    (path,) = outputs.rglob("trajectories/*.json")
    assert json.loads(path.read_text())["termination_reason"] == "context_overflow"
    row = only_row(outputs)
    assert (row["ts_bad"], row["ts_total"], row["ts_pass"]) == (1, 1, 0)
    next(outputs.rglob("_cell_done.json")).unlink()
    assert run(tmp_path, episodes, **keys) == 0
    assert len(canned_server.bodies) == 1, "the session is kept on resume"
    capsys.readouterr()
    assert call("show", path, "--original") == 0
    exported = json.loads(capsys.readouterr().out)
    assert exported["termination_reason"] == "error"
    assert not {"reply_faults", "context_sha256", "rule_readable", "readability"} & set(exported)
    assert call("show", path) == 0
    assert "context_overflow after 1 steps" in capsys.readouterr().out


def test_malformed_replies_are_counted_and_the_session_goes_on(
    tmp_path: Path, episodes: Path, canned_server: CannedServer
) -> None:
    def tool(arguments: str, name: str = "search_products", call_id: str = "c0") -> dict[str, Any]:
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}

    canned_server.queue(
        completion({"content": " "}),
        completion({"content": "I do", "tool_calls": None}, "length"),
        completion({"refusal": "I will not."}),
        completion({"content": "..."}, "content_filter"),
        completion({"tool_calls": [tool("{"), tool("[]")]}, "tool_calls"),
        completion({"tool_calls": [tool("{}", "fly_away", "c2")]}, "tool_calls"),
        completion({"tool_calls": [FINISH]}, "tool_calls"),
    )
    assert run(tmp_path, episodes, models=[{**LAB, "base_url": f"{canned_server.url}/v1"}]) == 0
    row = only_row(tmp_path / "outputs")
    assert row["non_clean_terminations"] == {}
    assert row["reply_faults"] == {
        "content_filter": 1,
        "duplicate_call_id": 1,
        "empty_reply": 1,
        "refusal": 1,
        "truncated": 1,
        "unknown_tool": 1,
        "unusable_arguments": 2,
    }
    (path,) = (tmp_path / "outputs").rglob("trajectories/*.json")
    assert json.loads(path.read_text())["reply_faults"] == row["reply_faults"]


def test_a_failed_attempt_is_logged_with_its_wait(
    tmp_path: Path, episodes: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    canned_server.queue(
        answer({"error": {"message": "slow down"}}, 429),
        completion({"tool_calls": [FINISH]}, "tool_calls"),
    )
    model = {**LAB, "base_url": f"{canned_server.url}/v1"}
    assert run(tmp_path, episodes, models=[model], limits={"call_attempts": 2}) == 0
    log = next((tmp_path / "outputs").rglob("run.log")).read_text()
    (entry,) = [json.loads(line) for line in log.splitlines() if "trying again" in line]
    assert (entry["attempt"], entry["status"], entry["model"]) == (1, 429, "lab/m1")
    assert entry["wait_seconds"] >= 2
    assert entry["session"].endswith("_test")
    assert "trying again" in capsys.readouterr().err


def test_a_sweep_stops_at_its_limit_on_cost_and_goes_on_when_it_is_raised(
    tmp_path: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 3))
    canned_server.queue(*[completion({"tool_calls": [FINISH]}, "tool_calls", tokens=1_000_000)] * 3)
    price = {"input": 0.25, "output": 0}
    model = {**LAB, "base_url": f"{canned_server.url}/v1", "price": price}

    def again(limit: float) -> int:
        limits = {"cost_usd": limit, "test_sessions": 1}
        return run(tmp_path, episodes, models=[model], limits=limits)

    outputs = tmp_path / "outputs"
    assert again(0.5) == 3
    printed = capsys.readouterr()
    assert "stopped by limits.cost_usd: $0.5000 of $0.5000 are spent" in printed.err
    assert (len(canned_server.bodies), len(trajectories(outputs))) == (2, 2)
    (summary,) = (outputs / "_summary").iterdir()
    document = json.loads(summary.read_text())
    assert document["stopped"].startswith("stopped by limits.cost_usd")
    assert (document["n_cells_incomplete"], document["n_cells_aborted"]) == (1, 0)
    assert again(0.5) == 3
    assert len(canned_server.bodies) == 2, "what earlier runs have cost counts"
    assert again(1.0) == 0
    assert len(canned_server.bodies) == 3
    assert only_row(outputs)["cost_usd"] == 0.75
