"""Every example of `examples/foreign_loops` runs as it stands, and its environment keeps its state.

Run by `make test-hosts`, which brings the frameworks. The model is a script, in a mock of its provider.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.mock_providers import Call, MockProvider, scripted
from tests.clients.provider_formats import ResponsesFormat
from tests.conftest import ROOT

LOOPS = ROOT / "examples" / "foreign_loops"
OURS = Path(sys.executable).parent
FRAMEWORKS = ROOT / ".clients" / "python" / "bin"
SCRIPT = [
    [Call("build_shopping_list", {"items": ["tea"]})],
    [Call("place_order", {"product_id": "prod_nowhere", "quantity": 2})],
    [Call("build_shopping_list", {"items": ["salt", "rice"]})],
]
"""A call, an error, and a call whose answer depends on the first one."""


def ran(command: list[str | Path], folder: Path, provider: str) -> str:
    environment = {
        "PATH": f"{FRAMEWORKS}{os.pathsep}{OURS}{os.pathsep}/usr/bin:/bin",
        "HOME": str(folder),
        "OPENAI_BASE_URL": f"{provider}/v1",
        "OPENAI_API_KEY": "no-key",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


COMMANDS: dict[str, list[str | Path]] = {
    "openai_agents": [FRAMEWORKS / "python", "loop_of_openai_agents.py", "Go on."],
    "langchain": [FRAMEWORKS / "python", "loop_of_langchain.py", "Go on."],
    "pydantic_ai": [FRAMEWORKS / "python", "loop_of_pydantic_ai.py", "Go on."],
    "inspect": [
        *(OURS / "inspect", "eval", "loop_of_inspect.py", "--model", "openai/gpt-5.4"),
        *("--display", "none", "-M", "responses_api=true"),
    ],
}


@pytest.mark.parametrize("framework", COMMANDS)
def test_a_loop_keeps_the_state_of_its_session(framework: str, tmp_path: Path) -> None:
    for example in LOOPS.glob("*.py"):
        (tmp_path / example.name).symlink_to(example)
    with MockProvider(ResponsesFormat(), scripted(SCRIPT), server="") as provider:
        ran(COMMANDS[framework], tmp_path, provider.url)
    first, refused, second = provider.results
    assert "LIST_001" in first
    assert "prod_nowhere" in refused
    assert "LIST_002" in second


def test_a_plain_client_keeps_the_state_of_its_session(tmp_path: Path) -> None:
    printed = ran([FRAMEWORKS / "python", LOOPS / "loop_of_fastmcp.py"], tmp_path, "http://127.0.0.1:9")
    assert printed.index("LIST_001") < printed.index("LIST_002")


def test_every_example_is_run() -> None:
    assert {path.stem.removeprefix("loop_of_") for path in LOOPS.glob("*.py")} == {*COMMANDS, "fastmcp"}
