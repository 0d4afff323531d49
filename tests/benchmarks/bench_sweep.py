"""Whole sweeps of 80 cells with models that answer at once, as processes: sessions per second, on the clock
and of processor time.

python tests/benchmarks/bench_sweep.py [--episodes DIR] [--trials N] [--seconds S] [--processes N ...]

`--seconds` is how long each model call takes; then the critical path is printed beside: per cell its learning
sessions in turn, and its longest test session. Without `--episodes` our five personas are played in four
trials. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CHILD = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import stub_models
from atr_client.cli.app import main
main()
"""
MODEL = {"wire": "openai_chat", "base_url": "http://127.0.0.1:9/v1", "price": {"input": 0, "output": 0}}


def config(folder: Path, *, trials: int, select: str, at_once: int) -> Path:
    """JSON is YAML."""
    ids = ("agent", "router", "classifier", "simulator")
    values: dict[str, Any] = {
        "name": "bench",
        "episodes": {"select": [select]},
        "variants": ["default", "atr", "always_ask", "oracle_target"],
        "models": [{"id": "stub/agent", "reasoning": None}],
        "registry": {"models": {f"stub/{name}": MODEL for name in ids}},
        "user_sim": {"make": "model", **{name: f"stub/{name}" for name in ids[1:]}},
        "trials": trials,
        "limits": {"cells": at_once, "test_sessions": 64 if at_once > 8 else 4, "calls_per_model": 10_000},
    }
    path = folder / "bench.yaml"
    path.write_text(json.dumps(values))
    return path


def measured(arguments: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds on the clock and of processor time of `atr-client` with the stub models, all its processes."""
    began = time.perf_counter()
    command = [sys.executable, "-c", CHILD, str(HERE), *arguments]
    process = os.posix_spawn(sys.executable, command, {**os.environ, **environment}, file_actions=_quiet())
    _, status, used = os.wait4(process, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"failed: {arguments}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime


def _quiet() -> list[Any]:
    return [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]


def critical_path(outputs: Path) -> float:
    """The longest of the cells, in seconds of model latency: from the steps that its sessions took."""
    longest = 0.0
    for cell in outputs.glob("*/*/*/trajectories"):
        learning, tests = 0.0, [0.0]
        for path in cell.glob("*.json"):
            trajectory = json.loads(path.read_text())
            if trajectory["session_type"] == "learning":
                learning += trajectory["duration_seconds"]
            else:
                tests.append(trajectory["duration_seconds"])
        longest = max(longest, learning + max(tests))
    return longest


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes")
    parser.add_argument("--select", default="all")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--processes", nargs="*", default=["1"])
    given = parser.parse_args()
    for processes in given.processes:
        with tempfile.TemporaryDirectory() as folder:
            path = config(
                Path(folder), trials=given.trials, select=given.select, at_once=64 if given.seconds else 4
            )
            outputs = Path(folder) / "outputs"
            common = ["run", "--config", str(path), "--outputs", str(outputs), "--no-progress"]
            if processes != "1":
                common += ["--set", f"processes={processes}"]
            if given.episodes:
                common += ["--episodes", given.episodes]
            environment = {"ATR_STUB_SECONDS": str(given.seconds)}
            _, start = measured([*common, "--dry-run"], environment)
            clock, used = measured(common, environment)
            sessions = sum(1 for _ in outputs.glob("*/*/*/trajectories/*.json"))
            print(f"processes {processes}: {sessions} sessions, clock {clock:.2f} s, processor {used:.2f} s")
            print(
                f"  {sessions / clock:.1f} sessions/s, {sessions / (used - start):.1f} per processor second"
                f" beyond the plan ({start:.2f} s)"
            )
            if given.seconds:
                path_seconds = critical_path(outputs)
                bound = max(path_seconds, used)
                print(f"  critical path {path_seconds:.2f} s, bound {bound:.2f} s: ratio {clock / bound:.2f}")


if __name__ == "__main__":
    main()
