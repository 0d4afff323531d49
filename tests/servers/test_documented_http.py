"""The requests of docs/clients.md, sent as they are written there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.tiny_episode import serve_command


def _requests() -> str:
    text = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n(HOST=.*?)^```", text, re.MULTILINE | re.DOTALL)
    return block


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl here")
def test_the_documented_requests_work(tmp_path: Path) -> None:
    command = serve_command("--http", "--port", "0", "--admin-token-file", tmp_path / "admin.token")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        try:
            assert host.stdout
            url = json.loads(host.stdout.readline())["url"]
            script = (
                _requests().replace("http://127.0.0.1:8765", url).replace("curl -s ", "curl -sS -f -w '\\n' ")
            )
            ended = subprocess.run(["bash", "-euc", script], cwd=tmp_path, capture_output=True, text=True)
        finally:
            host.terminate()
    assert ended.returncode == 0, ended.stderr
    opened, state, calls = map(json.loads, filter(None, ended.stdout.splitlines()))
    assert opened["url"].endswith(f"/env/{opened['id']}/mcp")
    assert state["tables"]["products"]["prod_1"]["name"] == "Lamp"
    assert calls == {"calls": [], "dropped": 0}
