"""Processor time of `atr-client score` on the cells of a finished run, as a process, beside its start and
what reading, digesting and parsing the same files cost: where no cell has a score yet, and where each has the
one that comes out.

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

CHECKS = {"without the cross-check": ["--no-cross-check"], "with the cross-check": []}
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
    found: dict[str, list[float]] = {}
    for _ in range(runs):  # in turn, so that what runs beside meets all of them
        found.setdefault("start", []).append(processor_seconds(f"{folder}/none"))
        found.setdefault("floor", []).append(floor(paths))
        for name, options in CHECKS.items():
            for path in Path(folder).glob("*/*/*/eval.json"):
                path.unlink()
            for when in ("first", "again"):
                found.setdefault(f"{name}, {when}", []).append(processor_seconds(folder, *options))
    start, least = median(found.pop("start")), median(found.pop("floor"))
    print(f"start {start:.2f}; beyond it (least, most):")
    print(f"{'floor':<33} {least:.2f}")
    for name, seconds in found.items():
        beyond, low, high = (one - start for one in (median(seconds), min(seconds), max(seconds)))
        print(f"{name:<33} {beyond:.2f}  ({low:.2f}, {high:.2f}; {beyond / least:.1f} x the floor)")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3)
