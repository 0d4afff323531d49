"""One row of a sweep's summary per cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from atr_client.errors import BudgetReached, CellAbort
from atr_client.outputs.evaluations import is_current, read_evaluation
from atr_client.outputs.layout import CellFolder, CellKey
from atr_data import DataError
from atr_data.constants import CLEAN_TERMINATIONS
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.reading import read_json
from atr_data.trajectory import Trajectory
from atr_data.usage import Usage

Row = dict[str, Any]

_FROM_METRICS = {
    "send_routed_rule": "ls_send_calls_routed_rule",
    "cls_hit": "ls_cls_hits",
    "cls_miss": "ls_cls_misses",
    "cls_classified": "ls_cls_classified",
    "cls_err": "ls_cls_errors",
    "send_routed_task": "ls_send_calls_routed_task",
    "off_protocol": "ls_off_protocol_asks",
    "hook_appended": "ls_hook_appended",
    "hook_rescued": "ls_hook_rescued_sends",
    "stu_mix_turns": "ls_stu_mixed_turns",
    "stu_dup_turns": "ls_stu_duplicate_turns",
    "ts_pass": "success_count",
    "ts_total": "total_test",
}
_TOKEN_ROLES = {"agent": "agent", "router": "router", "user": "user_sim", "cls": "classifier"}


@dataclass(frozen=True, slots=True)
class CellName:
    """The part of a row that is known before the cell runs."""

    key: CellKey
    episode_path: str | None
    privileged: bool = False

    def row(self, *, ok: bool, duration: float, error: str | None = None) -> Row:
        """`duration` in seconds."""
        return {
            "cell_id": self.key.cell_id,
            "episode_path": self.episode_path,
            "variant": self.key.variant,
            "model": self.key.model,
            "memory_layer": self.key.layer,
            "seed": self.key.seed,
            "trial": self.key.trial,
            "privileged": self.privileged,
            "ok": ok,
            "duration_sec": round(duration, 2),
            "error": error,
        }


def failed_row(name: CellName, error: Exception, *, duration: float) -> Row:
    """An aborted cell is one whose surroundings broke; the row names the module and the session. A stopped
    one has met a limit of the sweep."""
    row = name.row(ok=False, duration=duration, error=str(error) or type(error).__name__)
    if isinstance(error, CellAbort):
        row |= {"aborted": True, "module": error.module, "session": error.session_id}
    if isinstance(error, BudgetReached):
        row["stopped"] = True
    return row


def finished_row(
    name: CellName,
    folder: CellFolder,
    metrics: Mapping[str, Any],
    trajectories: Sequence[Trajectory],
    *,
    duration: float,
    verified: bool | None = None,
) -> Row:
    """`metrics` are those of the evaluator, `trajectories` all of the cell, `verified` whether they and the
    call log tell the same. `avg_turns` is the mean number of
    steps per session, null as other metrics are of an agent that was not seen; `non_clean_terminations` maps
    session ids to reasons; costs are in US dollars, null where a price is unknown."""
    unclean = {
        t.session_id: t.termination_reason
        for t in trajectories
        if t.termination_reason not in CLEAN_TERMINATIONS
    }
    learning = [t for t in trajectories if t.session_type == "learning"]
    test = [t for t in trajectories if t.session_type == "test"]
    ls_bad = sum(t.session_id in unclean for t in learning)
    ts_bad = sum(t.session_id in unclean for t in test)
    steps = sum(t.step_count for t in trajectories)
    coverage = metrics["rule_coverage"]
    by_role = usage_by_role(trajectories)
    seen = metrics["step_stats"] is not None
    return {
        **name.row(ok=True, duration=duration),
        "n_learning": len(learning),
        "n_test": len(test),
        **{ours: metrics[theirs] for ours, theirs in _FROM_METRICS.items()},
        "rules_covered": coverage["hit_count"],
        "n_rules": coverage["total"],
        "ls_with_routed_rule": sum(_asked_for_a_rule(t) for t in learning),
        "ls_clean": len(learning) - ls_bad,
        "ls_bad": ls_bad,
        "ts_clean": len(test) - ts_bad,
        "ts_bad": ts_bad,
        "non_clean_terminations": unclean,
        "avg_turns": round(steps / len(trajectories), 2) if trajectories and seen else None,
        **_tokens(metrics["token_usage_total"]),
        "calls_without_usage": sum(usage.calls_without_usage for usage in by_role.values()),
        "reply_faults": _summed_faults(trajectories),
        "cost_usd": cost_usd(by_role.values()) if seen else None,
        "cost_usd_by_role": {role: usage.cost_usd for role, usage in by_role.items()},
        "verified": verified,
        "runs_dir": str(folder.path),
    }


_OF_THE_CELL = ("cell_id", "variant", "model", "memory_layer", "seed")


class _DoneRow(BaseModel):
    """What readers of a finished row count on."""

    model_config = ConfigDict(extra="allow", strict=True)

    ok: Literal[True]
    cell_id: str
    variant: str
    model: str
    ts_pass: int
    ts_total: int
    tok_agent_calls: int
    cost_usd: float | None
    verified: bool | None


def done_row(
    name: CellName,
    folder: CellFolder,
    episode: Episode,
    sessions: Sequence[LearningSession | TestSession],
) -> Row | None:
    """The row of a cell that was finished before, with the folder at hand; None when anything is left to do.

    A trajectory that somebody took away or changed counts as left to do, and so does a marker or a score
    that is damaged, is about something else, or was made by another scorer.
    """
    try:
        row = read_json(folder.done)
        _DoneRow.model_validate(row)
    except (DataError, ValidationError):
        return None
    here = name.row(ok=True, duration=0.0)
    if any(
        row.get(field) != here[field] for field in ("cell_id", "variant", "model", "memory_layer", "seed")
    ):
        return None
    if not all(folder.trajectory(session.session_id).exists() for session in sessions):
        return None
    evaluation = read_evaluation(folder)
    if evaluation is None or not is_current(evaluation, folder, episode, name.key.variant):
        return None
    return {**row, **here, "verified": evaluation["verified"], "runs_dir": str(folder.path), "skipped": True}


class _AbortedRow(BaseModel):
    model_config = ConfigDict(extra="ignore")

    error: str
    aborted: bool = False
    stopped: bool = False
    module: str | None = None
    session: str | None = None


def aborted_row(folder: CellFolder) -> Row | None:
    """Why the last run of a cell broke off, or None when it did not."""
    try:
        return _AbortedRow.model_validate(read_json(folder.aborted)).model_dump(exclude_unset=True)
    except (DataError, ValidationError):
        return None


def _asked_for_a_rule(trajectory: Trajectory) -> bool:
    return any(e.kind == "route_decision" and e.route == "rule" for e in trajectory.interaction_events)


def _summed_faults(trajectories: Sequence[Trajectory]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for trajectory in trajectories:
        counts.update(trajectory.reply_faults)
    return dict(sorted(counts.items()))


def usage_by_role(trajectories: Iterable[Trajectory]) -> dict[str, Usage]:
    """The usage of some sessions, summed."""
    summed: dict[str, Usage] = {}
    for trajectory in trajectories:
        for role, usage in sorted(trajectory.token_usage.items()):
            summed[role] = summed.get(role, Usage()) + usage
    return summed


def cost_usd(usages: Iterable[Usage]) -> float | None:
    """US dollars in all; None where a price or what a call took is unknown, 0 where no model was called."""
    total = sum(usages, Usage())
    return total.cost_usd if total.made_calls else 0.0


def made_calls(row: Mapping[str, Any]) -> bool:
    """Whether any model was called in a cell, by its row."""
    return bool(row.get("calls_without_usage")) or any(row.get(f"tok_{role}_calls") for role in _TOKEN_ROLES)


def _tokens(usage: Mapping[str, Mapping[str, int] | None]) -> Row:
    """A role whose usage is null is one that was not seen."""
    counters = {"in": "prompt_tokens", "out": "completion_tokens", "calls": "calls"}
    return {
        f"tok_{short}_{what}": None if (counted := usage.get(role, {})) is None else counted.get(counter, 0)
        for short, role in _TOKEN_ROLES.items()
        for what, counter in counters.items()
    }
