"""Which test runs which line, measured once by coverage, its processes included."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import coverage  # pyright: ignore[reportMissingImports]
import pytest

TEST = "ATR_MUTATION_TEST"


@dataclass
class Reach:
    """Processor `seconds` of each test that passed; `tests` of each line, by path. An import counts as a test
    without a name."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    def of_lines(self, path: str, first: int, last: int) -> set[str]:
        lines = self.tests.get(path, {})
        return {test for line in range(first, last + 1) for test in lines.get(line, ())}

    def add(self, seconds: dict[str, float], measured: list[Path]) -> None:
        """Takes in what coverage wrote, in place of what was known of the same tests."""
        self.seconds |= seconds
        for lines in self.tests.values():
            for line, tests in lines.items():
                lines[line] = [test for test in tests if test not in seconds]
        for path in measured:
            data = coverage.CoverageData(str(path))
            data.read()
            for name in data.measured_files():
                lines = self.tests.setdefault(Path(name).relative_to(Path.cwd()).as_posix(), {})
                for line, contexts in data.contexts_by_lineno(name).items():
                    known = {test for test in contexts if not test or test in seconds}
                    lines[line] = sorted(known.union(lines.get(line, ())))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"seconds": self.seconds, "tests": self.tests}), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Reach:
        document = json.loads(path.read_text(encoding="utf-8"))
        tests = {
            name: {int(line): found for line, found in lines.items()}
            for name, lines in document["tests"].items()
        }
        return cls(document["seconds"], tests)


class _Watch:
    """Tells coverage which test runs, and keeps how long each one took."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self._measured = measured
        self.seconds: dict[str, float] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._measured.switch_context(item.nodeid)
        os.environ[TEST] = item.nodeid
        started = _processor_seconds()
        result = yield
        self._measured.switch_context("")
        if item.nodeid not in self._failed:
            self.seconds[item.nodeid] = round(_processor_seconds() - started, 3)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)


def _processor_seconds() -> float:
    """Those of processes that ended among them."""
    return sum(os.times()[:4])


def main(target: Path, rooms: list[str], tests: list[str]) -> None:
    """Runs the tests in the working directory, a copy of the tree that has its own packages on the path, and
    adds to what is known in `target`."""
    copy = Path.cwd()
    data = copy / ".reach"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    (data / "sitecustomize.py").write_text("import coverage\ncoverage.process_startup()\n", encoding="utf-8")
    settings = configparser.ConfigParser(interpolation=None)
    settings["run"] = {
        "context": f"${{{TEST}}}",
        "parallel": "true",
        "sigterm": "true",
        "data_file": str(data / "process"),
        "source": "\n".join(str(copy / room) for room in rooms),
    }
    with (data / "processes.ini").open("w", encoding="utf-8") as file:
        settings.write(file)
    os.environ["COVERAGE_PROCESS_START"] = str(data / "processes.ini")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(data), os.environ["PYTHONPATH"]])
    measured = coverage.Coverage(
        data_file=str(data / "tests"), source=[str(copy / room) for room in rooms], config_file=False
    )
    watch = _Watch(measured)
    measured.start()
    try:
        code = pytest.main([*tests, "-q", "-p", "no:cacheprovider", "-p", "no:xdist"], plugins=[watch])
    finally:
        measured.stop()
        measured.save()
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit(f"pytest ended with {code!r}")
    reach = Reach.read(target) if target.exists() else Reach()
    reach.add(watch.seconds, [data / "tests", *data.glob("process.*")])
    reach.write(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:])
