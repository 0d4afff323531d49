"""The bundle for desktop clients, as `make bundle` built it with the official tool: what is in it plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from tests.clients.agents_from_npm import INSTALLED, NODE
from tests.conftest import ROOT

BUNDLE = ROOT / "dist" / "atrbench.mcpb"


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    if not BUNDLE.exists():
        pytest.fail("there is no bundle: run `make bundle`")
    environment = {**os.environ, "PATH": f"{NODE}{os.pathsep}{os.environ['PATH']}"}
    tool = [str(INSTALLED / ".bin" / "mcpb"), "unpack", str(BUNDLE), str(tmp_path / "bundle")]
    subprocess.run(tool, env=environment, check=True, capture_output=True)
    return tmp_path / "bundle"


def started(bundle: Path, folder: Path) -> StdioServerParameters:
    """What the client would start, with the default settings. The wheel lies where Python finds it first.
    That uv fetches the dependencies is not tried here."""
    (wheel,) = bundle.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    manifest: dict[str, Any] = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    settings = {name: str(setting["default"]) for name, setting in manifest["user_config"].items()}
    settings["results"] = str(folder / "results")
    run, directory, here, command, *arguments = manifest["server"]["mcp_config"]["args"]
    assert (run, directory, here, command) == ("run", "--directory", "${__dirname}", "atr-client")
    for name, value in settings.items():
        arguments = [argument.replace(f"${{user_config.{name}}}", value) for argument in arguments]
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "atr_client.cli", *arguments],
        env={"PYTHONPATH": str(folder / "site")},
        cwd="/",
    )


def written(results: Path) -> list[Path]:
    return list(results.rglob("cell_manifest.json"))


async def test_what_the_bundle_starts_plays(unpacked: Path, tmp_path: Path) -> None:
    async with Client(stdio_client(started(unpacked, tmp_path))) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names > {"start_episode", "next_session", "send_to_user", "finish_session"}
        begun = await client.call_tool("next_session", {})
        assert not begun.is_error
    assert [entry.name for entry in written(tmp_path / "results")] == ["cell_manifest.json"]
