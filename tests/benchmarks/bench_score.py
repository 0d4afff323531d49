"""Processor time of `atr-client score` on the cells of a finished run, as a process, beside its start and
what reading, digesting and parsing the same files cost.

python tests/benchmarks/bench_score.py DIR [RUNS]
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path
from statistics import median

import msgspec

COMMAND = "from atr_client.cli.app import main; main()"


def processor_seconds(*arguments: str) -> float:
    """Of the command and all its processes."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    command = [sys.executable, "-c", COMMAND, "score", *arguments]
    process = os.posix_spawn(sys.executable, command, os.environ, file_actions=quiet)
    _, _, used = os.wait4(process, 0)
    return used.ru_utime + used.ru_stime


def floor(paths: list[Path]) -> float:
    """Reading, SHA-256 and one parse that skips what it does not name."""
    skipping = msgspec.json.Decoder(msgspec.defstruct("Skipped", [("session_id", str)]))
    began = time.process_time()
    for path in paths:
        content = path.read_bytes()
        hashlib.sha256(content).digest()
        skipping.decode(content)
    return time.process_time() - began


def main(folder: str, runs: int = 3) -> None:
    paths = sorted(Path(folder).glob("*/*/*/trajectories/*.json"))
    size = sum(path.stat().st_size for path in paths) / 2**20
    print(f"{len(paths)} trajectories, {size:.0f} MiB; processor seconds, medians of {runs}")
    start = median(processor_seconds(f"{folder}/none") for _ in range(runs))
    least = median(floor(paths) for _ in range(runs))
    print(f"start                       {start:.2f}")
    print(f"floor beyond start          {least:.2f}")
    for name, options in (("without the cross-check", ["--no-cross-check"]), ("with the cross-check", [])):
        beyond = median(processor_seconds(folder, *options) for _ in range(runs)) - start
        print(f"{name:<27} {beyond:.2f}  ({beyond / least:.1f} x the floor)")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
