"""What a provider must answer so that a model plays a cell exactly as an offline agent and user do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import Any

import anyio

from atr_client.cell.cell_runner import run_cell
from atr_client.cell.definition import CellOptions
from atr_client.cell.episode_runner import EpisodeRunner
from atr_client.models.base import AgentModel, Model, ModelReply, Privileged, ToolSpec, agent_for
from atr_client.sweep.config import RunConfig
from atr_client.sweep.plan import Overrides, plan_cells
from atr_data import load_episode, packaged_episodes_dir
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Message
from atr_user_sim import SimulatedUser, UserBrief, simulated_user
from atr_user_sim.interface import (
    ClassifierVerdict,
    HistoryEntry,
    PoolRule,
    RouterVerdict,
    SimulatorReply,
)
from atr_user_sim.offline import OfflineSimulator, offline_classifier, offline_router

QUICKSTART = packaged_episodes_dir() / "odalys_renner_seed000.json"

Script = list[dict[str, Any]]


@dataclass
class Noted:
    """The offline players of a cell. Each answer is noted, in the order in which they are asked, as a
    behaviour of llmock for the model that `names` give to its role."""

    agent: Model
    names: Mapping[str, str]
    script: Script

    def note(self, role: str, text: str | None, calls: Sequence[tuple[str, dict[str, Any]]] = ()) -> None:
        tool_calls = [{"name": name, "arguments": arguments} for name, arguments in calls]
        behavior = {"type": "reply", "text": text, "tool_calls": tool_calls}
        self.script.append({**behavior, "match": {"model": self.names[role]}})

    def for_session(self, episode: Episode, session: LearningSession | TestSession) -> AgentModel:
        return _Agent(self, agent_for(self.agent, episode, session))

    def user_of(self, episode: Episode, session: LearningSession) -> SimulatedUser:
        roles = _Roles(self, OfflineSimulator(UserBrief.of(episode, session)))
        return simulated_user(roles, roles, roles, episode.rules)


@dataclass
class _Agent:
    noted: Noted
    inner: AgentModel

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        reply = await self.inner.respond(messages, tools)
        self.noted.note("agent", reply.content, [(call.name, call.arguments) for call in reply.tool_calls])
        return reply


@dataclass
class _Roles:
    noted: Noted
    simulator: OfflineSimulator

    async def route(self, *, output: str, reason: str) -> RouterVerdict:
        verdict = await offline_router().route(output=output, reason=reason)
        span = verdict.rule_question_span
        flag = verdict.is_strict_rule_question
        self.noted.note("router", dumps({"is_strict_rule_question": flag, "rule_question_span": span}))
        return verdict

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        verdict = await offline_classifier("lexical").classify(question=question, pool=pool)
        self.noted.note("classifier", dumps({"rule_id": verdict.rule_id, "reasoning": "shared words"}))
        return verdict

    async def open(self) -> SimulatorReply:
        reply = await self.simulator.open()
        self.noted.note("simulator", reply.text)
        return reply

    async def reply(
        self, *, agent_text: str, history: Sequence[HistoryEntry], answer_directive: str | None
    ) -> SimulatorReply:
        reply = await self.simulator.reply(
            agent_text=agent_text, history=history, answer_directive=answer_directive
        )
        end = [("mark_task_complete", dict[str, Any]())] if reply.intent == "end" else []
        self.noted.note("simulator", reply.text, end)
        return reply


def offline_script(
    folder: Path, episodes: Path, agent: Model, variant: str, names: Mapping[str, str]
) -> tuple[Script, Mapping[str, Any]]:
    """Plays the cell of the quickstart's persona in `episodes` offline, one session after the other.

    `names` are the models that are to play `agent`, and `router`, `classifier` and `simulator` if models are
    to play the user. Returns the script and the cell's row.
    """
    select = {"select": [QUICKSTART.stem.removesuffix("_seed000")]}
    config = RunConfig.model_validate(
        {"name": "x", "episodes": select, "variants": [variant], "models": ["offline/noop"]}
    )
    (cell,) = plan_cells(config, folder, Overrides(episodes=episodes))
    noted = Noted(agent, names, [])
    players = cell.run_session
    assert isinstance(players, EpisodeRunner)
    players = replace(players, model=Privileged(noted.for_session))
    if "router" in names:
        players = replace(players, user_of=noted.user_of)
    alone = replace(cell, run_session=players, options=CellOptions(test_sessions=1))
    return noted.script, anyio.run(run_cell, alone).row


def short_quickstart(folder: Path, *, learning: int, tests: slice) -> Path:
    """The quickstart persona's episode with its first learning sessions and some of its tests, in a folder of
    its own."""
    episode = load_episode(QUICKSTART)
    short = episode.model_copy(
        update={
            "learning_sessions": episode.ordered_learning_sessions()[:learning],
            "test_sessions": episode.test_sessions[tests],
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / QUICKSTART.name).write_text(short.model_dump_json(), encoding="utf-8")
    return folder
