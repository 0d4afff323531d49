"""The search for the episode length that gives a stream its burstiness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atr_data.timing.burstiness import burstiness
from atr_data.timing.faults import TimingError
from atr_datagen.timing.settings import Settings

SHORTEST_FOLLOW, LONGEST_FOLLOW = 1.05, 16.0
FEWEST_EVENTS = 72
_TRIES = 24


@dataclass(frozen=True, slots=True)
class Calibration:
    """`follow` that gave burstiness `reached` at the `tries`-th attempt."""

    follow: float
    reached: float
    tries: int


def calibrate(moments_at: Callable[[float], list[float]], settings: Settings) -> Calibration:
    """Bisects on the mean episode length, from the settings' own.

    `moments_at` gives the sorted moments of all self-help events at a length. Raises TimingError
    `bad_config`, with the best value and the reachable range, when the target cannot be met.
    """

    def measured(follow: float) -> float:
        moments = moments_at(follow)
        value = burstiness(moments)
        return -1.0 if value is None else value

    low, high, follow = SHORTEST_FOLLOW, LONGEST_FOLLOW, settings.follow
    best: Calibration | None = None
    for attempt in range(1, _TRIES + 1):
        reached = measured(follow)
        if best is None or abs(reached - settings.target_b) < abs(best.reached - settings.target_b):
            best = Calibration(follow, reached, attempt)
        if not settings.calibrate or abs(reached - settings.target_b) <= settings.tolerance:
            return _enough(Calibration(follow, reached, attempt), moments_at)
        low, high = (follow, high) if reached < settings.target_b else (low, follow)
        if high - low < 0.005:
            break
        follow = (low + high) / 2
    ends = sorted((measured(SHORTEST_FOLLOW), measured(LONGEST_FOLLOW)))
    reached = best.reached if best else -1.0
    raise TimingError(
        "bad_config",
        f"burstiness {settings.target_b} +- {settings.tolerance} cannot be reached: best {reached:.3f}, "
        f"reachable {ends[0]:.3f} to {ends[1]:.3f}",
    )


def _enough(found: Calibration, moments_at: Callable[[float], list[float]]) -> Calibration:
    number = len(moments_at(found.follow))
    if number < FEWEST_EVENTS:
        raise TimingError(
            "bad_config", f"{number} self-help events, at least {FEWEST_EVENTS}: more days or longer ones"
        )
    return found
