"""Tests run against one mutant after the other, each in a fork of a process that has all tests at hand."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from _pytest.runner import runtestprotocol

from tests.support.mutation.mutants import Mutant, mutants_of
from tests.support.mutation.reach import Reach

OPTIONS = ("-p", "no:cacheprovider", "-p", "no:xdist", "--capture=sys", "--basetemp=.basetemp")
SOUND = ".sound"
"""What a module is called while a mutant stands in its place; a run that was killed leaves one such file."""
SECONDS_PER_TEST = 15
"""How long a test may take, besides ten times what it took without a fault; time in which others have the
processor does not count."""


class Verdicts:
    """A plugin that judges mutants in place of running the collected tests once.

    `budget` is how many seconds of tests are spent on one mutant; what is left of the tests then is not run.
    """

    def __init__(self, copy: Path, mutants: list[Mutant], reach: Reach, results: Path, budget: float) -> None:
        self._copy = copy
        self._mutants = mutants
        self._reach = reach
        self._results = results
        self._budget = budget
        self._kills: Counter[tuple[str, str]] = Counter()
        self._functions: list[FunctionType] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        self._functions = [it for it in gc.get_objects() if type(it) is FunctionType]
        gc.freeze()
        for number, mutant in enumerate(self._mutants, 1):
            row = self._judge(mutant, items)
            with self._results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            place = f"{mutant.path}:{mutant.line} {mutant.kind}"
            os.write(
                2, f"{number}/{len(self._mutants)} {row['verdict']} {row['seconds']} s {place}\n".encode()
            )
        return True

    def _tests(self, mutant: Mutant, items: dict[str, pytest.Item]) -> tuple[list[str], bool]:
        """The tests that reach a mutant, first those that found its neighbours; and whether only a new import
        shows it."""
        tests = self._reach.of_lines(mutant.path, mutant.line, mutant.last_line)
        imported = not mutant.in_function or "" in tests
        if imported:
            tests |= self._reach.of_lines(mutant.path, 1, 10_000)
        known = [test for test in tests if test in items]

        def rank(test: str) -> tuple[int, float]:
            near = self._kills[mutant.path, test] + 3 * self._kills[mutant.path + mutant.where, test]
            return -near, self._reach.seconds[test]

        chosen: list[str] = []
        left = self._budget
        for test in sorted(known, key=rank):
            if self._reach.seconds[test] <= left or not chosen:
                chosen.append(test)
                left -= self._reach.seconds[test]
        return chosen, imported

    def _judge(self, mutant: Mutant, items: dict[str, pytest.Item]) -> dict[str, object]:
        path = self._copy / mutant.path
        text = path.read_text(encoding="utf-8")
        try:
            compile(mutant.apply(text), mutant.path, "exec", dont_inherit=True)
        except SyntaxError:
            return {"key": mutant.key, "verdict": "no Python", "seconds": 0.0}
        tests, imported = self._tests(mutant, items)
        started = time.monotonic()
        sound = path.rename(path.with_suffix(SOUND))
        path.write_text(mutant.apply(text), encoding="utf-8")
        try:
            trial = [items[test] for test in tests]
            verdict, killer = self._fork(mutant, text, trial, imported) if trial else ("not reached", "")
        finally:
            sound.replace(path)
        if killer:
            self._kills[mutant.path, killer] += 1
            self._kills[mutant.path + mutant.where, killer] += 1
        return {
            "key": mutant.key,
            "verdict": verdict,
            "killer": killer,
            "tests": len(tests),
            "seconds": round(time.monotonic() - started, 1),
            "place": f"{mutant.path}:{mutant.line}",
            "where": mutant.where,
            "kind": mutant.kind,
            "before": mutant.before,
            "after": mutant.after,
        }

    def _fork(self, mutant: Mutant, text: str, items: list[pytest.Item], imported: bool) -> tuple[str, str]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.setpgid(0, 0)
            killer = "?"
            try:
                killer = self._attempt(mutant, text, items, imported, writing)
            except BaseException as error:  # noqa: BLE001
                killer = f"{type(error).__name__}: {error}"
            finally:
                os.write(writing, f"!{killer}\n".encode())
                os._exit(0)
        os.close(writing)
        verdict, killer = "survived", ""
        for line in self._lines(reading, child, items if not imported else []):
            if line.startswith("!"):
                killer = line[1:]
                verdict = "killed" if killer else "survived"
                break
        else:
            verdict = "no end"
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return verdict, killer

    def _lines(self, reading: int, child: int, items: Iterable[pytest.Item]) -> Iterator[str]:
        """What the child says, until it says no more in time."""
        seconds = {item.nodeid: self._reach.seconds[item.nodeid] for item in items}
        patience = 60.0 + 10 * self._budget if not seconds else SECONDS_PER_TEST
        text = b""
        since = time.monotonic() - _kept_waiting(child)
        while time.monotonic() - _kept_waiting(child) - since < patience:
            if not select.select([reading], [], [], 1.0)[0]:
                continue
            part = os.read(reading, 65536)
            since = time.monotonic() - _kept_waiting(child)
            if not part:
                yield "!died"
                return
            text += part
            *whole, text = text.split(b"\n")
            for line in whole:
                test = line.decode(errors="replace")
                if test in seconds:
                    patience = SECONDS_PER_TEST + 10 * seconds[test]
                yield test

    def _attempt(
        self, mutant: Mutant, text: str, items: list[pytest.Item], imported: bool, writing: int
    ) -> str:
        """The test that fails, or nothing."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        name = str(self._copy / mutant.path)
        own = [it for it in self._functions if it.__code__.co_filename == name]
        if imported or not _swap(own, name, text, mutant.apply(text)):
            return _anew([item.nodeid for item in items])
        for item, following in zip(items, [*items[1:], None], strict=True):
            os.write(writing, f"{item.nodeid}\n".encode())
            if any(report.failed for report in runtestprotocol(item, nextitem=following, log=False)):
                return item.nodeid
        return ""


def _kept_waiting(process: int) -> float:
    """For how many seconds a process was ready and had no processor, where the system tells: no test hangs
    because a machine is busy."""
    try:
        waited = Path(f"/proc/{process}/schedstat").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0.0
    return int(waited) / 1e9


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _swap(functions: list[FunctionType], name: str, text: str, changed: str) -> bool:
    """Gives the functions of a module their changed code. False when that is not possible."""
    before = list(_codes(compile(text, name, "exec", dont_inherit=True)))
    after = list(_codes(compile(changed, name, "exec", dont_inherit=True)))
    if [code.co_qualname for code in before] != [code.co_qualname for code in after]:
        return False
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    swapped = False
    for function in functions:
        for old, new in pairs:
            if function.__code__ == old:
                try:
                    function.__code__ = new
                except ValueError:
                    return False
                swapped = True
                break
    return swapped


def _anew(tests: list[str]) -> str:
    """Imports everything of this project again, and runs the tests."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("tests", "conftest") or name.startswith("atr_"):
            del sys.modules[name]

    class First:
        failed = ""

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed and not self.failed:
                self.failed = report.nodeid

    first = First()
    code = pytest.main([*tests, "-x", "-q", *OPTIONS], plugins=[first])
    return "" if code == pytest.ExitCode.OK else first.failed or f"pytest ended with {int(code)}"


def main(plan: Path) -> None:
    """Judges the mutants of a plan in the working directory, a copy of the tree with its own packages."""
    written = json.loads(plan.read_text(encoding="utf-8"))
    reach = Reach.read(Path(written["reach"]))
    copy = Path.cwd()
    for sound in copy.rglob(f"*{SOUND}"):
        sound.replace(sound.with_suffix(".py"))
    wanted = set(written["keys"])
    mutants = [
        mutant
        for path in written["paths"]
        for mutant in mutants_of(path, (copy / path).read_text(encoding="utf-8"))
        if mutant.key in wanted
    ]
    reaching = {test for path in written["paths"] for test in reach.of_lines(path, 1, 10_000) if test}
    files = sorted({test.partition("::")[0] for test in reaching})
    random.Random(len(mutants)).shuffle(mutants)
    verdicts = Verdicts(copy, mutants, reach, Path(written["results"]), written["budget"])
    sys.exit(pytest.main([*files, "-q", *OPTIONS], plugins=[verdicts]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
