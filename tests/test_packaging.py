"""What the wheel holds, and what the lock file may say."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path).namelist()


def test_the_wheel_puts_the_rooms_side_by_side(wheel: list[str]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {
        "atr_ontology",
        "atr_data",
        "atr_servers",
        "atr_memory",
        "atr_user_sim",
        "atr_evaluator",
        "atr_datagen",
        "atr_client",
    }


def test_the_wheel_carries_wording_prompts_episodes_and_configs(wheel: list[str]) -> None:
    assert "atr_ontology/tools.yaml" in wheel
    assert "atr_client/session/prompts/base.md" in wheel
    assert any(re.fullmatch(r"atr_user_sim/prompts/\w+\.md", name) for name in wheel)
    assert any(re.fullmatch(r"atr_data/episodes/\w+_seed000\.json", name) for name in wheel)
    assert "atr_client/configs/quickstart.yaml" in wheel
    assert "atr_datagen/timing/lexicon/attributes.txt" in wheel
    for part in ("chronicles", "remarks"):
        assert any(re.fullmatch(rf"atr_datagen/timing/lexicon/{part}/\w+\.txt", name) for name in wheel)


def test_the_lock_holds_names_and_versions_only() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert lines
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line) for line in lines)


def test_no_tracked_file_names_a_machine(capfd: pytest.CaptureFixture[str]) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    pattern = re.compile(r"(?<![\w.])/(?:root|home/[a-z]+|Users/[a-z]+)/|index-url|extra-index")
    for name in listed.stdout.splitlines():
        path = Path(ROOT, name)
        if path.suffix in {".py", ".md", ".toml", ".yaml", ".lock", ".json"} and path != Path(__file__):
            assert not pattern.search(path.read_text(encoding="utf-8")), name


def test_no_ignore_rule_hides_a_module(capfd: pytest.CaptureFixture[str]) -> None:
    """`outputs/` in .gitignore once kept a whole floor out of commits and of the wheel."""
    hidden = subprocess.run(
        ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    rooms = [name for name in hidden if not name.startswith((".", "build/", "dist/", "outputs/"))]
    assert rooms == []
