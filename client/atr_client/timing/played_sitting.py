"""What is left of a sitting once it is played."""

from __future__ import annotations

from dataclasses import dataclass

from atr_data.timing.decisions import SittingLog
from atr_data.trajectory import Trajectory

VARIANT = "timing"
"""In the place where the trajectories of episodes say how their agent was prompted."""


@dataclass(frozen=True, slots=True)
class PlayedSitting:
    """What was said and done, and the decisions in it."""

    trajectory: Trajectory
    log: SittingLog
