"""The commands of the timing track."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import atr_client
from atr_client.cli.timing_commands import timing


def run(*arguments: object, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(timing, [str(argument) for argument in arguments], env=env)


@pytest.fixture(scope="module")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lite")
    result = run("generate", "--out", folder, "--users", 2)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1].endswith("set.json")
    return folder


def test_baselines_print_their_table_and_their_logs_can_be_scored(lite: Path, tmp_path: Path) -> None:
    result = run(
        "baselines", lite, "--player", "offline/oracle", "--player", "offline/never", "--logs", tmp_path
    )
    assert result.exit_code == 0, result.output
    assert "| offline/oracle | 1.000 |" in result.output
    assert "Guess bound: " in result.output
    assert "open loop" in result.output
    scored = run("score", lite, "--logs", tmp_path / "offline_oracle.jsonl")
    assert json.loads(scored.output)["utility"] == 1


def test_a_broken_log_is_refused_with_its_line(lite: Path, tmp_path: Path) -> None:
    path = tmp_path / "logs.jsonl"
    path.write_text('{"user_id": "u000"}\n', encoding="utf-8")
    result = run("score", lite, "--logs", path)
    assert result.exit_code == 2
    assert "bad_stream" in result.output
    assert "line 1" in result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tolerance", "0"), "tolerance"),
        (("--days", "1"), "days"),
        (("--burstiness", "0.97", "--users", "1"), "reachable"),
        (("--split", "private", "--users", "1"), "never published"),
        (("--salt-env", "NO_SUCH_SALT"), "NO_SUCH_SALT"),
        (("--lexicon", "no-such-folder"), "no such lexicon"),
    ],
)
def test_bad_settings_exit_2_in_one_line_and_write_nothing(
    tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    out = tmp_path / "out"
    result = run("generate", "--out", out, *options)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert not out.exists()


def test_a_salt_from_the_environment_decides_the_habits(lite: Path, tmp_path: Path) -> None:
    result = run(
        "generate", "--out", tmp_path, "--users", 1, "--salt-env", "MY_SALT", env={"MY_SALT": "mine"}
    )
    assert result.exit_code == 0
    assert (tmp_path / "u000.gold.jsonl").read_bytes() != (lite / "u000.gold.jsonl").read_bytes()


def test_a_set_that_is_not_there(tmp_path: Path) -> None:
    result = run("baselines", tmp_path / "none")
    assert result.exit_code == 2


def test_only_the_command_needs_the_authoring_room() -> None:
    folder = Path(atr_client.__file__).parent / "timing"
    users = [path.name for path in folder.rglob("*.py") if "atr_datagen" in path.read_text("utf-8")]
    assert users == []
