"""A whole cell over each wire format, against a provider that plays the quickstart episode's gold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atr_client.agents.asker import Asker
from atr_client.agents.gold import gold_model
from atr_data import load_trajectory
from tests.support.command import call, only_row, trajectories, write_config
from tests.support.mock_provider import LlmockServer
from tests.support.provider_script import QUICKSTART, Script, offline_script, short_quickstart

SENTINEL = "sk-sentinel-do-not-leak-0123456789"
WIRES = {"openai_responses": "/v1", "openai_chat": "/v1", "anthropic": "/anthropic", "google": "/gemini"}
PRICE = {"input": 1.0, "output": 2.0}
SERIAL = {"cells": 1, "test_sessions": 1, "call_attempts": 1}


def lab_model(server: LlmockServer, wire: str, name: str = "m1", **more: Any) -> dict[str, Any]:
    """A model nobody has heard of, in one line of a configuration."""
    url = f"{server.url}{WIRES[wire]}"
    return {"id": f"lab/{name}", "wire": wire, "base_url": url, "key": "LAB_API_KEY", "price": PRICE, **more}


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", SENTINEL)


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> tuple[Script, Any]:
    folder = tmp_path_factory.mktemp("gold")
    return offline_script(folder, QUICKSTART.parent, gold_model(), "atr", {"agent": "m1"})


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_format_plays_the_gold_to_the_same_score(
    wire: str,
    gold: tuple[Script, Any],
    llmock_server: LlmockServer,
    key: None,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    script, offline = gold
    llmock_server.queue(*script)
    config = write_config(tmp_path, models=[lab_model(llmock_server, wire)], limits=SERIAL)
    outputs = tmp_path / "outputs"
    assert call("run", "--config", config, "--outputs", outputs, "--no-progress") == 0
    row = only_row(outputs)
    assert (row["ts_pass"], row["ts_total"]) == (offline["ts_pass"], offline["ts_total"])
    assert row["ts_pass"] == row["ts_total"] > 0
    assert row["tok_agent_calls"] == len(script)
    assert row["reply_faults"] == {}
    assert row["cost_usd"] == pytest.approx(
        row["tok_agent_in"] * 1e-6 + row["tok_agent_out"] * 2e-6, rel=1e-6
    )
    assert row["cost_usd_by_role"] == {"agent": row["cost_usd"]}
    printed = capfd.readouterr()
    assert ", cost $" in printed.err
    assert "cost" in printed.out
    manifest = json.loads(next(outputs.rglob("cell_manifest.json")).read_text())
    assert manifest["cost_usd"] == row["cost_usd"]
    assert (manifest["model"], manifest["agent_reasoning_effort"]) == ("lab/m1", "on")
    assert SENTINEL not in printed.out + printed.err
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or SENTINEL.encode() not in path.read_bytes(), path


ROLES = {"agent": "m1", "router": "r1", "classifier": "c1", "simulator": "s1"}


def test_a_user_played_by_models_says_what_the_offline_user_says(
    llmock_server: LlmockServer, key: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    episodes = short_quickstart(tmp_path / "episodes", learning=4, tests=slice(2, 3))
    script, offline = offline_script(tmp_path / "offline", episodes, Asker(), "always_ask", ROLES)
    llmock_server.queue(*script)
    models = {name: lab_model(llmock_server, "openai_chat", name) for name in ("r1", "c1", "s1")}
    for model in models.values():
        del model["id"]
    config = write_config(
        tmp_path,
        variants=["always_ask"],
        models=[lab_model(llmock_server, "anthropic")],
        registry={"models": {f"lab/{name}": model for name, model in models.items()}},
        user_sim={"make": "model", "router": "lab/r1", "classifier": "lab/c1", "simulator": "lab/s1"},
        limits=SERIAL,
    )
    outputs = tmp_path / "outputs"
    arguments = ("run", "--config", config, "--episodes", episodes, "--outputs", outputs, "--no-progress")
    assert call(*arguments) == 0
    row = only_row(outputs)
    same = ("ts_pass", "ts_total", "send_routed_rule", "cls_hit", "cls_miss", "ls_clean", "rules_covered")
    assert {name: row[name] for name in same} == {name: offline[name] for name in same}
    assert row["cls_hit"] + row["cls_miss"] > 0
    assert set(row["cost_usd_by_role"]) == {"agent", "router", "classifier", "user_sim"}
    assert all(row[f"tok_{role}_calls"] > 0 for role in ("agent", "router", "user", "cls"))
    assert events(outputs) == events(tmp_path / "offline")
    manifest = json.loads(next(outputs.rglob("cell_manifest.json")).read_text())
    assert {role: manifest["user_sim"][role]["model"] for role in ("router", "classifier", "simulator")} == {
        "router": "lab/r1",
        "classifier": "lab/c1",
        "simulator": "lab/s1",
    }
    assert capsys.readouterr().err.count("warning: user_sim.") == 3
    assert len(trajectories(outputs)) == 5
    changed = json.loads(config.read_text())
    changed["registry"]["models"]["lab/r1"]["model"] = "another"
    config.write_text(json.dumps(changed))
    assert call(*arguments) == 1
    assert "user_sim differs in router" in capsys.readouterr().out


def events(outputs: Path) -> list[Any]:
    return [
        [(event.kind, event.route, event.rule_id) for event in load_trajectory(path).interaction_events]
        for path in sorted(outputs.rglob("trajectories/*.json"))
    ]
