"""The timing track step by step: for training loops and evaluation hosts that hold the model themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, cast, get_args

import anyio
from anyio.abc import TaskGroup

from atr_client.errors import ConfigError, StepError
from atr_client.gateway.stepper import EndedSession, Step, SteppedPlay
from atr_client.models.base import AgentModel, ModelReply
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.model_choice import ModelChoice
from atr_client.timing.kept_sittings import read_decisions
from atr_client.timing.timing_cell import TimingCell, run_timing_cell
from atr_client.timing.timing_config import SetConfig, TimingConfig
from atr_client.timing.timing_plan import plan_timing
from atr_client.timing.timing_players import ExternalPlayer
from atr_client.timing.timing_set import TimingSet
from atr_data.trajectory import Message, Trajectory
from atr_evaluator.timing import UserPlay, score_sittings
from atr_servers.timing.sitting import MemoryMode
from atr_servers.timing.tools import DEFAULT_WINDOW


@dataclass(eq=False)
class TimingStepper:
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

    def __post_init__(self) -> None:
        self._group: TaskGroup | None = None
        self._play: SteppedPlay | None = None
        self.last: Step | None = None

    async def __aenter__(self) -> Self:
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        assert self._group, "entered before"
        self._group.cancel_scope.cancel()
        await self._group.__aexit__(*raised)
        self._group = None

    async def reset(self) -> Step:
        """Begins anew. Raises ConfigError for a user that the set lacks or settings that cannot be."""
        if self._group is None:
            raise StepError("the stepper is not entered: async with TimingStepper(...)")
        if self._play:
            self._play.scope.cancel()
        folder = tempfile.TemporaryDirectory(prefix="timing-", ignore_cleanup_errors=True)
        cell = self._cell(Path(folder.name))
        self._play = SteppedPlay(lambda trajectory: _reward(cell, trajectory))

        async def play(agent: Callable[[str], AgentModel], session_over: Callable[[Trajectory], None]) -> Any:
            with folder:
                return await run_timing_cell(replace(cell, agents=lambda: agent, on_session=session_over))

        self._group.start_soon(self._play.run, play)
        return await self._next(self._play)

    async def step(self, reply: ModelReply) -> Step:
        """Gives a reply and returns what comes next. Raises StepError when nothing waits for one."""
        if self._play is None:
            raise StepError("the sittings have not begun: call reset first")
        self._play.reply(reply)
        return await self._next(self._play)

    async def _next(self, play: SteppedPlay) -> Step:
        self.last = None
        self.last = await play.next_step()
        return self.last

    @property
    def conversation(self) -> Sequence[Message]:
        """The running session as it stands."""
        return self._play.seen if self._play else ()

    @property
    def outcome(self) -> dict[str, Any]:
        """Of the sittings once they are done. Raises StepError before."""
        if self._play is None or self._play.result is None:
            raise StepError("the sittings are not over")
        told = ("utility", "decisions", "needs", "assists", "incomplete_sittings")
        return {name: self._play.result[name] for name in told}

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
