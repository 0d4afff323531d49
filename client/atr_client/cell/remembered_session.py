"""One session from the opening of its memory to what the memory keeps of it."""

from __future__ import annotations

from atr_client.cell.definition import SessionRunner
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.recorder import SessionRecorder
from atr_data.episode import LearningSession, TestSession
from atr_data.trajectory import Trajectory


async def played(
    session: LearningSession | TestSession,
    run: SessionRunner,
    memory: SessionMemory,
    recorder: SessionRecorder,
) -> Trajectory:
    """What the memory learned is safe before the trajectory is written. Raises CellAbort."""
    async with memory.open(recorder) as opened:
        trajectory = await run(session, memory=opened, recorder=recorder)
        await opened.keep(trajectory)
    return trajectory
