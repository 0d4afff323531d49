"""Scoring one episode, from its trajectories or from its call log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from atr_data.calls import LogRecord
from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_evaluator.asking import HeldSession, held_sessions
from atr_evaluator.asking_sessions import SessionAsking, asking_by_session
from atr_evaluator.cells import cell_counts
from atr_evaluator.companions import companion_metrics
from atr_evaluator.domains import asking_by_domain
from atr_evaluator.interaction import interaction_metrics
from atr_evaluator.lifecycle import lifecycle_metrics
from atr_evaluator.losses import Loss, loss_classes
from atr_evaluator.memory_companions import memory_companions
from atr_evaluator.payoff import payoff_metrics
from atr_evaluator.runs import run_of_trajectory, runs_of_log
from atr_evaluator.sessions import Scoring, SessionResult, score_sessions, selected
from atr_evaluator.tokens import token_usage


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`document` holds what is compared between implementations: episode_id, variant, session_results and
    metrics. `companions`, `losses` and `asking` stand beside it. `not_available` names the metrics that are
    null because the source cannot tell them."""

    document: dict[str, Any]
    scoring: Scoring
    companions: dict[str, Any]
    losses: list[Loss]
    asking: list[SessionAsking] | None
    not_available: list[str] = field(default_factory=list[str])


def evaluate_episode(
    episode: Episode, trajectories: Sequence[Trajectory], variant: str | None
) -> dict[str, Any]:
    """Scores the trajectories of one cell: `{episode_id, variant, session_results, metrics}`.

    Only trajectories of `variant` count; None or "" takes all. Results keep the order of the trajectories,
    followed by the tests that are missing. Equal inputs give equal results.
    """
    return score_trajectories(episode, trajectories, variant).document


def evaluate_calls(episode: Episode, records: Iterable[LogRecord], variant: str | None) -> dict[str, Any]:
    """Scores a call log alone.

    Session results, payoff metrics and missing lists equal those of `evaluate_episode` on the trajectories of
    the same run in file-name order. The other metrics are null and named in `not_available`.
    """
    evaluation = score_log(episode, records, variant)
    return {**evaluation.document, "not_available": evaluation.not_available}


def score_trajectories(
    episode: Episode, trajectories: Sequence[Trajectory], variant: str | None
) -> Evaluation:
    """As `evaluate_episode`, with what else there is to tell."""
    scoring = score_sessions(episode, [run_of_trajectory(run) for run in trajectories], variant)
    kept = [run for run in trajectories if selected(run.agent_variant, variant)]
    learning = held_sessions(run for run in kept if run.session_type == "learning")
    metrics = _payoff(scoring) | _conduct(episode, kept, learning, scoring.results)
    document = _document(episode, variant, scoring, metrics)
    return Evaluation(
        document,
        scoring,
        companion_metrics(episode, scoring) | memory_companions(episode, kept),
        loss_classes(episode, scoring, learning),
        asking_by_session(episode, learning),
    )


def score_log(episode: Episode, records: Iterable[LogRecord], variant: str | None) -> Evaluation:
    """As `evaluate_calls`, with what else there is to tell."""
    scoring = score_sessions(episode, runs_of_log(records), variant)
    not_available = sorted(_conduct(episode, [], [], []))
    metrics = _payoff(scoring) | dict.fromkeys(not_available)
    document = _document(episode, variant, scoring, metrics)
    companions, losses = companion_metrics(episode, scoring), loss_classes(episode, scoring, ())
    return Evaluation(document, scoring, companions, losses, None, not_available)


def _payoff(scoring: Scoring) -> dict[str, Any]:
    return {
        **payoff_metrics(scoring.results),
        "missing_test_sessions": scoring.missing_test_sessions,
        "missing_learning_sessions": scoring.missing_learning_sessions,
    }


def _conduct(
    episode: Episode,
    trajectories: Sequence[Trajectory],
    learning: Sequence[HeldSession],
    results: Sequence[SessionResult],
) -> dict[str, Any]:
    """The metrics that need whole transcripts."""
    return {
        **interaction_metrics(episode, learning),
        "ls_by_domain": asking_by_domain(episode, learning),
        **cell_counts(episode, learning, results),
        **lifecycle_metrics(trajectories),
        "token_usage_total": token_usage(trajectories),
    }


def _document(
    episode: Episode, variant: str | None, scoring: Scoring, metrics: dict[str, Any]
) -> dict[str, Any]:
    return {
        "episode_id": episode.episode_id,
        "variant": variant,
        "session_results": scoring.results,
        "metrics": metrics,
    }
