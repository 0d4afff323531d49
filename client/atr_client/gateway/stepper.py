"""An episode step by step: for training loops and evaluation hosts that hold the model themselves."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atr_client.cell.episode_runner import UserMaker
from atr_client.cell.known_lines import users_on_file
from atr_client.cell.play_episode import EpisodeResult, play_episode
from atr_client.gateway.stepped_play import EndedSession, Step, SteppedPlay, Stepper
from atr_client.models.base import AgentModel, PerSession
from atr_client.session.turns import SessionSettings
from atr_data import Episode, load_episode
from atr_data.trajectory import Trajectory
from atr_evaluator import evaluate_episode


@dataclass(frozen=True, slots=True)
class Shaping:
    """Rewards beside those for passed tests, all off: `asked` for each question about a standing rule, `hit`
    for each rule that is asked for the first time."""

    asked: float = 0.0
    hit: float = 0.0


@dataclass(eq=False)
class EpisodeStepper(Stepper):
    """Plays an episode in one variant with whoever calls `step`. To be entered as a context:

        async with EpisodeStepper(episode, "atr") as stepper:
            step = await stepper.reset()
            while not step.done:
                step = await stepper.step(await model.respond(stepper.conversation, step.tools))

    Arguments are those of `play_episode`, and so is what comes of it: `result`. Steppers are independent of
    each other, and many may run at once. `last` is the step that was returned last.
    """

    episode: Episode | str | os.PathLike[str]
    variant: str
    user: UserMaker | None = None
    memory: str | None = None
    settings: SessionSettings | None = None
    shaping: Shaping = field(default_factory=Shaping)

    def __post_init__(self) -> None:
        if not isinstance(self.episode, Episode):
            path = Path(self.episode)
            self.episode = load_episode(path)
            self.user = self.user or users_on_file(self.episode, path)

    async def reset(self) -> Step:
        """Begins the episode anew. Raises what `play_episode` raises."""
        assert isinstance(self.episode, Episode), "loaded when it was made"
        play = SteppedPlay(_Reward(self.episode, self.variant, self.shaping).of)
        return await self.begin(play, self._episode_with)

    @property
    def result(self) -> EpisodeResult:
        """Of the episode once it is done. Raises StepError before."""
        return self.played()

    @property
    def outcome(self) -> dict[str, Any]:
        """What came of the episode, in short."""
        metrics = self.result.evaluation["metrics"]
        return {"passed": metrics["success_count"], "tests": metrics["total_test"]}

    async def _episode_with(
        self, agent: Callable[[str], AgentModel], on_session: Callable[[Trajectory], None]
    ) -> EpisodeResult:
        return await play_episode(
            self.episode,
            self.variant,
            PerSession(agent),
            user=self.user,
            memory=self.memory,
            settings=self.settings,
            on_session=on_session,
        )


@dataclass(slots=True)
class _Reward:
    """What the sessions of an episode are worth as they end."""

    episode: Episode
    variant: str
    shaping: Shaping
    hit: set[str] = field(default_factory=set[str])

    def of(self, trajectory: Trajectory) -> tuple[float, EndedSession]:
        passed = None
        if trajectory.session_type == "test":
            results = evaluate_episode(self.episode, [trajectory], self.variant)["session_results"]
            passed = any(r["session_id"] == trajectory.session_id and r["task_success"] for r in results)
        ended = EndedSession(
            trajectory.session_id, trajectory.session_type, trajectory.termination_reason, passed
        )
        return float(bool(passed)) + self._shaped(trajectory), ended

    def _shaped(self, trajectory: Trajectory) -> float:
        events = trajectory.interaction_events
        asked = sum(event.kind == "route_decision" and event.route == "rule" for event in events)
        hit = {event.rule_id for event in events if event.kind == "cls_verdict" and event.rule_id}
        new = hit - self.hit
        self.hit |= new
        return self.shaping.asked * asked + self.shaping.hit * len(new)
