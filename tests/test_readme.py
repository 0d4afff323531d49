"""What the README tells people to type is what the commands take."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from atr_client.cli.app import cli as atr_client
from atr_client.sweep.config_file import load_config
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.registry import remote_specs
from atr_servers.cli.app import cli as atr_server
from tests.conftest import ROOT

COMMANDS = {"atr-client": atr_client, "atr-server": atr_server}


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def _blocks(language: str) -> list[tuple[str, str]]:
    """Every fenced block of the language, with the page that it stands on."""
    return [
        (page.name, block)
        for page in PAGES
        if page.exists()
        for block in re.findall(
            rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        )
    ]


def _command_lines() -> list[str]:
    lines = "".join(block for _, block in _blocks("sh")).replace("\\\n", " ").splitlines()
    return sorted({line for line in lines if line.startswith(tuple(COMMANDS))})


@pytest.mark.parametrize("line", _command_lines())
def test_every_command_line_is_one_that_the_command_takes(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    name, *arguments = shlex.split(line, comments=True)
    command: click.Command = COMMANDS[name]
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), arguments.pop(0))
        assert found is not None
        command = found
    try:
        command.make_context(name, arguments)
    except click.BadParameter as error:
        assert "does not exist" in str(error)


@pytest.mark.parametrize(("page", "example"), _blocks("yaml"))
def test_an_example_of_a_configuration_can_be_run_with_its_keys_set(
    page: str, example: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    whole = example if "name:" in example else f"name: x\nvariants: [atr]\n{example}"
    path.write_text(whole)
    config = load_config(str(path))
    keys = {"OPENAI_API_KEY": "k", "OPENROUTER_API_KEY": "k"}
    ModelClients(config.limits, environment=keys).check(remote_specs(config))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_to_a_file_of_ours_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
