"""Every Python block of README and docs runs as it stands.

A block runs in a process of its own, with the commands on the PATH and `data` in the folder around it. Blocks
on a framework that is not among our own dependencies run where `make test-clients` has put it, and are
skipped where it has not.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_readme import PAGES

ELSEWHERE = ROOT / ".clients" / "python" / "bin" / "python"
_NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there: nothing reaches another machine."""

TAKEN_FOR_GRANTED = {
    "inspect_ai": """
import tiktoken
class _Words:
    def encode(self, text, **_): return text.split()
tiktoken.get_encoding = lambda name: _Words()
""",
}
"""By a package that the block imports: names that stand for the reader's own, or for what the network has."""

AFTERWARDS = {
    "pydantic_ai": """
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
refused = {"product_id": "prod_nowhere", "quantity": 1}
def model(messages, info):
    if len(messages) < 9:
        return ModelResponse([ToolCallPart("place_order", refused)])
    return ModelResponse([TextPart("done")])
print(agent.run_sync("Go on.", model=FunctionModel(model)).output)
""",
    "inspect_ai": """
from inspect_ai import eval
from inspect_ai.model import ModelOutput, get_model
call = ModelOutput.for_tool_call("mockllm", "build_shopping_list", {"items": ["tea"]})
model = get_model("mockllm/model", custom_outputs=[call, call, ModelOutput.from_content("mockllm", "done")])
(log,) = eval(task, model=model, display="none", log_dir="logs")
assert log.status == "success", log.error
print(*(message.text for message in log.samples[0].messages), sep="\\n")
""",
}
"""What is done with the names that a block leaves behind."""

PRINTED = {
    "langchain_mcp_adapters": ["LIST_001", "LIST_002"],
    "pydantic_ai": ["done"],
    "inspect_ai": ["LIST_001", "LIST_002", "done"],
    "urllib": ["passed"],
}
"""What stands in the output, in this order, of a block that imports the package; others need only run."""


def _blocks() -> Iterator[tuple[str, str]]:
    for file in PAGES:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            yield f"{file.name}:{text[: match.start()].count(chr(10)) + 1}", match[1]


BLOCKS = dict(_blocks())


def _imported(block: str) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(block)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return [name.partition(".")[0] for name in names]


@pytest.mark.parametrize("place", BLOCKS)
def test_a_block_of_python_runs_as_it_stands(place: str, tmp_path: Path) -> None:
    block = BLOCKS[place]
    packages = _imported(block)
    subject = next((package for package in PRINTED if package in packages), packages[0])
    python = Path(sys.executable)
    if any(find_spec(package) is None for package in packages):
        if not ELSEWHERE.exists():
            pytest.skip(f"{subject} is not here; make test-clients brings it")
        python = ELSEWHERE
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "block.py").write_text(
        f"{TAKEN_FOR_GRANTED.get(subject, '')}\n{block}\n{AFTERWARDS.get(subject, '')}", encoding="utf-8"
    )
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HTTPS_PROXY": _NOWHERE,
        "HTTP_PROXY": _NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
    }
    ended = subprocess.run(
        [str(python), "block.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    printed = ".*".join(map(re.escape, PRINTED.get(subject, ())))
    assert re.search(printed, ended.stdout, re.DOTALL), ended.stdout


def test_there_are_blocks_to_be_run() -> None:
    assert {place.partition(":")[0] for place in BLOCKS} >= {"README.md", "clients.md"}
