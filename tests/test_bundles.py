"""What tells other programs how to start us says what our commands take, and is of one version."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest

from atr_client.cli.app import cli
from tests.conftest import ROOT

BUNDLE = ROOT / "integrations" / "mcpb"


def _read(path: Any) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _bundle_arguments() -> list[str]:
    manifest = _read(BUNDLE / "manifest.json")
    settings = {name: str(setting["default"]) for name, setting in manifest["user_config"].items()}
    args = manifest["server"]["mcp_config"]["args"]
    filled = [re.sub(r"\$\{user_config\.(\w+)\}", lambda match: settings[match[1]], arg) for arg in args]
    assert filled[:4] == ["run", "--directory", "${__dirname}", "atr-client"]
    return filled[4:]


def _registry_arguments() -> list[str]:
    (package,) = _read(ROOT / "server.json")["packages"]
    given: list[str] = []
    for argument in package["packageArguments"]:
        named = [argument["name"]] if argument["type"] == "named" else []
        given += [*named, argument.get("value") or argument.get("default") or "somewhere"]
    return given


@pytest.mark.parametrize("arguments", [_bundle_arguments(), _registry_arguments()], ids=["mcpb", "registry"])
def test_the_command_takes_what_it_would_be_given(arguments: list[str]) -> None:
    name, *rest = arguments
    command = cli.get_command(None, name)  # pyright: ignore[reportArgumentType]
    assert command
    context = command.make_context(name, rest)
    assert context.params["episodes"] == ("odalys_renner",)


def test_all_are_of_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    manifest, registry = _read(BUNDLE / "manifest.json"), _read(ROOT / "server.json")
    bundled = tomllib.loads((BUNDLE / "pyproject.toml").read_text(encoding="utf-8"))
    versions = {manifest["version"], registry["version"], registry["packages"][0]["version"]}
    assert {*versions, bundled["project"]["version"]} == {project["version"]}
    wheel = bundled["tool"]["uv"]["sources"]["atrbench"]["path"]
    assert wheel == f"atrbench-{project['version']}-py3-none-any.whl"
    assert registry["packages"][0]["identifier"] == project["name"] in project["scripts"]


def test_the_readme_names_the_server_as_the_registry_wants_it() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"<!-- mcp-name: {_read(ROOT / 'server.json')['name']} -->" in readme


def test_the_description_is_short_enough_for_the_registry() -> None:
    assert len(_read(ROOT / "server.json")["description"]) <= 100
