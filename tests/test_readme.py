"""What the README tells people to type is what the commands take."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from atr_client.cli.app import cli as atr_client
from atr_client.sweep.config import load_config
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.registry import remote_specs
from atr_servers.cli.app import cli as atr_server
from tests.conftest import ROOT

COMMANDS = {"atr-client": atr_client, "atr-server": atr_server}


def _blocks(language: str) -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def _command_lines() -> list[str]:
    lines = "".join(_blocks("sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith(tuple(COMMANDS))]


@pytest.mark.parametrize("line", _command_lines())
def test_every_command_line_is_one_that_the_command_takes(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    name, *arguments = shlex.split(line, comments=True)
    command: click.Command = COMMANDS[name]
    while isinstance(command, click.Group):
        command = command.commands[arguments.pop(0)]
    command.make_context(name, arguments)


def test_the_example_of_a_configuration_can_be_run_with_its_keys_set(tmp_path: Path) -> None:
    (example,) = _blocks("yaml")
    path = tmp_path / "mine.yaml"
    path.write_text(example)
    config = load_config(str(path))
    keys = {"OPENAI_API_KEY": "k", "OPENROUTER_API_KEY": "k"}
    ModelClients(config.limits, environment=keys).check(remote_specs(config))
