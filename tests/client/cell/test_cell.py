"""One cell: order, memory, logs, failures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from atr_client.cell.cell_runner import run_cell
from atr_client.cell.definition import CellOptions
from atr_client.errors import CellAbort, CellBusy, PreflightError
from atr_data.calls import CallRecord, SessionEnd, SessionStart, read_calls
from atr_data.load import load_trajectory
from tests.support.cells import Player, small_cell, trajectory_names


async def test_a_finished_cell_leaves_every_file_of_the_layout(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    result = await run_cell(cell)
    names = {path.name for path in cell.folder.path.iterdir()} - {".lock"}
    assert names == {
        "cell_manifest.json",
        "_cell_done.json",
        "eval.json",
        "run.log",
        "calls.jsonl",
        "trajectories",
        "traces",
    }
    assert trajectory_names(cell) == ["l0.json", "l1.json", "l2.json", "t0.json", "t1.json"]
    assert json.loads(cell.folder.done.read_text()) == result.row
    assert json.loads(cell.folder.manifest.read_text())["complete"] is True


async def test_the_row_counts_what_happened(tmp_path: Path) -> None:
    row = (await run_cell(small_cell(tmp_path))).row
    assert row["ok"] is True
    assert row["error"] is None
    assert (row["n_learning"], row["n_test"]) == (3, 2)
    assert (row["ls_clean"], row["ls_bad"], row["ts_clean"], row["ts_bad"]) == (3, 0, 2, 0)
    assert (row["ts_pass"], row["ts_total"]) == (0, 2)
    assert (row["rules_covered"], row["n_rules"]) == (0, 2)
    assert row["avg_turns"] == 1.0
    assert 0 <= row["duration_sec"] < 3600
    assert row["tok_agent_in"] == row["tok_cls_calls"] == 0
    assert row["runs_dir"] == str(small_cell(tmp_path).folder.path)


async def test_test_sessions_see_the_frozen_memory_and_add_nothing_to_it(tmp_path: Path) -> None:
    player = Player("atr")
    await run_cell(small_cell(tmp_path, player=player))
    assert player.ran == ["l0", "l1", "l2", "t0", "t1"]
    assert player.contexts["l0"] is None
    assert player.contexts["t0"] == player.contexts["t1"]
    assert [f"hello in l{n}" in (player.contexts["t0"] or "") for n in range(3)] == [True] * 3
    assert "t0" not in (player.contexts["t1"] or "")


async def test_a_cell_that_names_no_layer_remembers_all_that_was_said(tmp_path: Path) -> None:
    cell = small_cell(tmp_path, player=(player := Player("atr")))
    key = replace(cell.key, layer=None)
    await run_cell(replace(cell, key=key, folder=key.folder(tmp_path)))
    assert "hello in l2" in (player.contexts["t0"] or "")


async def test_an_oracle_variant_tells_its_statements_and_skips_learning(tmp_path: Path) -> None:
    target, full = Player("oracle_target"), Player("oracle_full")
    await run_cell(small_cell(tmp_path, variant="oracle_target", player=target))
    await run_cell(small_cell(tmp_path, variant="oracle_full", player=full))
    assert target.contexts == {
        "t0": "[Prior statement 1]\n[user]: I keep 0.",
        "t1": "[Prior statement 1]\n[user]: I keep 1.",
    }
    both = "[Prior statement 1]\n[user]: I keep 0.\n\n[Prior statement 2]\n[user]: I keep 1."
    assert full.contexts == {"t0": both, "t1": both}


async def test_each_test_of_the_target_oracle_has_a_frozen_memory_of_its_own(tmp_path: Path) -> None:
    cell = small_cell(tmp_path, variant="oracle_target", player=Player("oracle_target"))
    await run_cell(cell)
    records = list(read_calls(cell.folder.calls))
    assert {record.variant for record in records} == {"oracle_target"}
    calls = [(r.session_id, r.tool) for r in records if isinstance(r, CallRecord)]
    tools = ["append_prior_statement", "freeze", "open_snapshot", "render_context"]
    assert calls == [(session, tool) for session in ("t0", "t1") for tool in tools]


@pytest.mark.parametrize(
    ("variant", "lacking", "refused"),
    [
        ("atr", ["r0", "r1"], ""),
        ("oracle_target", ["r0"], "rule r0 has no canonical_answer"),
        ("oracle_target", ["r1"], "rule r1 has no canonical_answer"),
        ("oracle_full", ["r0", "r1"], "rules without a canonical_answer: r0, r1"),
        ("oracle_full", ["spare"], "rules without a canonical_answer: spare"),
        ("oracle_target", ["spare"], ""),
        ("oracle_target", ["lost"], "test t1 has the unknown rule r1"),
        ("oracle_full", ["lost"], ""),
        ("atr", ["lost"], ""),
    ],
)
async def test_a_statement_is_missed_by_the_oracles_that_would_tell_it(
    tmp_path: Path, variant: str, lacking: list[str], refused: str
) -> None:
    cell = small_cell(tmp_path, variant=variant)
    spare = cell.episode.rules[0].model_copy(update={"rule_id": "spare"})
    rules = [
        rule.model_copy(update={"canonical_answer": " \n" if rule.rule_id in lacking else "I walk."})
        for rule in [*cell.episode.rules, spare]
        if "lost" not in lacking or rule.rule_id != "r1"
    ]
    cell = replace(cell, episode=cell.episode.model_copy(update={"rules": rules}))
    if not refused:
        assert (await run_cell(cell)).row["ok"] is True
        return
    with pytest.raises(PreflightError, match=refused):
        await run_cell(cell)
    assert trajectory_names(cell) == []


async def test_the_call_log_holds_every_session_and_every_memory_call(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    records = list(read_calls(cell.folder.calls))
    sessions = ["l0", "l1", "l2", "t0", "t1"]
    assert [r.session_id for r in records if isinstance(r, SessionStart)] == sessions
    assert [r.session_id for r in records if isinstance(r, SessionEnd)] == sessions
    calls = [r for r in records if isinstance(r, CallRecord)]
    assert {(r.caller, r.server) for r in calls} == {("harness", "memory")}
    assert [(r.session_id, r.tool) for r in calls[:3]] == [
        ("l0", "render_context"),
        ("l0", "append_session"),
        ("l1", "render_context"),
    ]
    frozen = [r.tool for r in calls if r.session_id == "t0"]
    assert frozen == ["freeze", "open_snapshot", "render_context"]
    about = {r.session_id: r.arguments for r in calls if r.tool == "render_context"}
    assert about == {"l0": {}, "l1": {}, "l2": {}, "t0": {"query": "do 0"}, "t1": {"query": "do 1"}}
    assert calls[1].arguments["messages"].startswith("sha256:")
    assert calls[1].turn_idx == len(load_trajectory(cell.folder.trajectory("l0")).messages)
    assert "hello" not in cell.folder.calls.read_text()


async def test_the_manifest_names_the_snapshot_that_the_tests_read(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)

    def frozen() -> tuple[str, list[str]]:
        calls = [r for r in read_calls(cell.folder.calls) if isinstance(r, CallRecord)]
        ids = [json.loads(r.result)["snapshot_id"] for r in calls if r.tool == "freeze"]
        return json.loads(cell.folder.manifest.read_text())["memory_snapshot"], ids

    await run_cell(cell)
    told, ids = frozen()
    assert [told] == ids and len(told) == 32
    cell.folder.trajectory("l2").unlink()
    await run_cell(small_cell(tmp_path, player=Player("atr", words="other")))
    told, ids = frozen()
    assert told == ids[-1] != ids[0] and len(ids) == 2


async def test_test_sessions_run_at_once_up_to_the_limit(tmp_path: Path) -> None:
    player = Player("atr", seconds=0.02)
    options = CellOptions(test_sessions=3)
    result = await run_cell(small_cell(tmp_path, player=player, options=options, tests=6))
    assert player.most_at_once == 3
    assert [t.session_id for t in result.trajectories] == ["l0", "l1", "l2", *(f"t{n}" for n in range(6))]


async def test_after_an_abort_parallel_test_sessions_still_run_to_their_end(tmp_path: Path) -> None:
    fault = CellAbort("agent", "t0", "gone")
    player = Player("atr", seconds=0.01, faults={"t0": fault, "t3": RuntimeError("later")})
    cell = small_cell(tmp_path, player=player, options=CellOptions(test_sessions=2), tests=4)
    with pytest.raises(CellAbort) as caught:
        await run_cell(cell)
    assert caught.value is fault
    assert trajectory_names(cell)[3:] == ["t1.json", "t2.json"]
    assert not cell.folder.done.exists()
    assert json.loads(cell.folder.manifest.read_text())["complete"] is False


@pytest.mark.parametrize("fresh", [False, True])
async def test_a_second_writer_is_refused_while_the_first_one_works(tmp_path: Path, fresh: bool) -> None:
    first = small_cell(tmp_path, options=CellOptions(fresh=fresh))

    class Intruder(Player):
        async def __call__(self, session, **kwargs):
            with pytest.raises(CellBusy, match="another process"):
                await run_cell(small_cell(tmp_path))
            return await super().__call__(session, **kwargs)

    await run_cell(replace(first, run_session=Intruder("atr")))
    assert (await run_cell(small_cell(tmp_path))).skipped


async def test_the_log_binds_cell_and_session_and_tells_of_a_failure(tmp_path: Path) -> None:
    cell = small_cell(tmp_path, player=Player("atr", faults={"l1": RuntimeError("odd")}))
    with pytest.raises(RuntimeError):
        await run_cell(cell)
    lines = [json.loads(line) for line in cell.folder.run_log.read_text().splitlines()]
    assert {line["cell"] for line in lines} == {cell.key.cell_id}
    assert [line["session"] for line in lines if line["event"] == "session done"] == ["l0"]
    assert lines[-1]["event"] == "cell failed"
    assert "odd" in lines[-1]["exception"]


async def test_traces_end_with_the_gold_check_of_test_sessions(tmp_path: Path) -> None:
    cell = small_cell(tmp_path)
    await run_cell(cell)
    assert "gold check" in cell.folder.trace("t0").read_text()
    assert "gold check" not in cell.folder.trace("l0").read_text()
    assert "hello in t0" in cell.folder.trace("t0").read_text()


async def test_traces_can_be_left_out_and_so_can_the_gold_check(tmp_path: Path) -> None:
    none = small_cell(tmp_path / "a", options=CellOptions(traces=False))
    plain = small_cell(tmp_path / "b", options=CellOptions(trace_footers=False))
    await run_cell(none)
    await run_cell(plain)
    assert not none.folder.traces.exists()
    assert "gold check" not in plain.folder.trace("t0").read_text()
