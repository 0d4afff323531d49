"""Episodes are scored as they must be, to the last metric."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator import evaluate_episode
from tests.support.vectors import Case, first, read_jsonl, report

FILE = "evaluator.jsonl.gz"


def _agrees(case: Case) -> bool:
    trajectories = [Trajectory.model_validate(trajectory) for trajectory in case["trajectories"]]
    result = evaluate_episode(Episode.model_validate(case["episode"]), trajectories, case["variant"])
    return json.loads(json.dumps(result)) == case["expected"]


def test_evaluations_agree(conformance_dir: Path) -> None:
    report(FILE, read_jsonl(conformance_dir / FILE), _agrees)


def test_a_flipped_expectation_is_noticed(conformance_dir: Path) -> None:
    case = first(read_jsonl(conformance_dir / FILE), lambda c: c["expected"]["session_results"])
    case["expected"]["session_results"][0]["task_success"] ^= True
    with pytest.raises(AssertionError, match="0/1 agree"):
        report(FILE, [case], _agrees)
