"""Sessions per second of a full offline sweep: `python tests/benchmarks/bench_sweep.py [CONFIG] [EPISODES]`.

Runs the configuration (quickstart by default) into a temporary folder and prints; asserts nothing.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import anyio

from atr_client.sweep.config_file import load_config
from atr_client.sweep.plan import Overrides, plan_cells
from atr_client.sweep.sweep_runner import run_sweep


def main(config_name: str = "quickstart", episodes: str | None = None) -> None:
    config = load_config(config_name)
    overrides = Overrides(episodes=Path(episodes) if episodes else None)
    with tempfile.TemporaryDirectory() as outputs:
        started = time.perf_counter()
        cells = plan_cells(config, Path(outputs), overrides)
        planned = time.perf_counter()
        report = anyio.run(lambda: run_sweep(cells, at_once=config.limits.cells))
        seconds = time.perf_counter() - planned
    rows = report.sorted_rows
    sessions = sum(row["n_learning"] + row["n_test"] for row in rows if row["ok"])
    done = sum(row["ok"] for row in rows)
    print(f"{config.name}: {done}/{len(rows)} cells, planned in {planned - started:.2f} s")
    print(f"{sessions} sessions in {seconds:.2f} s: {sessions / seconds:.1f} sessions/s")


if __name__ == "__main__":
    main(*sys.argv[1:])
