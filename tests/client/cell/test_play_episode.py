"""A whole episode in memory, with any model."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from atr_client import play_episode
from atr_client.agents import OFFLINE_MODELS
from atr_client.cell.cell_runner import run_cell
from atr_client.cell.episode_runner import EpisodeRunner, offline_users
from atr_client.errors import BudgetReached, CellAbort, ClientError, ConfigError, PreflightError
from atr_client.models.base import ModelReply, PerSession, Privileged
from atr_client.models.meter import Meter
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.environments import open_environment
from atr_client.session.recorder import SessionRecorder
from atr_client.session.transports import served
from atr_client.session.turns import SessionSettings
from atr_client.sweep.config import RunConfig
from atr_client.sweep.plan import plan_cells
from atr_client.testing import FunctionModel
from atr_data import DataError, load_episode, load_trajectory
from atr_data.calls import CallLog, LogRecord, read_calls
from atr_data.trajectory import ToolCall
from atr_data.variants import VARIANTS
from atr_servers import build_server
from tests.conftest import ROOT
from tests.support.cells import small_episode

EPISODE = ROOT / "data" / "episodes" / "odalys_renner_seed000.json"


def asker() -> Any:
    return OFFLINE_MODELS["offline/asker"].model()


@pytest.mark.parametrize("variant", ["atr", "oracle_target", "oracle_full"])
@pytest.mark.parametrize("layer", ["context", "none"])
async def test_it_plays_what_a_cell_plays(tmp_path: Path, variant: str, layer: str) -> None:
    config = RunConfig.model_validate(
        {
            "name": "one",
            "episodes": {"select": [str(EPISODE)]},
            "variants": [variant],
            "models": ["offline/asker"],
            "memory_layer": layer,
        }
    )
    (cell,) = plan_cells(config, tmp_path)
    await run_cell(cell)
    played = await play_episode(str(EPISODE), variant, asker(), memory=layer)
    on_disk = [load_trajectory(cell.folder.trajectory(t.session_id)) for t in played.trajectories]
    unlike: Any = {
        "duration_seconds": True,
        "memory_use": {"seconds"},
        "messages": {"__all__": {"timestamp"}},
    }
    assert [t.model_dump(exclude=unlike) for t in played.trajectories] == [
        t.model_dump(exclude=unlike) for t in on_disk
    ]
    scored = json.loads(cell.folder.evaluation.read_text())
    assert played.evaluation["metrics"]["success_count"] == scored["metrics"]["success_count"]


async def test_without_memory_what_was_heard_is_lost_and_what_an_oracle_says_is_not() -> None:
    def read(variant: str, layer: str):
        return play_episode(small_episode(), variant, FunctionModel(_finish), memory=layer)

    for variant in VARIANTS:
        with_context, without = await read(variant, "context"), await read(variant, "none")
        remembers = "<context>" in str(with_context.trajectories[-1].messages[0].content)
        assert remembers
        still = "<context>" in str(without.trajectories[-1].messages[0].content)
        assert still == VARIANTS[variant].is_oracle


def _finish(messages: Any, tools: Any) -> Any:
    from atr_client.models.base import ModelReply
    from atr_data.trajectory import ToolCall

    if any(tool.name == "finish_session" for tool in tools):
        return ModelReply(tool_calls=[ToolCall(id="c", name="finish_session", arguments={})])
    said = {"output": "Goodbye, that is all done.", "reason": "done"}
    return ModelReply(tool_calls=[ToolCall(id="c", name="send_to_user", arguments=said)])


async def test_a_log_takes_every_call_in_a_file_or_an_object(tmp_path: Path) -> None:
    class Sink:
        def __init__(self) -> None:
            self.records: list[LogRecord] = []

        def append(self, record: LogRecord) -> None:
            self.records.append(record)

    sink, path = Sink(), tmp_path / "calls.jsonl"
    for log in (sink, path):
        await play_episode(small_episode(), "atr", FunctionModel(_finish), log=log)
    kept = list(read_calls(path))
    assert [r.record for r in kept] == [r.record for r in sink.records]
    sessions = [s.session_id for s in _all_sessions()]
    for kind in ("session_start", "session_end"):
        assert [(r.session_id, r.attempt) for r in kept if r.record == kind] == [(s, 1) for s in sessions]


async def test_a_log_that_somebody_opened_stays_open_and_every_session_is_told_of(tmp_path: Path) -> None:
    told: list[str] = []
    path = tmp_path / "calls.jsonl"
    with CallLog(path) as log:
        played = await play_episode(
            small_episode(),
            "atr",
            FunctionModel(_finish),
            log=log,
            on_session=lambda trajectory: told.append(trajectory.session_id),
        )
        log.append(next(iter(read_calls(path))))
    assert told == [t.session_id for t in played.trajectories] == [s.session_id for s in _all_sessions()]


def _all_sessions():
    episode = small_episode()
    return [*episode.learning_sessions, *episode.test_sessions]


@pytest.mark.parametrize(
    ("variant", "memory", "error", "reason"),
    [
        ("oracle", None, ConfigError, "unknown variant 'oracle'; one of: default"),
        ("atr", "notes-in-the-margin", ConfigError, "unknown memory layer"),
        ("atr", "external", ConfigError, "the memory layer 'external' needs settings; one of: none"),
    ],
)
async def test_what_cannot_be_played_is_named(
    variant: str, memory: str | None, error: type[ClientError], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        await play_episode(small_episode(), variant, asker(), memory=memory)


async def test_settings_hold_for_every_session() -> None:
    def thinks(messages: Any, tools: Any) -> ModelReply:
        return ModelReply("Hm.")

    played = await play_episode(
        small_episode(), "atr", FunctionModel(thinks), settings=SessionSettings(max_steps=1)
    )
    assert {(t.termination_reason, t.step_count) for t in played.trajectories} == {("max_steps", 1)}


async def test_the_user_of_an_episode_on_file_knows_what_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / EPISODE.name
    path.write_bytes(EPISODE.read_bytes())
    (tmp_path / "odalys_renner.lines.json").write_text('{"rules": {}}')
    with pytest.raises(DataError, match="no lines for this rule"):
        await play_episode(path, "atr", asker())


async def test_no_session_begins_when_the_budget_is_spent(tmp_path: Path) -> None:
    episode = small_episode()
    meter = Meter(1.0, dollars=1.0)
    runner = EpisodeRunner(episode, "atr", asker(), offline_users(), SessionSettings(), meter)
    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, "t0", "test", "atr")
        memory = SessionMemory.of_text(None).unopened(recorder)
        with pytest.raises(BudgetReached):
            await runner(episode.test_sessions[0], memory=memory, recorder=recorder)


async def test_a_session_is_played_where_its_transport_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    @asynccontextmanager
    async def elsewhere(episode: Any, session: Any, transport: str) -> AsyncGenerator[Any]:
        asked.append((session.session_id, transport))
        yield build_server("workspace", [], None, [])

    monkeypatch.setattr("atr_client.cell.episode_runner.served", elsewhere)
    episode = small_episode()
    runner = EpisodeRunner(episode, "atr", asker(), offline_users(), SessionSettings(), transport="http")
    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, "t0", "test", "atr")
        memory = SessionMemory.of_text(None).unopened(recorder)
        with pytest.raises(CellAbort, match="the server offers 1 tools, not 2"):
            await runner(episode.test_sessions[0], memory=memory, recorder=recorder)
    assert asked == [("t0", "http")]


async def test_over_http_a_session_has_its_tools_for_as_long_as_it_is_played(tmp_path: Path) -> None:
    episode = small_episode()
    session = episode.test_sessions[0]
    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, "t0", "test", "atr")
        async with served(episode, session, "in-process") as nothing:
            assert nothing is None
        async with (
            served(episode, session, "http") as url,
            open_environment(episode, session, recorder, target=url) as environment,
        ):
            names = [tool.name for tool in await environment.tools()]
            answer = await environment.call(ToolCall(id="a", name="archive_files"), 2)
        assert names == ["get_user_confirmation", "archive_files"]
        assert answer.is_error and "file_ids" in answer.content
        with pytest.raises(CellAbort, match="cannot connect"):
            async with open_environment(episode, session, recorder, target=url):
                pass


async def test_an_oracle_without_its_statement_is_refused_before_anything_is_played() -> None:
    episode = load_episode(EPISODE)
    mute = episode.model_copy(
        update={"rules": [rule.model_copy(update={"canonical_answer": " "}) for rule in episode.rules]}
    )
    with pytest.raises(PreflightError, match="canonical_answer"):
        await play_episode(mute, "oracle_full", asker())


async def test_only_a_model_that_says_so_is_shown_the_labels() -> None:
    """A method of the right name gives nobody the labels; for_session was such a name."""
    shown: list[Any] = []

    class Curious:
        def for_session(self, episode: Any, session: Any) -> Any:
            shown.append(episode)

        async def respond(self, messages: Any, tools: Any) -> Any:
            return _finish(messages, tools)

    await play_episode(small_episode(), "oracle_full", Curious())
    assert shown == []
    named: list[str] = []
    per_session = PerSession(lambda session_id: named.append(session_id) or FunctionModel(_finish))
    await play_episode(small_episode(), "oracle_full", per_session)
    assert named == [s.session_id for s in small_episode().test_sessions]
    await play_episode(
        small_episode(), "oracle_full", Privileged(lambda e, s: shown.append(s) or FunctionModel(_finish))
    )
    assert shown == small_episode().test_sessions
