"""Results in an object store: whole cells or none, and every refusal with its address and reason."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from atr_client.outputs.cell_archive import packed
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.stores import Store, place_of
from atr_memory import MemoryStore
from tests.support.command import Done, run_cli, trajectories, write_config
from tests.support.object_store import ObjectStore, forget_connections
from tests.support.provider_script import short_quickstart
from tests.support.run_tree import run_tree

SESSIONS = 3
CELL = "odalys_renner/seed000/atr__model-offline-asker__layer-context__seed000"


@pytest.fixture(scope="module")
def objects() -> Iterator[ObjectStore]:
    with ObjectStore() as store, pytest.MonkeyPatch.context() as patch:
        store.be_known(patch)
        yield store


def run(tmp_path: Path, *options: object, **keys: Any) -> Done:
    """One cell of three sessions."""
    episodes = short_quickstart(tmp_path / "episodes", learning=1, tests=slice(0, 2))
    limits = {"cells": 1, "test_sessions": 1}
    config = write_config(tmp_path, models=["offline/asker"], limits=limits, **keys)
    return run_cli("run", "--config", config, "--episodes", episodes, "--no-progress", *options)


def names(address: str) -> list[str]:
    return [name for name in Store(address).names() if "_summary" not in name]


def test_a_finished_cell_is_one_object_and_fetch_makes_a_folder_of_it(
    tmp_path: Path, objects: ObjectStore
) -> None:
    address = objects.address("whole")
    done = run(tmp_path, output=address)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert f"summary: {address}/_summary/runner_" in done.stdout
    (name,) = names(address)
    assert name == f"{CELL}.zip"
    assert run(tmp_path, "--outputs", tmp_path / "here").exit_code == 0
    assert run_cli("fetch", address, tmp_path / "there").exit_code == 0
    there = run_tree(tmp_path / "there")
    assert there.pop(".fetched", None) is None
    assert there == run_tree(tmp_path / "here")
    (summary,) = (tmp_path / "there" / "_summary").iterdir()
    assert json.loads(summary.read_text())["rows"][0]["runs_dir"] == f"{address}/{name}"
    for command in ("status", "score", "table", "verify"):
        assert run_cli(command, tmp_path / "there").exit_code == 0
    plan = run(tmp_path, "--dry-run", output=address)
    assert f"1 cells (1 finished), {SESSIONS} sessions, below {address}" in plan.stdout
    again = run(tmp_path, output=address)
    assert (again.exit_code, "kept " in again.stderr) == (0, True)
    fresh = run(tmp_path, "--fresh", output=address)
    assert (fresh.exit_code, "passed " in fresh.stderr) == (0, True)
    assert run_cli("fetch", address, tmp_path / "there").exit_code == 0


def test_a_full_bucket_loses_no_session_that_it_took(tmp_path: Path, objects: ObjectStore) -> None:
    address = objects.address("full")
    objects.writes_left = 2
    try:
        done = run(tmp_path, output=address)
    finally:
        objects.writes_left = None
    assert done.exit_code == 1
    assert (
        f"failed: odalys_renner/seed000/atr__model-offline-asker__layer-context__seed000: {address}/"
        in done.stdout
    )
    assert "The bucket is full" in done.stdout
    (name,) = names(address)
    assert name.endswith(".begun.zip")
    assert run_cli("fetch", address, tmp_path / "part").exit_code == 3
    kept = trajectories(tmp_path / "part")
    assert len(kept) == 2
    status = run_cli("status", tmp_path / "part")
    assert (status.exit_code, "(2/3 sessions)" in status.stdout) == (3, True)
    again = run(tmp_path, output=address)
    assert again.exit_code == 0, again.stdout + again.stderr
    assert run_cli("fetch", address, tmp_path / "part").exit_code == 0
    assert kept.items() <= trajectories(tmp_path / "part").items(), "what was there was not played again"
    assert [name.endswith(".begun.zip") for name in names(address)] == [False]


def test_what_cannot_be_used_is_refused_before_anything_is_played(
    tmp_path: Path, objects: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(address: str, *told: str) -> None:
        done = run(tmp_path, "--outputs", address)
        assert done.exit_code == 2
        assert all(part in done.stderr for part in told), done.stderr
        assert "Traceback" not in done.stderr

    refused("s3://nowhere/x", "outputs s3://nowhere/x/.write-test", "bucket does not exist")
    refused("s3://", "an address is KIND://BUCKET/FOLDER")
    refused("nonsense://x/y", "nonsense://", "Protocol not known")
    refused("file://elsewhere/x", "three slashes")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    forget_connections()
    refused(objects.address("x"), f"outputs {objects.address('x')}", "credentials")
    forget_connections()


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forget_connections()
    monkeypatch.setitem(sys.modules, "fsspec", None)
    done = run(tmp_path, "--outputs", "s3://b/x")
    assert done.exit_code == 2
    assert "pip install 'atrbench[s3]'" in done.stderr


def test_a_damaged_object_stops_its_cell_alone(tmp_path: Path, objects: ObjectStore) -> None:
    address = objects.address("damaged")
    assert run(tmp_path, output=address).exit_code == 0
    (name,) = names(address)
    store = Store(address)
    content = store.get(name)
    assert content
    store.put(name, content[: len(content) // 2])
    done = run(tmp_path, output=address, variants=["atr", "oracle_target"])
    assert done.exit_code == 1
    assert f"{address}/{name}: no whole archive of a cell" in done.stdout
    assert "passed " in done.stderr
    assert run_cli("fetch", address, tmp_path / "f").exit_code == 1
    assert run(tmp_path, "--fresh", output=address).exit_code == 0


def test_fetch_replaces_nothing_but_what_it_brought(tmp_path: Path, objects: ObjectStore) -> None:
    address = objects.address("mine")
    assert run(tmp_path, output=address).exit_code == 0
    mine = tmp_path / "mine"
    assert run(tmp_path, "--outputs", mine).exit_code == 0
    before = run_tree(mine)
    done = run_cli("fetch", address, mine)
    assert (done.exit_code, "was not fetched from a store" in done.stderr) == (2, True)
    assert run_tree(mine) == before
    assert run_cli("fetch", address, tmp_path / "copy").exit_code == 0
    (name,) = names(address)
    Store(objects.address("another")).put(name, Store(address).get(name) or b"")
    done = run_cli("fetch", objects.address("another"), tmp_path / "copy")
    assert (done.exit_code, f"holds the cells of {address}" in done.stderr) == (2, True)
    for wrong, told in ((objects.address("none"), "no cell below"), (str(mine), "nothing to fetch")):
        done = run_cli("fetch", wrong, tmp_path / "other")
        assert (done.exit_code, told in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["score", "table", "status", "report", "view", "export", "verify"])
def test_readers_say_how_a_store_is_read(command: str) -> None:
    done = run_cli(command, "s3://runs/whole")
    assert done.exit_code == 2
    assert "atr-client fetch" in done.stderr


def test_a_file_address_is_a_folder(tmp_path: Path) -> None:
    assert place_of(f"file://{tmp_path}/a%20b") == tmp_path / "a b"
    assert place_of("file:///x") == Path("/x")
    assert place_of("outputs/x") == Path("outputs/x")


def test_an_archive_has_the_memory_as_its_writer_sees_it(tmp_path: Path) -> None:
    folder = CellFolder(tmp_path / "cell")
    folder.create()
    with MemoryStore(folder.memory):
        archive = zipfile.ZipFile(BytesIO(packed(folder)))
    (tmp_path / "copy.sqlite").write_bytes(archive.read("memory.sqlite"))
    with MemoryStore(tmp_path / "copy.sqlite"):
        pass
    assert archive.namelist() == ["memory.sqlite"]
