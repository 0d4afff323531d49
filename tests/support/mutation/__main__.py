"""`python -m tests.support.mutation ROOM...`: a mutation run over folders of the source. See CONTRIBUTING.

Everything stands in build/mutation: the copy of the tree that is changed, `reach.json` (which test runs which
line), `results.jsonl` (a row per mutant and trial, of which the last counts). A run goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from tests.conftest import ROOT
from tests.support.mutation.mutants import Mutant, mutants_of
from tests.support.scratch import ROOMS, copy_tree

TESTS = ("tests/client", "tests/evaluator", "tests/conformance")
SURVIVED = ("survived", "not reached")


@click.command()
@click.argument("rooms", nargs=-1, required=True)
@click.option("--sample", type=int, help="So many mutants of each module, at random. [default: all]")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option(
    "--budget", type=float, default=20.0, show_default=True, help="Seconds of tests for one mutant."
)
@click.option("--again", is_flag=True, help="Only those that survived, against the tree as it is now.")
@click.option(
    "--measure", "tests", multiple=True, help="Tests to measure; those measured before stay. Repeatable."
)
@click.option(
    "--folder", type=click.Path(path_type=Path), default=ROOT / "build" / "mutation", help="Its own files."
)
def main(
    rooms: tuple[str, ...],
    sample: int | None,
    seed: int,
    budget: float,
    again: bool,
    tests: tuple[str, ...],
    folder: Path,
) -> None:
    """Puts faults into ROOMS, modules or folders of the source, and tells which ones no test notices."""
    folder = folder.resolve()
    copy, results, reach = folder / "copy", folder / "results.jsonl", folder / "reach.json"
    if again or tests or not copy.exists():
        shutil.rmtree(copy, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        copy_tree(folder)
    if tests or not reach.exists():
        _inside(copy, "reach", str(reach), ",".join(ROOMS), *(tests or TESTS))
    places = [copy / room for room in rooms]
    modules = [module for place in places for module in (sorted(place.rglob("*.py")) or [place])]
    paths = [module.relative_to(copy).as_posix() for module in modules]
    mutants = [mutant for path in paths for mutant in _chosen(copy, path, sample, seed)]
    judged = _judged(results)
    if again:
        wanted = [it.key for it in mutants if it.key in judged and judged[it.key]["verdict"] in SURVIVED]
    else:
        wanted = [it.key for it in mutants if it.key not in judged]
    plan = {"reach": str(reach), "results": str(results), "budget": budget, "paths": paths, "keys": wanted}
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    if wanted:
        _inside(copy, "verdicts", str(folder / "plan.json"))
    _report(mutants, _judged(results))


def _inside(copy: Path, module: str, *arguments: str) -> None:
    path = os.pathsep.join([str(copy), *(str(copy / room) for room in ROOMS)])
    command = [sys.executable, "-m", f"tests.support.mutation.{module}", *arguments]
    vectors = os.environ.get("ATR_CONFORMANCE_DIR", str(ROOT.parent / "shared" / "conformance"))
    environment = {**os.environ, "PYTHONPATH": path, "ATR_CONFORMANCE_DIR": vectors}
    code = subprocess.run(command, cwd=copy, env=environment).returncode
    if code:
        sys.exit(code)


def _chosen(copy: Path, path: str, sample: int | None, seed: int) -> list[Mutant]:
    mutants = mutants_of(path, (copy / path).read_text(encoding="utf-8"))
    if sample is None or len(mutants) <= sample:
        return mutants
    drawn = random.Random(f"{seed} {path}").sample(mutants, sample)
    return sorted(drawn, key=lambda mutant: mutant.start)


def _judged(results: Path) -> dict[str, dict[str, Any]]:
    if not results.exists():
        return {}
    rows = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    return {row["key"]: row for row in rows}


def _report(mutants: list[Mutant], judged: dict[str, dict[str, Any]]) -> None:
    for mutant in mutants:
        row = judged.get(mutant.key, {"verdict": "not judged"})
        if row["verdict"] in SURVIVED:
            print(f"{mutant.path}:{mutant.line} {mutant.where} [{mutant.key} {row['verdict']}]")
            print(f"    - {mutant.before}\n    + {mutant.after}".replace("\n", "\n      "))
    counts = Counter(
        judged[mutant.key]["verdict"] if mutant.key in judged else "not judged" for mutant in mutants
    )
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
