"""The memory's file when its writer is killed, when there is no room left, and when it is cut short."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from atr_memory import MemoryStore, StoreError
from tests.conftest import ROOT

ROUNDS = 25
KILLED = """
import json, os, random, shutil, signal, sys, time
from pathlib import Path

from atr_memory import MemoryStore

folder, rounds, chance = Path(sys.argv[1]), int(sys.argv[2]), random.Random(3)
path = folder / "live" / "memory.sqlite"
path.parent.mkdir()


def write(told):
    store = MemoryStore(path)
    number = len(store.entries("n"))
    while True:
        store.put_blobs(f"{number} {part} ".encode() * 4000 for part in range(3))
        store.put_learned(str(number), f"{number} " * 2000)
        store.append_session("n", f"s{number}", f"{number} " * 2000)
        os.write(told, f"{number} {store.freeze('n')}\\n".encode())
        number += 1


for turn in range(rounds):
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        write(writing)
    os.close(writing)
    with os.fdopen(reading) as told:
        lines = [told.readline() for _ in range(chance.randrange(3))]
        time.sleep(chance.uniform(0.0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        lines += told.readlines()
    shutil.copytree(path.parent, folder / f"{turn}")
    print(json.dumps([line.split() for line in lines]), flush=True)
"""
FULL = """
import resource, signal, sys
from atr_memory import MemoryStore, StoreError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = MemoryStore(sys.argv[1])
store.append_session("n", "s0", "first")
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
for number in range(1, 100):
    try:
        store.append_session("n", f"s{number}", "x" * 5000)
    except StoreError as error:
        print(number, error)
        break
"""


def test_a_writer_that_is_killed_at_any_instant_leaves_a_whole_store_and_the_next_goes_on(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(ROUNDS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    rounds = done.stdout.splitlines()
    assert len(rounds) == ROUNDS
    snapshots: dict[int, str] = {}
    for turn, told in enumerate(rounds):
        path = tmp_path / str(turn) / "memory.sqlite"
        snapshots |= {int(number): snapshot for number, snapshot in json.loads(told)}
        with MemoryStore(path) as store:
            entries = store.entries("n")
            assert [e.session_id for e in entries] == [f"s{n}" for n in range(len(entries))]
            assert [e.text for e in entries] == [f"{n} " * 2000 for n in range(len(entries))]
            assert len(entries) > max(snapshots, default=-1), "what was told to be written is there"
            for number, snapshot in snapshots.items():
                assert store.snapshot("n", snapshot) == entries[: number + 1]
                assert store.learned(str(number)) == f"{number} " * 2000
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
    assert len(snapshots) > ROUNDS / 3


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="files have no limits here")
def test_a_full_disk_is_a_clear_error_and_what_was_kept_stays(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    number, _, message = done.stdout.partition(" ")
    assert "memory.sqlite: the memory store failed: " in message and message.count("\n") == 1
    with MemoryStore(path) as store:
        assert [e.session_id for e in store.entries("n")] == [f"s{n}" for n in range(int(number))]
        assert store.append_session("n", f"s{number}", "there is room again")


@pytest.mark.parametrize("left", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_file_that_was_cut_short_is_refused_or_read_as_it_was(tmp_path: Path, left: float) -> None:
    path = tmp_path / "memory.sqlite"
    with MemoryStore(path) as store:
        for number in range(20):
            store.append_session("n", f"s{number}", f"{number} " * 500)
        snapshot = store.freeze("n")
        whole = store.entries("n")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * left)])
    try:
        with MemoryStore(path) as store:
            read = store.snapshot("n", snapshot)
    except StoreError as error:
        assert "memory.sqlite: " in str(error) or "has no snapshot" in str(error)
    else:
        assert read == whole
