"""The bundle for desktop clients, as `make bundle` built it: the official tool takes it, and what is in it plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

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


async def test_what_the_bundle_starts_plays(unpacked: Path, tmp_path: Path) -> None:
    """The wheel in it is put where its command finds it, as uv would; uv itself would fetch the dependencies."""
    manifest = json.loads((unpacked / "manifest.json").read_text())
    (wheel,) = unpacked.glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    settings = {name: str(setting["default"]) for name, setting in manifest["user_config"].items()}
    settings["results"] = str(tmp_path / "results")
    run, directory, here, command, *arguments = manifest["server"]["mcp_config"]["args"]
    assert (run, directory, here, command) == ("run", "--directory", "${__dirname}", "atr-client")
    for name, value in settings.items():
        arguments = [argument.replace(f"${{user_config.{name}}}", value) for argument in arguments]
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "atr_client.cli", *arguments],
        env={"PYTHONPATH": str(site)},
        cwd="/",
    )
    async with Client(server) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names > {"start_episode", "next_session", "send_to_user", "finish_session"}
        begun = await client.call_tool("next_session", {})
        assert not begun.is_error
    assert list((tmp_path / "results").rglob("cell_manifest.json"))
