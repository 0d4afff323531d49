"""Prints what tables and the report of many cells take: `python -m tests.benchmarks.bench_report [CELLS]`.

The cells are copies of one offline run of two personas under other names of the model: the figures are all
alike, the amount of text is real.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ASKER = "offline/asker"


def played(folder: Path) -> list[Path]:
    """Eight finished cells: two personas, four variants."""
    config = folder / "run.yaml"
    variants = ["default", "atr", "always_ask", "oracle_target"]
    select = ["odalys_renner", "ferran_oduya"]
    document = {"name": "b", "variants": variants, "models": [ASKER], "episodes": {"select": select}}
    config.write_text(json.dumps(document))
    atr_client("run", "--config", config, "--outputs", folder / "one", "--no-progress")
    return sorted(path.parent for path in (folder / "one").glob("*/*/*/eval.json"))


def copied(cells: list[Path], many: Path, count: int) -> int:
    """How many sessions the copies have."""
    sessions = 0
    for number in range(count):
        cell, model = cells[number % len(cells)], f"lab/m{number // len(cells)}"
        name = cell.name.replace(ASKER.replace("/", "-"), model.replace("/", "-"))
        to = many / cell.parent.parent.name / cell.parent.name / name
        shutil.copytree(cell, to, ignore=shutil.ignore_patterns("traces", "calls.jsonl"))
        for path in (to / "cell_manifest.json", to / "_cell_done.json", to / "eval.json"):
            path.write_text(path.read_text().replace(ASKER, model))
        sessions += len(list((to / "trajectories").iterdir()))
    return sessions


def atr_client(*arguments: object) -> float:
    """Seconds of CPU that the command took."""
    command = [sys.executable, "-c", _TIMED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stderr.splitlines()[-1])


_TIMED = """
import resource, sys
from atr_client.cli.app import main
try:
    main(sys.argv[1:])
finally:
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(sum((own.ru_utime, own.ru_stime, children.ru_utime, children.ru_stime)), file=sys.stderr)
"""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 80
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        sessions = copied(played(root), root / "many", count)
        print(f"{count} cells, {sessions} sessions; seconds of CPU:")
        for arguments in (
            ("table", root / "many", "--format", "json"),
            ("export", root / "many", "--out", root / "rows"),
            ("report", root / "many", "--out", root / "report.html"),
        ):
            started = time.perf_counter()
            cpu = atr_client(*arguments)
            print(f"  {arguments[0]:8} {cpu:6.1f} ({time.perf_counter() - started:.1f} s on the clock)")
        print(f"  the report has {(root / 'report.html').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
