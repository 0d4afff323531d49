"""The commands on models: list, estimate, doctor, calibrate; and the switches that a run has for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atr_client.agents.gold import gold_model
from atr_client.sweep.config_file import load_config
from atr_client.sweep.plan import Overrides, plan_cells
from atr_client.sweep.registry import chosen_models
from tests.support.command import call, only_row, write_config
from tests.support.mock_provider import CannedServer, LlmockServer, answer
from tests.support.provider_script import offline_script, short_quickstart

KEY = "sk-sentinel-0123456789"
PRICE = {"input": 1.0, "output": 0.0}
LAB = {"id": "lab/m1", "wire": "openai_chat", "base_url": "http://127.0.0.1:9/v1", "price": PRICE}


def test_models_lists_the_catalogue_and_whether_keys_are_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    config = write_config(
        tmp_path, models=["offline/noop"], registry={"models": {"lab/m1": {"wire": "google"}}}
    )
    assert call("models", "--config", config) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["openai/gpt-5.4"].endswith("key OPENAI_API_KEY: set")
    assert lines["google/gemini-3-flash-preview"].endswith("key GEMINI_API_KEY: not set")
    assert lines["lab/m1"].endswith("google; no key needed")
    assert "(privileged)" in lines["offline/gold"]
    assert not any(KEY in line for line in lines.values())


def test_an_estimate_rests_on_defaults_and_then_on_what_was_measured(
    tmp_path: Path, llmock_server: LlmockServer, capsys: pytest.CaptureFixture[str]
) -> None:
    episodes = short_quickstart(tmp_path / "episodes", learning=2, tests=slice(0, 2))
    script, _ = offline_script(tmp_path / "offline", episodes, gold_model(), "oracle_target", {"agent": "m1"})
    llmock_server.queue(*script)
    model = {**LAB, "base_url": f"{llmock_server.url}/v1"}
    models = [model, "offline/noop", {**model, "id": "lab/m2", "price": None}]
    settings = {"variants": ["atr", "oracle_target"], "models": models}
    settings["limits"] = {"test_sessions": 1}
    config, outputs = write_config(tmp_path, **settings), tmp_path / "outputs"
    places = ["--config", config, "--episodes", episodes, "--outputs", outputs]

    def estimated() -> dict[tuple[str, ...], list[str]]:
        assert call("estimate", *places) == 0
        lines = capsys.readouterr().out.splitlines()
        notes.extend(line for line in lines if line.startswith("averages"))
        return {tuple(line.split()[:2]): line.split()[2:] for line in lines[1:-2]}

    notes: list[str] = []
    before = estimated()
    assert before["lab/m1", "oracle_target"] == ["2", "12", "50,000", "4,000", "$0.0500"]
    assert before["lab/m1", "atr"][0] == "4"
    assert before["lab/m2", "oracle_target"][-1] == "unknown"
    assert before["offline/noop", "atr"] == ["4", "0", "0", "0", "$0.00"]
    assert before["all", "18"][-1] == "unknown"
    rows = [f"lab/{model} {variant}" for model in ("m1", "m2") for variant in ("atr", "oracle_target")]
    assert notes == [f"averages from defaults: {', '.join(rows)}"]
    run = ["run", *places, "--model", "lab/m1", "--variant", "oracle_target", "--no-progress"]
    assert call(*run) == 0
    capsys.readouterr()
    notes.clear()
    row = only_row(outputs)
    measured = estimated()["lab/m1", "oracle_target"]
    assert measured[1:3] == [str(row["tok_agent_calls"]), f"{row['tok_agent_in']:,}"]
    assert set(notes) == {
        "averages from defaults: lab/m1 atr (learning agent), lab/m2 atr",
        "averages from earlier sessions of other models: lab/m2 oracle_target",
        "averages from earlier sessions of the same model and variant: lab/m1 oracle_target",
        "averages from earlier sessions of the same model: lab/m1 atr (test agent)",
    }


def test_doctor_calls_every_endpoint_once_and_tells_what_is_not_ready(
    tmp_path: Path,
    llmock_server: LlmockServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    monkeypatch.delenv("NO_KEY", raising=False)
    call_of_ping = {"type": "reply", "tool_calls": [{"name": "ping", "arguments": {}}]}
    llmock_server.queue({**call_of_ping, "match": {"model": "m1"}})
    refusal = {"type": "fail", "status": 400, "message": f"tools? no. {KEY}", "match": {"model": "m3"}}
    llmock_server.queue(refusal)
    good = {**LAB, "base_url": f"{llmock_server.url}/v1", "key": "LAB_API_KEY"}
    others = [{**good, "id": "lab/m3"}, {**good, "id": "lab/m4", "key": "NO_KEY"}, {**LAB, "id": "lab/m5"}]
    config = write_config(tmp_path, models=[good, *others, "offline/noop"])
    assert call("doctor", "--config", config) == 1
    lines = {line.split("lab/")[1][:2]: line for line in capsys.readouterr().out.splitlines()}
    assert "ready" in lines["m1"].split()
    assert "LAB_API_KEY set; openai 3." in lines["m1"]
    assert "; answered in " in lines["m1"]
    assert lines["m1"].endswith("called the tool")
    assert "not ready  lab/m3" in lines["m3"]
    assert "HTTP 400: tools? no. [key]" in lines["m3"]
    assert "NO_KEY not set" in lines["m4"]
    assert "connection failed" in lines["m5"]
    sent = [request["body"]["max_tokens"] for request in llmock_server.requests()]
    assert sent == [16, 16]
    assert call("doctor", "--config", write_config(tmp_path, models=["offline/noop"])) == 0
    assert "nothing to check" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("role", "right"),
    [
        ("router", {"is_strict_rule_question": True, "rule_question_span": "Which one, always?"}),
        ("classifier", {"rule_id": "r1", "reasoning": "so it says"}),
    ],
)
def test_calibrate_measures_a_model_in_a_role(
    role: str,
    right: dict[str, Any],
    tmp_path: Path,
    llmock_server: LlmockServer,
    capsys: pytest.CaptureFixture[str],
) -> None:
    turn = {
        "source": "mine",
        "reason": "to know",
        "output": "Hello. Which one, always?",
        "gold_is_strict_rule_question": True,
        "gold_rule_question_span": "Which one, always?",
        "rule_question_span": "Which one, always?",
        "gold_rule_id": "r1",
        "rule_pool": [{"rule_id": "r1", "statement": "The first."}],
    }
    (tmp_path / "turns.jsonl").write_text(json.dumps(turn) + "\n")
    model = {key: value for key, value in LAB.items() if key != "id"}
    model["base_url"] = f"{llmock_server.url}/v1"
    config = write_config(tmp_path, models=["offline/noop"], registry={"models": {"lab/m1": model}})
    llmock_server.queue({"type": "reply", "text": json.dumps(right)})
    arguments = ["calibrate", role, tmp_path / "turns.jsonl", "--model", "lab/m1", "--config", config]
    assert call(*arguments) == 0
    output = capsys.readouterr().out
    assert "recall: 1.000" in output
    assert output.splitlines()[-1].startswith("cost $0.0")
    llmock_server.queue({"type": "fail", "status": 401, "message": "who are you"})
    assert call(*arguments) == 1
    assert "who are you" in capsys.readouterr().err
    assert call("calibrate", role, "--model", "offline/asker") == 2
    assert call("calibrate", role, "--model", "nobody/knows") == 2


@pytest.mark.parametrize(
    ("said", "run", "effort"),
    [
        ("{id: gpt-5.4}", "", "high"),
        ("{id: gpt-5.4}", "reasoning: off", "low"),
        ("{id: gpt-5.4, reasoning: off}", "reasoning: on", "low"),
        ("{id: gpt-5.4, reasoning: null}", "", None),
        ("gpt-5.4", "reasoning: null", None),
    ],
)
def test_reasoning_is_set_for_the_run_and_for_a_model_and_recorded(
    said: str, run: str, effort: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "run.yaml"
    one = "episodes: {select: [odalys_renner]}"
    path.write_text(f"name: x\n{one}\nvariants: [oracle_target]\nmodels: [{said}]\n{run}\n")
    config = load_config(str(path))
    (entry,) = chosen_models(config)
    (cell,) = plan_cells(config, tmp_path, Overrides())
    names = {"high": "on", "low": "off", None: None}
    assert cell.manifest.agent_reasoning_effort == names[effort]
    assert (entry.model_id, cell.key.model) == ("openai/gpt-5.4", "openai/gpt-5.4")
    digests = {cell.manifest.model_sha256}
    for other in {"on", "off", "null"} - {names[effort] or "null"}:
        path.write_text(f"name: x\nvariants: [atr]\nmodels: [gpt-5.4]\nreasoning: {other}\n")
        digests.add(chosen_models(load_config(str(path)))[0].identity.sha256)
    assert len(digests) == 3


def test_a_model_keeps_what_the_file_says_of_it_when_the_command_line_names_it(
    tmp_path: Path, canned_server: CannedServer
) -> None:
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 1))
    finish = {"id": "c1", "type": "function", "function": {"name": "finish_session", "arguments": "{}"}}
    canned_server.queue(answer({"choices": [{"message": {"tool_calls": [finish]}}]}))
    model = {**LAB, "base_url": f"{canned_server.url}/v1", "temperature": 0.5, "model": "big"}
    config = write_config(tmp_path, variants=["oracle_target"], models=["offline/noop", model])
    places = ["--config", config, "--episodes", episodes, "--outputs", tmp_path / "outputs"]
    assert call("run", *places, "--model", "lab/m1", "--no-progress") == 0
    (body,) = canned_server.bodies
    assert (body["model"], body["temperature"], body["seed"]) == ("big", 0.5, 0)
    assert {tool["function"]["name"] for tool in body["tools"]} >= {"finish_session", "search_products"}


def test_an_estimate_says_where_the_budget_would_stop_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two cells of two tests at 0.025 dollars, as the defaults have it, and one that is free."""
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 2))
    models = ["offline/noop", LAB, {**LAB, "id": "lab/m2"}]

    def told(limit: float | None, **more: Any) -> str:
        keys: dict[str, Any] = {"variants": ["oracle_target"], "models": models, **more}
        config = write_config(tmp_path, limits={"cost_usd": limit}, **keys)
        places = ["--config", config, "--episodes", episodes, "--outputs", tmp_path / "outputs"]
        assert call("estimate", *places) == 0
        lines = capsys.readouterr().out.splitlines()
        return "\n".join(line for line in lines if line.startswith("limits.cost_usd"))

    def stop(sessions: int, cell: int, model: str) -> str:
        return (
            f"would stop the run after {sessions} of 6 sessions, in cell {cell} of 3: "
            f"odalys_renner_seed000 {model} oracle_target"
        )

    assert told(None) == ""
    assert told(0.0).endswith(stop(2, 2, "lab/m1"))
    assert told(0.02) == f"limits.cost_usd: $0.0200 {stop(3, 2, 'lab/m1')}"
    assert told(0.025).endswith(stop(3, 2, "lab/m1"))
    assert told(0.03).endswith(stop(4, 2, "lab/m1"))
    assert told(0.06).endswith(stop(5, 3, "lab/m2"))
    assert told(0.09) == "limits.cost_usd: $0.0900 suffice for the whole run"
    assert told(5.0) == "limits.cost_usd: $5.00 suffice for the whole run"
    assert told(5.0, models=["offline/noop"]) == "limits.cost_usd: $5.00 suffice for the whole run"
    unpriced = {**LAB, "id": "lab/m3", "price": None}
    assert told(5.0, models=[unpriced]).endswith("nobody knows whether $5.00 suffice, a price is unknown")
