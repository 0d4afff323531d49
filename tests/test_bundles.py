"""What tells other programs how to start us says what our commands take, and is of one version."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

import jsonschema
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


INPUT = {
    "description": {"type": "string"},
    "default": {"type": "string"},
    "value": {"type": "string"},
    "isRequired": {"type": "boolean"},
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "choices": {"type": "array", "items": {"type": "string"}},
}
PINNED = {"type": "string", "pattern": r"^\d+\.\d+\.\d+([.-]\w+)*$", "maxLength": 255}
REGISTRY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["$schema", "name", "description", "version", "packages"],
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": PINNED,
        "packages": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["registryType", "identifier", "version", "transport"],
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": {"type": "string"},
                    "version": PINNED,
                    "runtimeHint": {"const": "uvx"},
                    "transport": {"const": {"type": "stdio"}},
                    "packageArguments": {
                        "type": "array",
                        "items": {
                            "oneOf": [
                                {
                                    "additionalProperties": False,
                                    "required": ["type"],
                                    "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
                                    "properties": {
                                        **INPUT,
                                        "type": {"const": "positional"},
                                        "valueHint": {"type": "string"},
                                    },
                                },
                                {
                                    "additionalProperties": False,
                                    "required": ["type", "name"],
                                    "properties": {
                                        **INPUT,
                                        "type": {"const": "named"},
                                        "name": {"type": "string", "pattern": "^--"},
                                    },
                                },
                            ]
                        },
                    },
                },
            },
        },
    },
}
"""What the registry's schema of 2025-12-11, the newest one that it takes, asks of those of its fields that we
use. No other field may be there, so that a misspelled one is seen."""


def test_the_entry_for_the_registry_is_as_its_schema_wants_it() -> None:
    jsonschema.validate(_read(ROOT / "server.json"), REGISTRY)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: entry.update(description="x" * 101),
        lambda entry: entry.update(name="atrbench"),
        lambda entry: entry["packages"][0].update(version="latest"),
        lambda entry: entry["packages"][0].update(version=">=0.1"),
        lambda entry: entry["packages"][0].update(run_time_hint="uvx"),
        lambda entry: entry["packages"][0]["packageArguments"][0].pop("value"),
        lambda entry: entry["packages"][0]["packageArguments"][2].pop("name"),
        lambda entry: entry["packages"][0]["packageArguments"][3].update(format="folder"),
    ],
)
def test_what_the_registry_would_refuse_is_seen(spoil: Callable[[dict[str, Any]], Any]) -> None:
    entry = _read(ROOT / "server.json")
    spoil(entry)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(entry, REGISTRY)
