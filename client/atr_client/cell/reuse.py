"""Whether a trajectory on disk is the one that this run would make."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from atr_client.session.agent_memory import SessionMemory
from atr_data import DataError, load_trajectory
from atr_data.constants import FAULTY_TERMINATIONS
from atr_data.episode import LearningSession, TestSession
from atr_data.reading import Missing
from atr_data.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class OnDisk:
    """`trajectory` can be reused; otherwise `refusal` says why not, or is None when there is no file.

    A `stale` file is whole, but belongs to another context or variant.
    """

    trajectory: Trajectory | None = None
    refusal: str | None = None
    stale: bool = False


def look_up(
    path: Path,
    session: LearningSession | TestSession,
    *,
    variant: str,
    memory: SessionMemory,
    compatible: bool,
) -> OnDisk:
    """A file is reused when it is whole, ended without a fault, holds this session of this variant with the
    memory it would see now, and the memory after it is at hand. A file that does not name its context is
    reused by name. `compatible` skips the comparison of variant and context, as the original benchmark does.
    """
    try:
        trajectory = load_trajectory(path)
    except Missing:
        return OnDisk()
    except DataError as error:
        return OnDisk(refusal=f"the file is no whole trajectory: {error.reason}")
    if trajectory.termination_reason in FAULTY_TERMINATIONS:
        return OnDisk(refusal=f"it ended with {trajectory.termination_reason}")
    if compatible:
        return OnDisk(trajectory)
    found = (trajectory.session_id, trajectory.session_type, trajectory.agent_variant)
    if found != (session.session_id, session.session_type, variant):
        return OnDisk(refusal=f"it holds {' / '.join(found)}", stale=True)
    if trajectory.context_sha256 not in (None, memory.digest):
        return OnDisk(refusal="the session would see another memory context now", stale=True)
    if not memory.has_learned(trajectory):
        return OnDisk(refusal="what the memory kept of it is gone", stale=True)
    return OnDisk(trajectory)
