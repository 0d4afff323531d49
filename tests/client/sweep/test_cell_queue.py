"""Which cell begins next: the longest first, models in turn, and nobody waits for a provider but its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_client.cell.definition import Cell
from atr_client.sweep.cell_queue import CellQueue
from tests.support.cells import small_cell
from tests.support.command import Done, run_cli, write_config
from tests.support.limits import join, started
from tests.support.provider_script import short_quickstart
from tests.support.slow_provider import SlowProvider, until

Length = tuple[int, int]


def cell(number: int, model: str, length: Length) -> Cell:
    return small_cell(Path(), persona=f"p{number}", model=model, learning=length[0], tests=length[1])


def length_of(cell: Cell) -> Length:
    tests = len(cell.episode.test_sessions)
    return len(cell.sessions) - tests, tests


LENGTHS = st.tuples(st.integers(0, 2), st.integers(0, 2))
CELLS = st.lists(st.tuples(st.sampled_from("abc"), LENGTHS), max_size=9)


@given(CELLS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_every_cell_is_taken_once_within_places_and_shares(
    wanted: list[tuple[str, Length]], at_once: int, chance: Random
) -> None:
    cells = [cell(number, model, length) for number, (model, length) in enumerate(wanted)]
    queue, running, taken = CellQueue(cells, at_once), list[Cell](), list[Cell]()
    while True:
        waiting = {one.key.model for one in cells if one not in taken}
        while one := queue.take():
            running.append(one)
            taken.append(one)
            assert len(running) <= at_once
            share = ceil(at_once / len(waiting | {other.key.model for other in running}))
            assert Counter(other.key.model for other in running)[one.key.model] <= share
            left = [other for other in cells if other.key.model == one.key.model and other not in taken]
            assert all(length_of(one) >= length_of(other) for other in left)
            waiting = {other.key.model for other in cells if other not in taken}
        if not running:
            break
        queue.ended(running.pop(chance.randrange(len(running))).key)
    assert sorted(one.key.cell_id for one in taken) == sorted(one.key.cell_id for one in cells)
    assert not queue.waits


def test_the_first_places_go_to_the_longest_cells_of_different_models() -> None:
    lengths = {"a": [(1, 1), (2, 0)], "b": [(0, 2), (2, 2)], "c": [(0, 1)]}
    cells = [
        cell(number, model, length)
        for number, (model, length) in enumerate((m, one) for m, found in lengths.items() for one in found)
    ]
    queue = CellQueue(cells, 3)
    taken = [one for _ in range(4) if (one := queue.take())]
    assert [(one.key.model, length_of(one)) for one in taken] == [("b", (2, 2)), ("a", (2, 0)), ("c", (0, 1))]
    queue.ended(taken[2].key)
    last = queue.take()
    assert last is not None
    assert (last.key.model, length_of(last)) == ("a", (1, 1)), "c has none left: others may have its place"


@pytest.fixture
def provider() -> Iterator[SlowProvider]:
    provider = SlowProvider()
    provider.start()
    yield provider
    provider.stop()


def run(tmp_path: Path, models: list[object]) -> Done:
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 2))
    limits = {"cells": 2, "calls_per_model": 1, "test_sessions": 2, "call_attempts": 1}
    config = write_config(tmp_path, variants=["oracle_target"], models=models, trials=3, limits=limits)
    places = ("--episodes", episodes, "--outputs", tmp_path / "o")
    return run_cli("run", "--config", config, *places, "--no-progress")


def done_cells(tmp_path: Path) -> Counter[str]:
    names = [path.parent.name for path in (tmp_path / "o").rglob("_cell_done.json")]
    return Counter("quick" if "quick" in name else "slow" for name in names)


def test_a_provider_that_hangs_holds_back_only_its_own_cells(tmp_path: Path, provider: SlowProvider) -> None:
    provider.hold("slow", after=0)
    found: list[Counter[str]] = []

    def watch() -> None:
        until(lambda: done_cells(tmp_path)["quick"] == 3)
        found.append(done_cells(tmp_path))
        provider.release()

    watcher = started(Thread(target=watch))
    done = run(tmp_path, [provider.model("slow"), provider.model("quick")])
    join(watcher, "watching for done cells")
    assert done.exit_code == 0, done.stdout
    assert found == [Counter(quick=3)], "all of the quick model's cells were done while the other one hung"
    assert done_cells(tmp_path) == Counter(quick=3, slow=3)
    assert provider.asked == Counter(slow=6, quick=6)


def test_a_provider_that_is_gone_fails_only_its_own_cells(tmp_path: Path, provider: SlowProvider) -> None:
    gone = {**provider.model("slow"), "base_url": "http://127.0.0.1:9/v1"}
    done = run(tmp_path, [gone, provider.model("quick")])
    assert done.exit_code == 1
    assert done_cells(tmp_path) == Counter(quick=3)
    assert done.stdout.count("aborted: odalys_renner/") == 3
