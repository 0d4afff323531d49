"""Going on with a cell that was stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atr_client.cell.cell_runner import run_cell
from atr_client.cell.definition import CellOptions
from atr_client.errors import CellAbort, ManifestMismatch
from atr_client.session.recorder import SessionRecorder
from atr_data import DataError, load_trajectory
from atr_data.calls import SessionEnd, SessionStart, read_calls
from atr_data.constants import FAULTY_TERMINATIONS
from atr_data.trajectory import Trajectory
from tests.support.cells import Player, one_sentence, small_cell, trajectory_names


async def _stopped(root: Path, at: str, words: str = "hello") -> None:
    fault = CellAbort("agent", at, "gone")
    with pytest.raises(CellAbort):
        await run_cell(small_cell(root, player=Player("atr", faults={at: fault}, words=words)))


async def test_finished_sessions_are_kept_and_the_rest_is_run(tmp_path: Path) -> None:
    await _stopped(tmp_path, "l2")
    again = Player("atr", words="other")
    result = await run_cell(small_cell(tmp_path, player=again))
    assert again.ran == ["l2", "t0", "t1"]
    assert "hello in l1" in (again.contexts["l2"] or "")
    assert result.row["ok"]


async def test_attempts_go_on_counting_over_runs(tmp_path: Path) -> None:
    await _stopped(tmp_path, "l1")
    await _stopped(tmp_path, "l1")
    cell = small_cell(tmp_path)
    await run_cell(cell)
    records = list(read_calls(cell.folder.calls))
    starts = [r.attempt for r in records if isinstance(r, SessionStart) and r.session_id == "l1"]
    ends = [r.attempt for r in records if isinstance(r, SessionEnd) and r.session_id == "l1"]
    assert (starts, ends) == ([1, 2, 3], [3])


async def test_a_done_cell_is_not_run_again(tmp_path: Path) -> None:
    first = await run_cell(small_cell(tmp_path))
    player = Player("atr")
    second = await run_cell(small_cell(tmp_path, player=player))
    assert player.ran == []
    assert second.skipped
    assert second.row == {**first.row, "duration_sec": 0.0, "skipped": True}


async def test_a_done_cell_of_another_run_is_refused_before_its_marker_is_believed(tmp_path: Path) -> None:
    await run_cell(small_cell(tmp_path))
    with pytest.raises(ManifestMismatch, match="max_steps was 20, is 5"):
        await run_cell(small_cell(tmp_path, max_steps=5))


@pytest.mark.parametrize("text", [None, "{"])
async def test_a_done_cell_without_a_manifest_is_looked_through_and_gets_one(
    tmp_path: Path, text: str | None
) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    cell.folder.manifest.unlink()
    if text is not None:
        cell.folder.manifest.write_text(text)
    player = Player("atr")
    result = await run_cell(small_cell(tmp_path, player=player))
    assert (player.ran, result.skipped) == ([], False)
    assert json.loads(cell.folder.manifest.read_text())["complete"] is True


@pytest.mark.parametrize("lost", ["l0", "l2", "t0"])
async def test_a_done_cell_that_lost_a_trajectory_runs_that_session_again(tmp_path: Path, lost: str) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    cell.folder.trajectory(lost).unlink()
    player = Player("atr")
    await run_cell(small_cell(tmp_path, player=player))
    assert player.ran == [lost]


async def test_a_fresh_run_removes_what_was_there(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    (cell.folder.trajectories / "foreign.json").write_text("{}")
    player = Player("atr", words="new")
    again = small_cell(tmp_path, player=player, options=CellOptions(fresh=True), max_steps=5)
    await run_cell(again)
    assert len(player.ran) == 5
    assert "foreign.json" not in trajectory_names(cell)
    assert len([r for r in read_calls(cell.folder.calls) if isinstance(r, SessionStart)]) == 5


async def test_a_changed_learning_session_makes_every_later_one_run_again(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    other = one_sentence(cell.episode.learning_sessions[1], "atr", "changed", None)
    changed = other.model_copy(
        update={"context_sha256": load_trajectory(cell.folder.trajectory("l1")).context_sha256}
    )
    cell.folder.trajectory("l1").write_text(changed.model_dump_json())
    cell.folder.done.unlink()
    player = Player("atr")
    await run_cell(small_cell(tmp_path, player=player))
    assert player.ran == ["l2", "t0", "t1"]
    assert "changed" in (player.contexts["t0"] or "")


@pytest.mark.parametrize("other", [{"context_sha256": "0" * 64}, {"agent_variant": "default"}])
async def test_a_stale_trajectory_is_gone_while_its_session_is_run_again(
    tmp_path: Path, other: dict[str, str]
) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    path = cell.folder.trajectory("t0")
    stale = load_trajectory(path).model_copy(update=other)
    path.write_text(stale.model_dump_json())
    cell.folder.done.unlink()
    fault = {"t0": CellAbort("agent", "t0", "gone")}
    with pytest.raises(CellAbort):
        await run_cell(small_cell(tmp_path, player=Player("atr", faults=fault)))
    assert not path.exists()


async def test_a_file_that_does_not_name_its_context_is_reused_by_name(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    path = cell.folder.trajectory("t0")
    nameless = load_trajectory(path).model_copy(update={"context_sha256": None})
    path.write_text(nameless.model_dump_json())
    cell.folder.done.unlink()
    player = Player("atr")
    await run_cell(small_cell(tmp_path, player=player))
    assert player.ran == []


async def test_compatible_mode_reuses_it_by_name(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    path = cell.folder.trajectory("t0")
    stale = load_trajectory(path).model_copy(update={"context_sha256": "0" * 64, "agent_variant": "default"})
    path.write_text(stale.model_dump_json())
    cell.folder.done.unlink()
    player = Player("atr")
    await run_cell(small_cell(tmp_path, player=player, options=CellOptions(compatible=True)))
    assert player.ran == []


async def test_compatible_mode_goes_on_with_other_limits_and_calls_nothing_stale(tmp_path: Path) -> None:
    await _stopped(tmp_path, "l2")
    with pytest.raises(ManifestMismatch):
        await run_cell(small_cell(tmp_path, max_steps=5))
    player = Player("atr")
    cell = small_cell(tmp_path, player=player, max_steps=5, options=CellOptions(compatible=True))
    await run_cell(cell)
    assert player.ran == ["l2", "t0", "t1"]
    assert json.loads(cell.folder.manifest.read_text())["stale_fields"] == []


async def test_a_session_whose_end_was_not_logged_gets_its_record_on_resume(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    lines = cell.folder.calls.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not ('"session_end"' in line and '"t1"' in line)]
    assert len(kept) == len(lines) - 1
    cell.folder.calls.write_text("".join(kept) + '{"record": "torn')
    cell.folder.done.unlink()
    player = Player("atr")
    await run_cell(small_cell(tmp_path, player=player))
    ends = [r.session_id for r in read_calls(cell.folder.calls) if isinstance(r, SessionEnd)]
    assert player.ran == []
    assert sorted(ends) == ["l0", "l1", "l2", "t0", "t1"]


async def test_a_call_of_a_session_is_not_its_end(tmp_path: Path) -> None:
    class Calling(Player):
        async def __call__(self, session: Any, *, memory: Any, recorder: SessionRecorder) -> Trajectory:
            recorder.call(
                turn_idx=2,
                call_id="a",
                caller="agent",
                server="workspace",
                tool="archive_files",
                arguments={},
                result="{}",
                is_error=False,
                seconds=0.0,
            )
            return await super().__call__(session, memory=memory, recorder=recorder)

    cell = small_cell(tmp_path, player=Calling("atr"))
    await run_cell(cell)
    lines = cell.folder.calls.read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"session_end"' not in line]
    cell.folder.calls.write_text("".join(kept))
    cell.folder.done.unlink()
    await run_cell(small_cell(tmp_path))
    ends = [(r.session_id, r.attempt) for r in read_calls(cell.folder.calls) if isinstance(r, SessionEnd)]
    assert ends == [(name, 1) for name in ("l0", "l1", "l2", "t0", "t1")]


@pytest.mark.parametrize("reason", sorted(FAULTY_TERMINATIONS))
async def test_a_session_that_ended_by_a_fault_is_run_again(tmp_path: Path, reason: str) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    path = cell.folder.trajectory("t0")
    broken = load_trajectory(path).model_copy(update={"termination_reason": reason})
    path.write_text(broken.model_dump_json())
    cell.folder.done.unlink()
    player = Player("atr")
    await run_cell(small_cell(tmp_path, player=player))
    assert player.ran == ["t0"]


async def test_what_somebody_passed_over_in_a_done_cell_is_marked(tmp_path: Path) -> None:
    await run_cell(small_cell(tmp_path))
    passing = CellOptions(allow_stale_resume=True)
    cell = small_cell(tmp_path, max_steps=5, options=passing)
    assert (await run_cell(cell)).skipped
    assert json.loads(cell.folder.manifest.read_text())["stale_fields"] == ["max_steps"]


async def test_temporary_files_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    cell.folder.create()
    cell.folder.traces.mkdir()
    for folder in (cell.folder.path, cell.folder.trajectories, cell.folder.traces):
        (folder / "never_written_again.json.tmp").write_text("{")
    await run_cell(cell)
    assert not list(cell.folder.path.rglob("*.tmp"))


@pytest.mark.parametrize(
    ("lost", "ran", "told"),
    [("traces", [], "hello in t0"), ("trajectories", ["t0"], "other in t0"), (None, [], "an old trace")],
)
async def test_a_trace_is_written_when_it_is_lost_or_its_session_was_run_again(
    tmp_path: Path, lost: str | None, ran: list[str], told: str
) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    cell.folder.trace("t0").write_text("an old trace")
    cell.folder.done.unlink()
    if lost == "traces":
        cell.folder.trace("t0").unlink()
    elif lost:
        cell.folder.trajectory("t0").unlink()
    player = Player("atr", words="other")
    await run_cell(small_cell(tmp_path, player=player))
    assert player.ran == ran
    assert told in cell.folder.trace("t0").read_text()


async def test_a_damaged_call_log_is_a_clear_error(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    cell.folder.create()
    cell.folder.calls.write_text("no json\n")
    with pytest.raises(DataError, match=r"calls\.jsonl: line 1"):
        await run_cell(cell)


async def test_an_override_goes_on_and_says_so(tmp_path: Path) -> None:
    await _stopped(tmp_path, "l2")
    options = CellOptions(allow_stale_resume=True)
    cell = small_cell(tmp_path, max_steps=5, options=options)
    await run_cell(cell)
    manifest = json.loads(cell.folder.manifest.read_text())
    assert manifest["stale_fields"] == ["max_steps"]
    assert "going on with sessions of a different run" in cell.folder.run_log.read_text()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"session_id": "l0"}', "\udcff"])
async def test_a_broken_trajectory_is_run_again(tmp_path: Path, text: str) -> None:
    cell = small_cell(tmp_path)
    cell.folder.create()
    cell.folder.trajectory("l0").write_bytes(text.encode("utf-8", "surrogateescape"))
    player = Player("atr")
    await run_cell(small_cell(tmp_path, player=player))
    assert player.ran[0] == "l0"
