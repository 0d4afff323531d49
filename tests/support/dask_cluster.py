"""A Dask cluster on loopback in processes of its own, of which each may be killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.limits import exit_code, first_lines

# What Dask leaves open at its end is no failure of a test, so it has processes of its own. Workers are forks
# of a server that has imported everything once.
_PROGRAM = """
import sys

import dask
from distributed import LocalCluster
from distributed.utils import get_mp_context

if __name__ == "__main__":
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    get_mp_context().set_forkserver_preload(["distributed", "openai", "s3fs", "atr_client.sweep.executors"])
    places = {"host": "127.0.0.1", "dashboard_address": None, "local_directory": sys.argv[1]}
    with LocalCluster(n_workers=2, threads_per_worker=1, **places) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class DaskCluster:
    """Two workers. `process` has the scheduler."""

    address: str
    process: subprocess.Popen[str]


@contextmanager
def dask_cluster(folder: Path) -> Generator[DaskCluster]:
    """`folder` is there, and takes what Dask writes."""
    program, log = folder / "cluster.py", folder / "log"
    program.write_text(_PROGRAM, encoding="utf-8")
    pipe = subprocess.PIPE
    command = [sys.executable, str(program), str(folder)]
    with (
        log.open("w", encoding="utf-8") as told,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=told, text=True) as process,
    ):
        (address,) = first_lines(process, process.stdout, 1, "the start of a cluster")
        assert address, log.read_text(encoding="utf-8")
        try:
            yield DaskCluster(address.strip(), process)
        finally:
            assert process.stdin
            process.stdin.close()
            exit_code(process, "a cluster that was told to end")
