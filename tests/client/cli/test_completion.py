"""What the shell offers after an option."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from atr_data.variants import VARIANTS
from tests.conftest import ROOT


def asked(words: Sequence[str], name: str = "atr-client") -> dict[str, str]:
    """What bash puts into the environment: the last word is the one that is being typed."""
    return {
        f"_{name.replace('-', '_').upper()}_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join((name, *words)),
        "COMP_CWORD": str(len(words)),
    }


def offered(*words: str, program: str = "atr_client") -> list[str]:
    shown = TextIOWrapper(BytesIO(), encoding="utf-8")
    main = import_module(f"{program}.cli.app").main
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(shown), pytest.raises(SystemExit) as stopped:
        for name, value in asked(words, program.removesuffix("s").replace("_", "-")).items():
            patch.setenv(name, value)
        main([])
    assert not stopped.value.code
    shown.seek(0)
    return shown.read().splitlines()


def test_a_process_of_its_own_says_nothing_else() -> None:
    script = "from atr_client.cli.app import main; main([])"
    variables = asked(("run", "--config", "off"))
    ended = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("plain,official\nplain,official_shuffled\n", "")


@pytest.mark.parametrize("command", ["run", "estimate", "doctor", "models", "calibrate router"])
def test_a_configuration_is_completed_by_the_names_that_ship_with_us_and_else_by_files(command: str) -> None:
    words = (*command.split(), "--config")
    assert offered(*words, "off") == ["plain,official", "plain,official_shuffled"]
    assert "plain,quickstart" in offered(*words, "")
    assert offered(*words, "./mine") == ["file,./mine"]


def test_variants_and_personas_are_completed() -> None:
    assert offered("run", "--variant", "") == [f"plain,{name}" for name in VARIANTS]
    assert offered("run", "--select", "od") == ["plain,odalys_renner"]
    assert offered("score", "outputs", "--episode", "odalys") == ["plain,odalys_renner"]
    assert offered("validate", "od") == ["plain,odalys_renner"]


def test_episodes_and_their_sessions_are_completed_for_those_who_serve_and_play_them() -> None:
    for words in (("serve",), ("config", "codex"), ("sessions",)):
        assert offered(*words, "--episode", "od", program="atr_servers") == ["plain,odalys_renner"]
    assert offered("serve", "--episode", "./mine", program="atr_servers") == ["file,./mine"]
    chosen = ("config", "codex", "--episode", "odalys_renner", "--session")
    assert offered(*chosen, "odalys_renner_s00", program="atr_servers") == ["plain,odalys_renner_s00"]
    nothing = ("serve", "--episode", "nobody", "--session")
    assert offered(*nothing, "", program="atr_servers") == [""]
    assert offered("play", "od") == ["plain,odalys_renner"]
    assert offered("serve-episodes", "od") == ["plain,odalys_renner"]


def test_commands_are_completed() -> None:
    assert offered("est") == ["plain,estimate"]
    assert offered("datagen", "comp") == ["plain,compile"]
    assert offered("ses", program="atr_servers") == ["plain,sessions"]


@pytest.mark.parametrize(
    "line", ["_ATR_CLIENT_COMPLETE=bash_source atr-client", "_ATR_SERVER_COMPLETE=bash_source atr-server"]
)
def test_the_documented_line_gives_the_shell_its_function(line: str) -> None:
    assert f'eval "$({line})"' in (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    path = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", f'eval "$({line})"; declare -F'], env=path, capture_output=True, text=True
    )
    assert f"_{line.split()[1].replace('-', '_')}_completion" in done.stdout
