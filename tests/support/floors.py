"""The oldest releases that the package says it works with.

`python -m tests.support.floors` prints them as requirements for pip, with what builds and tests us."""

from __future__ import annotations

import re
import tomllib

from tests.conftest import ROOT

TOOLS = ("editables", "hatchling", "hypothesis", "pytest", "pytest-asyncio", "pytest-timeout", "pytest-xdist")


def floors() -> list[str]:
    """`NAME==VERSION` for each base dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.sub(r"^([\w.-]+)>=([\d.]+).*$", r"\1==\2", needed) for needed in project["dependencies"]]


def tools() -> list[str]:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").split()
    return [line for line in lock if line.partition("==")[0] in TOOLS]


if __name__ == "__main__":
    print(*floors(), *tools())
