"""The timing track step by step: for training loops and evaluation hosts that hold the model themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast, get_args

from atr_client.errors import ConfigError
from atr_client.gateway.stepped_play import EndedSession, Step, SteppedPlay, Stepper
from atr_client.models.base import AgentModel
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.model_choice import ModelChoice
from atr_client.timing.kept_sittings import read_decisions
from atr_client.timing.timing_cell import TimingCell, run_timing_cell
from atr_client.timing.timing_config import SetConfig, TimingConfig
from atr_client.timing.timing_plan import plan_timing
from atr_client.timing.timing_players import ExternalPlayer
from atr_client.timing.timing_set import TimingSet
from atr_data.trajectory import Trajectory
from atr_evaluator.timing import UserPlay, score_sittings
from atr_servers.timing.sitting import MemoryMode
from atr_servers.timing.tools import DEFAULT_WINDOW


@dataclass(eq=False)
class TimingStepper(Stepper):
    """Plays one user's sittings with whoever calls `step`; to be entered as a context, as EpisodeStepper is.

    The reward at the end of a sitting is what its offers were worth, less what false alarms cost; over all
    sittings it sums to the utility times what was possible. `last` is the step that was returned last.
    """

    chosen: TimingSet
    user_id: str
    memory: MemoryMode = "off"
    history_window_s: int = DEFAULT_WINDOW
    turn_budget: int = 8
    timeout: float | None = None

    async def reset(self) -> Step:
        """Begins anew. Raises ConfigError for a user that the set lacks or settings that cannot be."""
        folder = tempfile.TemporaryDirectory(prefix="timing-", ignore_cleanup_errors=True)
        cell = self._cell(Path(folder.name))
        stepped = SteppedPlay(lambda trajectory: _reward(cell, trajectory))

        async def play(agent: Callable[[str], AgentModel], session_over: Callable[[Trajectory], None]) -> Any:
            with folder:
                return await run_timing_cell(replace(cell, agents=lambda: agent, on_session=session_over))

        return await self.begin(stepped, play)

    @property
    def outcome(self) -> dict[str, Any]:
        """Of the sittings once they are done. Raises StepError before."""
        result = self.played()
        told = ("utility", "decisions", "needs", "assists", "incomplete_sittings")
        return {name: result[name] for name in told}

    def _cell(self, root: Path) -> TimingCell:
        config = TimingConfig(
            name="step",
            track="timing",
            set=SetConfig(users=[self.user_id]),
            models=[ModelChoice(id="external")],
            memory=[self.memory],
            history_window_s=[self.history_window_s],
            turn_budget=self.turn_budget,
        )
        (cell,) = plan_timing(config, self.chosen, root, ModelClients(), players=[ExternalPlayer("external")])
        limits = replace(cell.settings.limits, timeout=self.timeout)
        return replace(cell, at_once=1, settings=replace(cell.settings, limits=limits))


def _reward(cell: TimingCell, trajectory: Trajectory) -> tuple[float, EndedSession]:
    ended = EndedSession(trajectory.session_id, trajectory.session_type, trajectory.termination_reason, None)
    log = read_decisions(cell.folder, trajectory.session_id)
    if log is None:
        return 0.0, ended
    scored = score_sittings([UserPlay(cell.files.stream, cell.files.gold, (log,))], cell.rules)
    gain = next(one.gain for one in scored if one.view.sitting_id == trajectory.session_id)
    return gain.net(cell.rules.false_alarm_cost), ended


def timing_steppers(folder: Path) -> dict[str, Callable[[str | None, float | None], TimingStepper]]:
    """A maker of steppers for each user of a set, by `timing/USER`. Raises DataError."""
    chosen = TimingSet.load(folder)

    def make(user_id: str, memory: str | None, timeout: float | None) -> TimingStepper:
        mode = memory or "off"
        if mode not in get_args(MemoryMode):
            raise ConfigError(f"memory: {mode!r} is none of {', '.join(get_args(MemoryMode))}")
        return TimingStepper(chosen, user_id, cast(MemoryMode, mode), timeout=timeout)

    users = (files.stream.header.user_id for files in chosen.users)
    return {f"timing/{user_id}": partial(make, user_id) for user_id in users}
