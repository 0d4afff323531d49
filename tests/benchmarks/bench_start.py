"""How long a client waits for the first answer of `atr-server serve` over stdio, beside a bare server on the
MCP SDK. Runs alternate, so that both meet the same load of the machine; processor time is counted besides.

python tests/benchmarks/bench_start.py [RUNS]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

BARE = """
import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def run():
    server = Server("bare")
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())

anyio.run(run)
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def start(command: Sequence[str]) -> tuple[float, float]:
    """Seconds until `initialize` is answered: on the clock, and of processor time."""
    spent = _processor_seconds()
    began = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        waited = time.perf_counter() - began
        server.kill()
    assert "result" in answer, answer
    return waited, _processor_seconds() - spent


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        references = Path(folder) / "references.json"
        references.write_text("[]")
        serve = ["-m", "atr_servers.cli", "serve", "commerce", "--references", str(references)]
        commands = {"bare server": [sys.executable, "-c", BARE], "atr-server": [sys.executable, *serve]}
        times = {name: [start(commands[name])] for name in commands}
        for _ in range(runs - 1):
            for name, command in commands.items():
                times[name].append(start(command))
    for kind, place in (("clock", 0), ("processor", 1)):
        middle = {name: median(run[place] for run in times[name]) for name in times}
        shown = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in middle.items())
        print(f"{kind}: {shown}, ratio {middle['atr-server'] / middle['bare server']:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
