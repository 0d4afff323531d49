"""A sweep on a Dask cluster of real processes, which may be killed, and results in a folder or a store."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from distributed import Client

from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.layout import CellFolder
from tests.support.command import run_cli, trajectories, write_config
from tests.support.dask_cluster import dask_cluster
from tests.support.limits import join, started
from tests.support.object_store import ObjectStore
from tests.support.provider_script import short_quickstart
from tests.support.run_tree import run_tree
from tests.support.slow_provider import SlowProvider, until

TESTS = 3
PLACES = ("folder", "file", "s3")
LIMITS = {"cells": 2, "test_sessions": 1, "call_attempts": 1}


@dataclass(frozen=True)
class Cluster:
    address: str
    store: ObjectStore
    provider: SlowProvider

    def kill_busy_worker(self) -> int:
        """The process that plays a cell; its id."""
        with Client(self.address, set_as_default=False) as client:
            busy_with: Any = client.processing()
            (busy,) = (worker for worker, tasks in busy_with.items() if tasks)
            pids: Any = client.run(os.getpid, workers=[busy])
            (pid,) = pids.values()
        os.kill(pid, signal.SIGKILL)
        return pid

    @contextmanager
    def deaths_allowed(self, count: int) -> Generator[None]:
        """Of the workers that had a cell, before Dask gives it up. (Elsewhere it is a setting of Dask's.)"""

        def allow(deaths: int, dask_scheduler: Any) -> int:
            usual = dask_scheduler.allowed_failures
            dask_scheduler.allowed_failures = deaths
            return usual

        with Client(self.address, set_as_default=False) as client:
            usual: Any = client.run_on_scheduler(allow, count)
            try:
                yield
            finally:
                client.run_on_scheduler(allow, usual)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    provider = SlowProvider()
    provider.start()
    with (
        ObjectStore() as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        store.be_known(patch)
        with dask_cluster(tmp_path_factory.mktemp("dask")) as running:
            yield Cluster(running.address, store, provider)
    provider.stop()


def arguments(tmp_path: Path, at: Cluster, place: str = "folder", **keys: Any) -> list[object]:
    """One cell of three test sessions, one after the other, unless the keys say otherwise."""
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, TESTS))
    outputs = {
        "folder": str(tmp_path / "o"),
        "file": f"file://{tmp_path / 'o'}",
        "s3": at.store.address(tmp_path.name),
    }[place]
    whole = {
        "variants": ["oracle_target"],
        "models": [at.provider.model("m")],
        "limits": LIMITS,
        "executor": "dask",
        "cluster": at.address,
        "output": outputs,
        **keys,
    }
    config = write_config(tmp_path, **whole)
    return ["run", "--config", config, "--episodes", episodes, "--no-progress"]


def fetched(tmp_path: Path, cluster: Cluster, place: str) -> Path:
    if place == "s3":
        address = cluster.store.address(tmp_path.name)
        assert run_cli("fetch", address, tmp_path / "o").exit_code in (0, 3)
    return tmp_path / "o"


@pytest.mark.parametrize("place", PLACES)
def test_a_cluster_makes_the_files_that_one_process_makes(
    tmp_path: Path, cluster: Cluster, place: str
) -> None:
    chosen = {"models": ["offline/majority"], "variants": ["atr", "oracle_target"]}
    there = run_cli(*arguments(tmp_path, cluster, place, **chosen))
    assert there.exit_code == 0, there.stdout + there.stderr
    assert "a cluster of 2 workers" in there.stderr
    assert f"2/2 cells, {2 * TESTS}/{2 * TESTS} sessions" in there.stderr
    ours = run_tree(fetched(tmp_path, cluster, place))
    here = tmp_path / "here"
    alone = ("--set", "executor=local", "--set", "cluster=null", "--outputs", here)
    assert run_cli(*arguments(tmp_path, cluster, place, **chosen), *alone).exit_code == 0
    assert ours == run_tree(here)
    assert len([name for name in ours if "/trajectories/" in name]) == 2 * TESTS
    again = run_cli(*arguments(tmp_path, cluster, place, **chosen))
    assert (again.exit_code, again.stderr.count("kept ")) == (0, 2)


@pytest.mark.parametrize("place", ["folder", "s3"])
def test_a_cell_whose_worker_is_killed_goes_on_with_another(
    tmp_path: Path, cluster: Cluster, place: str
) -> None:
    cluster.provider.reset()
    cluster.provider.hold("m", after=2)
    killed: list[int] = []

    def kill() -> None:
        until(lambda: cluster.provider.asked["m"] == 3)
        killed.append(cluster.kill_busy_worker())
        cluster.provider.release()

    killer = started(Thread(target=kill))
    done = run_cli(*arguments(tmp_path, cluster, place))
    join(killer, "killing a worker")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert len(killed) == 1
    assert "start again odalys_renner/" in done.stderr
    assert f"1/1 cells, {TESTS}/{TESTS} sessions" in done.stderr
    assert cluster.provider.asked["m"] == TESTS + 1, "the one session in flight is played again, and no other"
    assert len(trajectories(fetched(tmp_path, cluster, place))) == TESTS


def test_a_cell_whose_workers_are_killed_again_and_again_fails_and_the_next_one_is_played(
    tmp_path: Path, cluster: Cluster
) -> None:
    cluster.provider.reset()
    cluster.provider.hold("m", after=1)

    def kill() -> None:
        for request in (2, 3):
            until(lambda asked=request: cluster.provider.asked["m"] == asked)
            cluster.kill_busy_worker()

    chosen = {"models": [cluster.provider.model(name) for name in "mn"], "limits": {**LIMITS, "cells": 1}}
    with cluster.deaths_allowed(1):
        killer = started(Thread(target=kill))
        done = run_cli(*arguments(tmp_path, cluster, **chosen))
        join(killer, "killing two workers")
    assert done.exit_code == 1, done.stdout + done.stderr
    assert "the cluster gave it up: " in done.stdout
    assert "2 different workers" in done.stdout
    assert "run the same command to go on" in done.stdout
    assert cluster.provider.asked == Counter(m=3, n=TESTS)
    assert played(tmp_path / "o") == Counter(m=1, n=TESTS)
    cluster.provider.release()
    again = run_cli(*arguments(tmp_path, cluster, **chosen))
    assert again.exit_code == 0, again.stdout + again.stderr
    assert cluster.provider.asked == Counter(m=TESTS + 2, n=TESTS), "what was finished is not played again"
    assert played(tmp_path / "o") == Counter(m=TESTS, n=TESTS)


def played(outputs: Path) -> Counter[str]:
    """How many sessions of each model are on disk."""
    names = (Path(name).parts[2] for name in trajectories(outputs))
    return Counter(name.split("model-lab-")[1][0] for name in names)


def test_a_scheduler_that_dies_ends_the_run_and_another_cluster_goes_on(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atr_client.sweep.dask_sweep.CONNECT_SECONDS", 2.0)
    cluster.provider.reset()
    cluster.provider.hold("m", after=1)
    (tmp_path / "dask").mkdir()
    with dask_cluster(tmp_path / "dask") as dying:

        def kill() -> None:
            until(lambda: cluster.provider.asked["m"] == 2)
            dying.process.kill()

        killer = started(Thread(target=kill))
        done = run_cli(*arguments(tmp_path, replace(cluster, address=dying.address)))
        join(killer, "killing a scheduler")
    assert done.exit_code == 1, done.stdout + done.stderr
    assert "the connection to the cluster's scheduler is lost; run the same command to go on" in done.stdout
    assert played(tmp_path / "o") == Counter(m=1)
    cluster.provider.release()
    again = run_cli(*arguments(tmp_path, cluster))
    assert again.exit_code == 0, again.stdout + again.stderr
    assert cluster.provider.asked["m"] == TESTS + 1
    assert played(tmp_path / "o") == Counter(m=TESTS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_let_go_of_their_cells_when_the_run_is_stopped(
    tmp_path: Path, cluster: Cluster, number: signal.Signals
) -> None:
    cluster.provider.reset()
    cluster.provider.hold("m", after=1)
    command = [sys.executable, "-m", "atr_client.cli", *map(str, arguments(tmp_path, cluster))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert until(lambda: cluster.provider.asked["m"] == 2)
    os.kill(process.pid, number)
    _, told = process.communicate(timeout=60)
    (manifest,) = (tmp_path / "o").rglob("cell_manifest.json")
    folder = CellFolder(manifest.parent)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "run the same command to resume" in told
        assert not is_busy(folder, patience=0)
    else:
        assert until(lambda: not is_busy(folder, patience=0))
    assert len(trajectories(tmp_path / "o")) == 1
    cluster.provider.release()
    again = run_cli(*arguments(tmp_path, cluster))
    assert again.exit_code == 0, again.stdout + again.stderr
    assert cluster.provider.asked["m"] == TESTS + 1


def test_a_limit_on_cost_holds_for_all_workers_together(tmp_path: Path, cluster: Cluster) -> None:
    cluster.provider.reset()
    limits = {"cells": 1, "test_sessions": 1, "cost_usd": 4}
    done = run_cli(*arguments(tmp_path, cluster, trials=2, limits=limits))
    assert done.exit_code == 3, done.stdout + done.stderr
    assert "stopped by limits.cost_usd: $4.00 of $4.00 are spent" in done.stderr
    assert cluster.provider.asked == Counter(m=4)


def test_a_cluster_that_is_not_there(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atr_client.sweep.dask_sweep.CONNECT_SECONDS", 0.5)
    for address, reason in (("tcp://127.0.0.1:9", "Timed out"), ("nonsense://x", "unknown address scheme")):
        done = run_cli(*arguments(tmp_path, cluster, cluster=address))
        assert done.exit_code == 2
        assert f"error: cluster: no Dask scheduler answers at {address}: " in done.stderr
        assert reason in done.stderr
    assert not list(tmp_path.rglob("cell_manifest.json"))


def test_doctor_looks_at_cluster_and_store(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atr_client.sweep.dask_sweep.CONNECT_SECONDS", 0.5)
    chosen = {"models": ["offline/majority"]}
    config = arguments(tmp_path, cluster, "s3", **chosen)[2]
    done = run_cli("doctor", "--config", config)
    assert done.exit_code == 0, done.stdout
    assert f"ready      cluster {cluster.address}  a cluster of 2 workers" in done.stdout
    assert f"ready      outputs {cluster.store.address(tmp_path.name)}  can be written to" in done.stdout
    away = ("--set", "cluster=tcp://127.0.0.1:9", "--set", "output=s3://nowhere/x")
    done = run_cli("doctor", "--config", config, *away)
    assert done.exit_code == 1
    assert [line.split()[:3] for line in done.stdout.splitlines()[-2:]] == [
        ["not", "ready", "cluster"],
        ["not", "ready", "outputs"],
    ]


def test_recordings_are_for_one_machine(tmp_path: Path, cluster: Cluster) -> None:
    done = run_cli(*arguments(tmp_path, cluster), "--record", tmp_path / "store")
    assert done.exit_code == 2
    assert "not for executor: dask" in done.stderr


def test_a_worker_that_would_play_another_way_is_not_trusted(tmp_path: Path, cluster: Cluster) -> None:
    """What differs here is an address in the environment, which each worker reads for itself."""
    model = {"id": "local/m", "model": "m"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCAL_BASE_URL", cluster.provider.url)
        done = run_cli(*arguments(tmp_path, cluster, models=[model]))
    assert done.exit_code == 1
    assert "the worker would play the cell in another way than planned (address)" in done.stdout
