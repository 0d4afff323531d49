"""What guessing and knowing bring on the five personas, played through the real servers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from atr_client.agents import RULE_BLIND_MODELS
from atr_client.cli.app import main


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """Tests passed per model: all rule-blind ones, and the one that is shown the answers."""
    root = tmp_path_factory.mktemp("outputs")
    chosen = ["--select=split:mini", "--variant=oracle_target", "--model=offline/gold", "--nulls"]
    with pytest.raises(SystemExit) as stopped:
        main(["run", "--config=quickstart", *chosen, f"--outputs={root}", "--no-progress"])
    assert not stopped.value.code
    found = Counter[str]()
    for path in root.glob("*/*/*/eval.json"):
        model = json.loads(path.with_name("cell_manifest.json").read_text(encoding="utf-8"))["model"]
        results = _results(path)
        assert len(results) == 14
        found[model] += sum(results)
    return found


def _results(path: Path) -> list[bool]:
    return [
        result["task_success"] for result in json.loads(path.read_text(encoding="utf-8"))["session_results"]
    ]


def test_no_model_that_never_learns_a_rule_passes_much(passed: Counter[str]) -> None:
    shares = {model: passed[model] / 70 for model in RULE_BLIND_MODELS}
    assert max(shares.values()) <= 0.45, shares
    assert passed["offline/first"] > 0


def test_whoever_is_shown_the_answers_passes_every_test(passed: Counter[str]) -> None:
    assert passed["offline/gold"] == 70
