"""What a run of a cell leaves behind when it ends, breaks off or starts over, also in a store."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from atr_client.cell.cell_runner import run_cell
from atr_client.cell.definition import Cell, CellOptions
from atr_client.cell.progress import Silent
from atr_client.errors import BudgetReached, CellAbort, CellBusy, StoreFault
from atr_client.outputs.cell_archive import CellArchive
from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.layout import CellKey
from atr_client.outputs.stores import Store
from atr_data.calls import SessionStart, read_calls
from atr_data.trajectory import Trajectory
from tests.support.cells import Player, small_cell, trajectory_names

GONE = CellAbort("router", "l1", "gone")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Objects in this process."""
    return Store(f"memory:/{tmp_path.as_posix()}")


def archived(root: Path, store: Store, **fields: Any) -> Cell:
    return replace(small_cell(root, **fields), archive=CellArchive(store, "cell"))


def objects(store: Store) -> dict[str, set[str]]:
    """The objects of a store, and the files in each."""
    found: dict[str, set[str]] = {}
    for name, content in store.all_of(store.names()):
        found[name] = set(zipfile.ZipFile(BytesIO(content)).namelist())
    return found


async def broken_off(cell: Cell, error: Exception = GONE, at: str = "l1") -> None:
    with pytest.raises(type(error)):
        await run_cell(replace(cell, run_session=Player("atr", faults={at: error})))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (GONE, {"aborted": True, "module": "router", "session": "l1"}),
        (BudgetReached("spent"), {"stopped": True}),
        (RuntimeError("odd"), {}),
        (RuntimeError(), {}),
    ],
)
async def test_why_a_run_broke_off_stands_in_the_folder_until_it_goes_on(
    tmp_path: Path, error: Exception, told: dict[str, Any]
) -> None:
    cell = small_cell(tmp_path)
    await broken_off(cell, error)
    row = json.loads(cell.folder.aborted.read_text())
    assert row["ok"] is False and row["error"] == (str(error) or "RuntimeError")
    assert {name: row.get(name) for name in told} == told
    assert not {"aborted", "stopped", "module", "session"} - set(told) & set(row)
    assert 0 <= row["duration_sec"] < 3600
    seen: list[bool] = []

    class Looking(Player):
        async def __call__(self, session: Any, **kwargs: Any) -> Trajectory:
            seen.append(cell.folder.aborted.exists())
            return await super().__call__(session, **kwargs)

    await run_cell(replace(cell, run_session=Looking("atr")))
    assert set(seen) == {False} and not cell.folder.aborted.exists()
    await broken_off(small_cell(tmp_path, options=CellOptions(fresh=True)))
    assert cell.folder.aborted.exists() and not cell.folder.done.exists()


async def test_a_cell_that_broke_off_goes_on_elsewhere_from_what_its_archive_has(
    tmp_path: Path, store: Store
) -> None:
    await broken_off(archived(tmp_path / "a", store))
    ((name, files),) = objects(store).items()
    assert name == "cell.begun.zip"
    assert {"trajectories/l0.json", "calls.jsonl", "_cell_aborted.json", "cell_manifest.json"} <= files
    again = Player("atr", words="other")
    result = await run_cell(archived(tmp_path / "b", store, player=again))
    assert again.ran == ["l1", "l2", "t0", "t1"] and result.row["ok"] is True
    ((name, files),) = objects(store).items()
    assert name == "cell.zip"
    assert {"_cell_done.json", "eval.json", "trajectories/t1.json"} <= files
    assert "_cell_aborted.json" not in files and ".lock" not in files
    player = Player("atr")
    third = await run_cell(archived(tmp_path / "c", store, player=player))
    assert (third.skipped, player.ran) == (True, [])


async def test_fresh_forgets_folder_and_archive(tmp_path: Path, store: Store) -> None:
    await run_cell(archived(tmp_path, store))
    (tmp_path / "leftover").mkdir()
    cell = archived(tmp_path, store, options=CellOptions(fresh=True))
    await broken_off(cell)
    assert list(objects(store)) == ["cell.begun.zip"]
    assert trajectory_names(cell) == ["l0.json"]
    assert (tmp_path / "leftover").exists(), "fresh clears the cell and nothing beside it"
    await run_cell(archived(tmp_path, store, options=CellOptions(fresh=True)))
    assert list(objects(store)) == ["cell.zip"]
    starts = [r.session_id for r in read_calls(cell.folder.calls) if isinstance(r, SessionStart)]
    assert starts == ["l0", "l1", "l2", "t0", "t1"]


async def test_what_was_passed_over_in_a_done_cell_reaches_its_archive_once(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run_cell(archived(tmp_path / "a", store))
    committed: list[str] = []
    put = Store.put

    def counting(self: Store, name: str, content: bytes) -> None:
        committed.append(name)
        put(self, name, content)

    monkeypatch.setattr(Store, "put", counting)
    passing = CellOptions(allow_stale_resume=True)
    for root in ("b", "c"):
        result = await run_cell(archived(tmp_path / root, store, max_steps=5, options=passing))
        assert result.skipped and committed == ["cell.zip"]
    ((_, content),) = store.all_of(["cell.zip"])
    manifest = json.loads(zipfile.ZipFile(BytesIO(content)).read("cell_manifest.json"))
    assert manifest["stale_fields"] == ["max_steps"]


async def test_a_store_that_fails_as_well_hides_no_other_failure(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise StoreFault("full")

    monkeypatch.setattr(Store, "put", refuse)
    cell = archived(tmp_path, store)
    await broken_off(cell)
    assert cell.folder.aborted.exists()
    with pytest.raises(StoreFault, match="full"):
        await run_cell(cell)


@pytest.mark.parametrize(("agent", "cost"), [("model", 0.0), ("external", None)])
async def test_the_manifest_of_a_finished_cell_has_the_cost_of_a_model(
    tmp_path: Path, agent: str, cost: float | None
) -> None:
    cell = small_cell(tmp_path)
    cell = replace(cell, manifest=cell.manifest.model_copy(update={"agent": agent}))
    await run_cell(cell)
    manifest = json.loads(cell.folder.manifest.read_text())
    assert (manifest["complete"], manifest["cost_usd"]) == (True, cost)


async def test_one_after_the_other_test_sessions_stop_at_the_first_failure(tmp_path: Path) -> None:
    player = Player("atr", faults={"t1": CellAbort("agent", "t1", "gone")})
    cell = small_cell(tmp_path, player=player, tests=4)
    with pytest.raises(CellAbort):
        await run_cell(cell)
    assert player.ran == ["l0", "l1", "l2", "t0", "t1"] and player.most_at_once == 1


async def test_a_cell_without_tests_learns_and_ends(tmp_path: Path) -> None:
    player = Player("atr")
    result = await run_cell(small_cell(tmp_path, player=player, tests=0))
    assert player.ran == ["l0", "l1", "l2"]
    assert [t.session_id for t in result.trajectories] == player.ran
    assert result.row["n_test"] == 0


async def test_a_cell_is_busy_while_it_is_written_to(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    busy: list[bool] = []

    class Looking(Player):
        async def __call__(self, session: Any, **kwargs: Any) -> Trajectory:
            busy.append(is_busy(cell.folder, patience=0))
            return await super().__call__(session, **kwargs)

    assert is_busy(cell.folder) is False
    assert not cell.folder.path.exists(), "a look makes no folder"
    await run_cell(replace(cell, run_session=Looking("atr")))
    assert busy == [True] * 5
    assert is_busy(cell.folder, patience=0) is False


async def test_progress_is_told_of_every_session_and_whether_it_was_reused(tmp_path: Path) -> None:
    class Told(Silent):
        def __init__(self) -> None:
            self.sessions: list[tuple[str, str, bool]] = []

        def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None:
            self.sessions.append((key.variant, trajectory.session_id, reused))

    cell = small_cell(tmp_path)
    first, second = Told(), Told()
    with pytest.raises(CellAbort):
        await run_cell(replace(cell, run_session=Player("atr", faults={"l1": GONE})), first)
    await run_cell(cell, second)
    assert first.sessions == [("atr", "l0", False)]
    names = ["l0", "l1", "l2", "t0", "t1"]
    assert second.sessions == [("atr", name, name == "l0") for name in names]


async def test_every_session_that_is_played_waits_to_be_admitted(tmp_path: Path) -> None:
    admitted: list[str] = []

    async def admit(session: Any) -> None:
        if session.session_id == "t1":
            raise BudgetReached("spent")
        admitted.append(session.session_id)

    cell = replace(small_cell(tmp_path), admit=admit)
    with pytest.raises(BudgetReached):
        await run_cell(cell)
    assert admitted == ["l0", "l1", "l2", "t0"]
    starts = [r.session_id for r in read_calls(cell.folder.calls) if isinstance(r, SessionStart)]
    assert starts == admitted, "who was not let in has not begun"


def written_to(cell: Cell) -> Sequence[str]:
    return sorted(path.name for path in cell.folder.path.iterdir())


async def test_who_is_refused_changes_nothing(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)

    class Looking(Player):
        async def __call__(self, session: Any, **kwargs: Any) -> Trajectory:
            if session.session_id == "l1":
                before = written_to(cell)
                with pytest.raises(CellBusy, match=f"another process is writing to {cell.folder.path}"):
                    await run_cell(small_cell(tmp_path, options=CellOptions(fresh=True)))
                assert written_to(cell) == before
            return await super().__call__(session, **kwargs)

    await run_cell(replace(cell, run_session=Looking("atr")))
