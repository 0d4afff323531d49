"""The Python interpreters of this machine, on the PATH or where pyenv keeps them.

`python -m tests.support.interpreters` prints those that the package supports beside the one that runs it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SUPPORTED = ("3.11", "3.12", "3.13")
OWN = "{}.{}".format(*sys.version_info)


def interpreter(version: str) -> str | None:
    """The first one that says that it is this version; a pyenv shim may stand there and start none."""
    return next((python for python in _places(version) if _says(python, version)), None)


def _places(version: str) -> Iterator[str]:
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    for folder in sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*")):
        yield str(folder / "bin" / "python")


def _says(python: str, version: str) -> bool:
    asked = "import sys; print('{}.{}'.format(*sys.version_info))"
    try:
        found = subprocess.run([python, "-c", asked], capture_output=True, text=True, timeout=60)
    except OSError:
        return False
    return found.returncode == 0 and found.stdout.strip() == version


if __name__ == "__main__":
    print(*(found for version in SUPPORTED if version != OWN and (found := interpreter(version))))
