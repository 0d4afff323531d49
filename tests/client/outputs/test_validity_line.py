"""What stands under a result table: companion metrics and the comparison with guessing."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from atr_client.cli.app import main
from atr_client.outputs.result_tables import print_results
from atr_client.outputs.rows import Row
from atr_data import packaged_episodes_dir
from atr_evaluator import pooled_companions

PASSED = {f"t{n}": True for n in range(6)}
FAILED = dict.fromkeys(PASSED, False)


def cell(
    root: Path,
    model: str,
    results: Mapping[str, bool],
    *,
    variant: str = "atr",
    missing: tuple[str, ...] = (),
    companions: bool = True,
    **manifest: Any,
) -> Row:
    """A scored cell on disk, and its row."""
    folder = root / "pp" / "seed000" / f"{variant}__model-{model.replace('/', '-')}__layer-context__seed000"
    folder.mkdir(parents=True)
    named = {"model": model, "variant": variant, "episode_sha256": "e", "shuffle_references": None}
    (folder / "cell_manifest.json").write_text(json.dumps(named | manifest))
    evaluation: dict[str, Any] = {
        "episode_id": "pp_seed000",
        "variant": variant,
        "session_results": [
            {
                "session_id": name,
                "task_success": passed,
                "domain": "travel",
                "check_type": "confirm",
                **({"missing": True} if name in missing else {}),
            }
            for name, passed in results.items()
        ],
    }
    if companions:
        block = pooled_companions([])
        block["confirm"] |= {"tests": 2, "hits": 1, "sibling_tests": 4, "sibling_false_alarms": 1}
        block["scope_pairs"] |= {"both": 1, "one": 2, "none": 3}
        evaluation["companions"] = block
    (folder / "eval.json").write_text(json.dumps(evaluation))
    return {"ok": True, "model": model, "variant": variant, "runs_dir": str(folder), "cell_id": folder.name}


def printed(*rows: Row, root: Path | None = None) -> str:
    stream = io.StringIO()
    print_results(Console(file=stream, width=110), rows, root)
    return stream.getvalue()


def test_a_model_is_held_against_the_best_null_model_in_the_outputs(tmp_path: Path) -> None:
    cell(tmp_path, "offline/noop", FAILED)
    cell(tmp_path, "offline/first", FAILED | {"t0": True}, variant="default")
    row = cell(tmp_path, "a/b", PASSED)
    assert (
        "validity (one-sided exact McNemar test on the same tests, p < 0.05):\n"
        "  atr 100.0 is above 16.7, the best rule-blind score (offline/first; p = 0.031)\n"
    ) in printed(row, root=tmp_path)


def test_a_model_that_wins_too_little_is_not_above(tmp_path: Path) -> None:
    null = cell(tmp_path, "offline/majority", FAILED | {"t0": True, "t1": True})
    row = cell(tmp_path, "a/b", PASSED)
    assert "atr 100.0 is NOT above 33.3" in printed(row, null)


def test_variants_are_compared_each_for_itself_in_the_order_of_the_benchmark(tmp_path: Path) -> None:
    null = cell(tmp_path, "offline/noop", FAILED)
    rows = [cell(tmp_path, "a/b", PASSED, variant=name) for name in ("oracle_full", "always_ask", "default")]
    lines = [line.split()[0] for line in printed(*rows, null).splitlines() if "rule-blind score" in line]
    assert lines == ["default", "always_ask", "oracle_full"]


@pytest.mark.parametrize(
    ("model", "other"),
    [
        ("offline/noop", {"episode_sha256": "f"}),
        ("offline/noop", {"shuffle_references": 1}),
        ("offline/asker", {}),
    ],
)
def test_only_null_models_on_the_same_tests_in_the_same_order_compare(
    tmp_path: Path, model: str, other: dict[str, Any]
) -> None:
    cell(tmp_path, model, FAILED, **other)
    row = cell(tmp_path, "a/b", PASSED)
    said = "no rule-blind model has run on these tests (run adds them with --nulls)"
    assert said in printed(row, root=tmp_path)


def test_without_any_null_model_it_is_said_once_for_all_variants(tmp_path: Path) -> None:
    row = cell(tmp_path, "a/b", PASSED)
    assert "\nvalidity: no rule-blind model has run on these tests" in printed(row, root=tmp_path)


def test_a_null_model_that_did_not_run_them_all_is_no_yardstick(tmp_path: Path) -> None:
    cell(tmp_path, "offline/noop", FAILED, missing=("t3",))
    row = cell(tmp_path, "a/b", PASSED)
    assert "no rule-blind model has run" in printed(row, root=tmp_path)


def test_cells_elsewhere_count_only_when_the_outputs_root_is_known(tmp_path: Path) -> None:
    cell(tmp_path, "offline/noop", FAILED)
    row = cell(tmp_path, "a/b", PASSED)
    assert "no rule-blind model has run" in printed(row)


def test_a_null_model_is_not_held_against_itself(tmp_path: Path) -> None:
    text = printed(cell(tmp_path, "offline/first", PASSED))
    assert "validity: this model never learns a rule" in text


def test_companions_are_pooled_per_variant_beside_the_pass_mark(tmp_path: Path) -> None:
    rows = [cell(tmp_path / name, "a/b", PASSED) for name in ("x", "y")]
    rows.append(cell(tmp_path, "a/b", PASSED, variant="default", companions=False))
    lines = {line[:28].strip(): line[28:].split() for line in printed(*rows).splitlines()}
    assert lines["beside the pass mark"] == ["default", "atr"]
    assert lines["% confirmed, confirm rules"] == ["-", "50.0", "(4)"]
    assert lines["% confirmed, sibling rules"] == ["-", "25.0", "(8)"]
    assert lines["difference"] == ["-", "+25.0"]
    assert lines["pairs: both/one/none"] == ["0/0/0", "2/4/6"]


def test_a_run_adds_the_null_models_when_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("name: x\nvariants: [oracle_target]\nmodels: [offline/gold]\n")
    arguments = [f"--config={path}", f"--outputs={tmp_path / 'outputs'}", "--select=odalys_renner"]
    outputs: list[str] = []
    for more in ([], ["--nulls"], []):
        with pytest.raises(SystemExit) as stopped:
            main(["run", f"--episodes={packaged_episodes_dir()}", "--no-progress", *arguments, *more])
        assert not stopped.value.code
        outputs.append(capsys.readouterr().out)
    assert "no rule-blind model has run" in outputs[0]
    assert "offline/majority" in outputs[1]
    assert all("oracle_target 100.0 is above" in output for output in outputs[1:])
    with pytest.raises(SystemExit):
        main(["score", str(tmp_path / "outputs" / "odalys_renner")])
    assert "oracle_target 100.0 is above" in capsys.readouterr().out
