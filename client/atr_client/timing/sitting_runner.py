"""Plays one sitting: a fresh workstream server, reached over MCP, and an agent."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from atr_client.errors import CellAbort
from atr_client.models.base import AgentModel
from atr_client.session.environments import CONNECTION_ERRORS, McpEnvironment
from atr_client.session.readability import context_digest
from atr_client.session.recorder import SessionRecorder
from atr_client.session.transcript import Transcript
from atr_client.timing.note_tool import NotePad
from atr_client.timing.played_sitting import VARIANT, PlayedSitting
from atr_client.timing.sitting_loop import SittingLimits, SittingLoop
from atr_client.timing.timing_prompts import sitting_prompt, timing_prompt
from atr_data.timing.set_folder import UserFiles
from atr_data.trajectory import Trajectory
from atr_servers.connections import connect
from atr_servers.timing.sitting import MemoryMode, Observation
from atr_servers.timing.tools import DEFAULT_WINDOW, Workstream
from atr_servers.workstream import serve_workstream

SERVER = "workstream"


@dataclass(frozen=True, slots=True)
class SittingSettings:
    """`history_window_s` in seconds. `notes`: in memory mode `own`, whether the agent keeps notes."""

    memory: MemoryMode = "off"
    history_window_s: int = DEFAULT_WINDOW
    observation: Observation = "text"
    notes: bool = True
    limits: SittingLimits = field(default_factory=SittingLimits)

    @property
    def keeps_notes(self) -> bool:
        return self.memory == "own" and self.notes


async def play_sitting(
    agent: AgentModel,
    files: UserFiles,
    sitting_id: str,
    settings: SittingSettings,
    *,
    recorder: SessionRecorder,
    pad: NotePad | None = None,
) -> PlayedSitting:
    """`pad` holds what the agent knows from before. Raises CellAbort when agent or server fails for good,
    KeyError for a sitting that the stream lacks."""
    started = time.monotonic()
    workstream = Workstream(
        files.stream,
        sitting_id,
        memory=settings.memory,
        history_window_s=settings.history_window_s,
        priors=files.priors,
        observation=settings.observation,
    )
    transcript = Transcript()
    transcript.system(sitting_prompt(pad and pad.memory.context, remembers=pad and pad.remembers))
    transcript.user(timing_prompt("opening"))
    async with _reached(workstream, recorder) as environment:
        listed = list(await environment.tools())
        loop = SittingLoop(
            recorder=recorder,
            agent=agent,
            environment=environment,
            workstream=workstream,
            tools=[*listed, *(pad.tools([tool.name for tool in listed]) if pad else [])],
            pad=pad,
            transcript=transcript,
            limits=settings.limits,
        )
        end = await loop.run()
    trajectory = Trajectory(
        session_id=sitting_id,
        session_type="test",
        agent_variant=VARIANT,
        messages=transcript.messages,
        termination_reason=end.reason,
        termination_subreason=end.subreason,
        step_count=loop.step,
        duration_seconds=round(time.monotonic() - started, 2),
        token_usage=transcript.usage,
        reply_faults=dict(sorted(transcript.reply_faults.items())),
        context_sha256=context_digest(None),
    )
    if pad is not None:
        await pad.close(trajectory)
    return PlayedSitting(trajectory, workstream.state.log())


@asynccontextmanager
async def _reached(workstream: Workstream, recorder: SessionRecorder) -> AsyncGenerator[McpEnvironment]:
    try:
        async with connect(serve_workstream(workstream)) as client:
            yield McpEnvironment(client, domain=SERVER, tool_count=len(workstream.tools), recorder=recorder)
    except CONNECTION_ERRORS as error:
        raise CellAbort("environment", recorder.session_id, f"cannot connect: {error}") from error
