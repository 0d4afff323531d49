"""`atr-server workstream`: a sitting as a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters, stdio_client

from atr_data.timing import save_stream
from atr_data.timing.set_folder import load_logs
from atr_servers.cli.app import cli
from tests.support.timing_sets import event, tiny_stream

STREAM = tiny_stream([event(0), event(30), event(60, self_help=True), event(90)])


async def test_decisions_are_on_disk_after_each_call(tmp_path: Path) -> None:
    path, log = tmp_path / "ada.stream.jsonl", tmp_path / "log.jsonl"
    save_stream(STREAM, path)
    arguments = ["-m", "atr_servers.cli", "workstream", str(path), "--sitting", "s1", "--log", str(log)]
    process = StdioServerParameters(command=sys.executable, args=arguments)
    async with Client(stdio_client(process)) as client:
        await client.call_tool("start_sitting", {})
        await client.call_tool("assist", {"event_id": "e0", "intent": "coding"})
        (first,) = load_logs(log)
        assert (first.status, len(first.decisions)) == ("running", 1)
        await client.call_tool("stay_silent", {"event_id": "e30", "for_events": 2})
    (last,) = load_logs(log)
    assert (last.status, [d.event_id for d in last.decisions]) == ("finished", ["e0", "e30", "e90"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--sitting", "s2"), "no sitting 's2'"),
        (("--sitting", "s1", "--window", "45"), "history_window_s is 45"),
        (("--sitting", "s1", "--memory", "priors"), "priors"),
        (("--sitting", "s1", "--memory", "elephant"), "elephant"),
    ],
)
def test_mistakes_are_usage(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    path = tmp_path / "ada.stream.jsonl"
    save_stream(STREAM, path)
    result = CliRunner().invoke(cli, ["workstream", str(path), *options])
    assert (result.exit_code, said in result.output) == (2, True)
