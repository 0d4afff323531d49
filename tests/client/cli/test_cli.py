"""The command line: what it writes, what it prints, how it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import filelock
import pytest

from atr_client.cli.app import main
from atr_data import packaged_episodes_dir
from tests.support.cells import small_episode


@pytest.fixture
def episodes(tmp_path: Path) -> Path:
    return _write_episodes(tmp_path / "episodes", "pp_a")


def _write_episodes(folder: Path, *personas: str) -> Path:
    folder.mkdir()
    for persona in personas:
        episode = small_episode(persona)
        (folder / f"{episode.episode_id}.json").write_text(episode.model_dump_json())
    return folder


def _config(folder: Path, extra: str = "") -> Path:
    path = folder / "run.yaml"
    path.write_text(f"name: x\nvariants: [default, oracle_target]\nmodels: [offline/gold]\n{extra}")
    return path


def _call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    code = stopped.value.code or 0
    assert isinstance(code, int)
    return code


def _run(tmp_path: Path, episodes: Path, *more: object, extra: str = "") -> int:
    return _call("run", "--no-progress", *_places(tmp_path, episodes, extra), *more)


def _places(tmp_path: Path, episodes: Path, extra: str = "") -> list[str]:
    outputs = tmp_path / "outputs"
    return [f"--config={_config(tmp_path, extra)}", f"--episodes={episodes}", f"--outputs={outputs}"]


def _error(capsys: pytest.CaptureFixture[str]) -> str:
    """The last line of standard error, which must be the only one that speaks of an error."""
    lines = capsys.readouterr().err.splitlines()
    assert not any("Traceback" in line for line in lines)
    assert sum(line.startswith("error: ") for line in lines) == 1
    return lines[-1]


def test_a_run_prints_its_table_and_leaves_a_summary(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, episodes) == 0
    output = capsys.readouterr().out
    assert "offline/gold (privileged)" in output
    assert "100.0 (2)" in output
    assert "reference, not a contestant" in output
    (summary,) = (tmp_path / "outputs" / "_summary").iterdir()
    assert json.loads(summary.read_text())["n_cells_ok"] == 2


def test_the_same_command_again_keeps_what_is_done(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, episodes) == 0
    capsys.readouterr()
    assert _run(tmp_path, episodes) == 0
    assert capsys.readouterr().err.count("kept ") == 2


def test_options_narrow_the_configuration(tmp_path: Path, episodes: Path) -> None:
    assert _run(tmp_path, episodes, "--variant", "atr", "--model", "offline/noop", "--select", "pp_a") == 0
    cells = [path.parent.name for path in (tmp_path / "outputs").rglob("eval.json")]
    assert cells == ["atr__model-offline-noop__layer-context__seed000"]


def test_a_run_under_other_limits_is_refused_and_named(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, episodes) == 0
    assert _run(tmp_path, episodes, extra="limits: {max_steps: 7}\n") == 1
    assert "max_steps was 20, is 7" in capsys.readouterr().out
    assert _run(tmp_path, episodes, "--fresh", extra="limits: {max_steps: 7}\n") == 0


def test_a_folder_that_another_process_writes_to_is_refused(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, episodes) == 0
    cell = next((tmp_path / "outputs").rglob("eval.json")).parent
    with filelock.FileLock(cell / ".lock"):
        assert _run(tmp_path, episodes) == 1
    assert f"another process is writing to {cell}" in _error(capsys)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--variant", "oracle"], "oracle_target"),
        (["--model", "offline/golf"], "did you mean 'offline/gold'"),
        (["--select", "pp_x"], "selects no episode"),
        (["--episodes", "/none"], "no such folder"),
        (["--outputs", "/dev/null/x"], "cannot be written to"),
        (["--frob"], "No such option"),
    ],
)
def test_a_mistake_in_the_command_is_one_line_and_exit_code_2(
    tmp_path: Path, episodes: Path, more: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, episodes, *more) == 2
    assert reason in _error(capsys)


def test_a_mistake_in_the_configuration_is_one_line_and_exit_code_2(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, episodes, extra="limit: {}\n") == 2
    assert "limit: unknown key; did you mean 'limits'?" in _error(capsys)


def test_an_episode_id_that_leads_out_of_the_folder_is_refused(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = episodes / "pp_a_seed000.json"
    path.write_text(path.read_text().replace('"pp_a_seed000"', '"../../pp_a_seed000"'))
    assert _run(tmp_path, episodes) == 2
    assert "episode_id" in _error(capsys)
    assert not list((tmp_path / "outputs").iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write everywhere")
def test_an_outputs_folder_without_write_permission_is_refused(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outputs").mkdir(mode=0o500)
    assert _run(tmp_path, episodes) == 2
    assert "cannot be written to" in _error(capsys)


def test_scoring_again_gives_the_same_file_from_trajectories_and_the_same_payoff_from_calls(
    tmp_path: Path, episodes: Path
) -> None:
    assert _run(tmp_path, episodes) == 0
    evaluation = next((tmp_path / "outputs").rglob("default*/eval.json"))
    first = evaluation.read_bytes()
    assert _call("score", tmp_path / "outputs") == 0
    assert evaluation.read_bytes() == first
    assert _call("score", evaluation.parent, "--from", "calls") == 0
    again, before = json.loads(evaluation.read_text()), json.loads(first)
    assert again["session_results"] == before["session_results"]
    assert again["metrics"]["by_domain"] == before["metrics"]["by_domain"]
    assert list((tmp_path / "outputs" / "_summary").glob("evaluator_*.json"))


def test_a_missing_session_is_exit_code_3_unless_told_otherwise(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(tmp_path, episodes) == 0
    next((tmp_path / "outputs").rglob("default*/trajectories/t0.json")).unlink()
    assert _call("score", tmp_path / "outputs") == 3
    assert "t0" in capsys.readouterr().out
    assert _call("score", tmp_path / "outputs", "--no-strict") == 0


def test_a_cell_without_an_episode_fails_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cell" / "trajectories").mkdir(parents=True)
    assert _call("score", tmp_path / "cell") == 1
    assert "give it with --episode" in capsys.readouterr().out
    assert _call("score", tmp_path / "cell" / "trajectories") == 2


@pytest.mark.parametrize("name", ["odalys_renner", "odalys_renner_seed000", "odalis_renner", "split:mini"])
def test_score_takes_an_episode_by_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cell" / "trajectories").mkdir(parents=True)
    known = not name.startswith(("odalis", "split"))
    scored = _call("score", tmp_path / "cell", "--episode", name, "--variant", "atr", "--no-strict")
    assert scored == (0 if known else 2)
    told = {"odalis_renner": "near: odalys_renner", "split:mini": "means 5 episodes"}
    assert told.get(name, "") in capsys.readouterr().err


def test_show_prints_a_transcript(tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(tmp_path, episodes) == 0
    capsys.readouterr()
    assert _call("show", next((tmp_path / "outputs").rglob("t0.json"))) == 0
    assert "archive_files" in capsys.readouterr().out
    assert _call("show", tmp_path / "none.json") == 2


def test_validate_takes_all_files_of_a_folder_of_episodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = packaged_episodes_dir()
    assert _call("validate", *sorted(shipped.glob("*.json"))) == 0
    assert "odalys_renner.lines.json: 0 errors" in capsys.readouterr().out
    lines = tmp_path / "odalys_renner.lines.json"
    lines.write_text('{"rules": {"r": {"asked": {}}}}')
    assert _call("validate", lines) == 1
    assert "odalys_renner.lines.json: error: rules.r" in capsys.readouterr().out


def test_validate_tells_findings_and_fails_on_errors(
    tmp_path: Path, episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = episodes / "pp_a_seed000.json"
    path.write_text(path.read_text().replace('"archive_files"', '"archive_all"'))
    assert _call("validate", path) == 1
    assert "archive_all" in capsys.readouterr().out
    assert _call("validate", "pp_b", "--episodes", episodes) == 2


@pytest.mark.parametrize(
    ("command", "part"),
    [("models", "offline/gold"), ("variants", "oracle_full"), ("tools", "get_user_confirmation")],
)
def test_lists_are_printed(command: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(command) == 0
    assert part in capsys.readouterr().out


@pytest.mark.parametrize("role", ["router", "classifier"])
def test_calibrate_measures_a_role_on_our_turns_or_on_a_file(
    role: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _call("calibrate", role, "--classifier", "lexical", "--every", "50") == 0
    assert "recall" in capsys.readouterr().out
    (tmp_path / "turns.jsonl").write_text("{}\n")
    assert _call("calibrate", role, tmp_path / "turns.jsonl") == 2
    assert "line 1" in _error(capsys)
    assert _call("calibrate", role, tmp_path / "none.jsonl") == 2


def test_calibrate_judges_the_question_lines_of_an_episode(capsys: pytest.CaptureFixture[str]) -> None:
    episode = packaged_episodes_dir() / "odalys_renner_seed000.json"
    assert _call("calibrate", "lines", episode) == 0
    assert "gate S7: " in capsys.readouterr().out
    assert _call("calibrate", "lines") == 2
    assert "FILE is an episode" in _error(capsys)
    assert _call("calibrate", "router", "--lines", episode) == 2
    assert "--lines" in _error(capsys)


def test_datagen_compile_writes_nothing_from_a_source_that_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "who.yaml").write_text("personas: x\n")
    assert _call("datagen", "compile", tmp_path, "--out", tmp_path / "out") == 1
    assert "who.yaml" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert _call("datagen", "check", tmp_path) == 1


def test_the_public_names_can_be_imported() -> None:
    code = "from atr_client import run_cell, run_session, run_sweep"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_stop_ends_a_sweep_cleanly_and_the_same_command_goes_on(
    tmp_path: Path, stop: signal.Signals
) -> None:
    episodes = _write_episodes(tmp_path / "episodes", *(f"pp_{n}" for n in range(8)))
    outputs = tmp_path / "outputs"
    command = [
        sys.executable,
        "-m",
        "atr_client.cli",
        "run",
        "--no-progress",
        *_places(tmp_path, episodes),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not list(outputs.rglob("_cell_done.json")) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(stop)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "interrupted; run the same command to resume"
    assert "Traceback" not in errors
    assert not list(outputs.rglob("*.tmp"))
    done = {path: path.read_bytes() for path in outputs.rglob("trajectories/*.json")}
    assert 0 < len(done) < 8 * 7
    for text in done.values():
        json.loads(text)
    (summary,) = (outputs / "_summary").iterdir()
    assert json.loads(summary.read_text())["n_cells_incomplete"] > 0
    assert _run(tmp_path, episodes) == 0
    assert {path: path.read_bytes() for path in done} == done
