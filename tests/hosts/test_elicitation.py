"""A person at a client that is not ours answers for the user, by MCP elicitation.

Run by `make test-hosts`, which brings the client.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from atr_data import load_trajectory
from atr_data.constants import USER_END
from tests.conftest import ROOT
from tests.hosts.test_foreign_loops import FRAMEWORKS

SAYS = "Whatever arrives first."


def test_the_person_at_a_fastmcp_client_is_the_user(tmp_path: Path) -> None:
    gateway = [sys.executable, "-m", "atr_client.cli", "play", "odalys_renner", "--variant", "atr"]
    place = ["--user", "human", "--user-at", "client", "--outputs", str(tmp_path)]
    program = ROOT / "tests" / "hosts" / "ask_through_fastmcp.py"
    ended = subprocess.run(
        [FRAMEWORKS / "python", program, *gateway, *place],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert len(told["asked"]) == 2
    assert all(f"The agent says:\n\nQuestion {n}?" in text for n, text in enumerate(told["asked"]))
    (first,), (second,) = told["heard"]
    assert SAYS in first["user"]
    assert (second["user"], second["session"]) == (None, "over")
    (path,) = tmp_path.rglob("trajectories/*.json")
    trajectory = load_trajectory(path)
    assert trajectory.termination_reason == "task_complete"
    said = [message.content for message in trajectory.messages if message.role == "user"]
    assert said[1:] == [first["user"], USER_END]
    (manifest,) = tmp_path.rglob("cell_manifest.json")
    recorded = json.loads(manifest.read_text(encoding="utf-8"))
    assert recorded["user_sim"]["make"] == "human"
    (client,) = recorded["clients"]
    print(client)
