"""One row per scored cell, the summary of them, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from atr_evaluator.cell_score import CellScore

EXIT_OK, EXIT_FAILED, EXIT_INCOMPLETE = 0, 1, 3

_LEFT_OUT = frozenset(
    {
        "ls_by_domain",
        "ls_stu_mixed_turns",
        "ls_stu_duplicate_turns",
        "ls_stu_duplicate_drops",
        "stu_mixed_rate",
        "stu_duplicate_rate",
        "ls_rule_hook_token_missing_total",
        "ls_rule_hook_token_missing_by_cls",
        "token_usage_total",
    }
)
"""Metrics of a cell that its row does not repeat; token usage stands there under `token_usage`."""


@dataclass(frozen=True, slots=True)
class CellIdentity:
    """Which cell a row is about. `runs_dir` is its folder."""

    cell_id: str
    episode_path: str
    variant: str | None
    model: str | None
    memory_layer: str | None
    seed: int | None
    runs_dir: str


def score_row(cell: CellIdentity, outcome: CellScore | str, *, duration_sec: float) -> dict[str, Any]:
    """The row of a cell; `outcome` is its score, or the reason why there is none.

    A cell without a score is not ok and not incomplete. Token sums are null when the score lacks them.
    """
    row = {**asdict(cell), "duration_sec": round(duration_sec, 2)}
    if isinstance(outcome, str):
        failed = {"ok": False, "incomplete": False, "verified": None}
        return {**row, **failed, "error": outcome, "eval_path": None}
    metrics: dict[str, Any] = outcome.document["metrics"]
    return {
        **row,
        "ok": True,
        "incomplete": outcome.incomplete,
        "verified": outcome.verified,
        "error": None,
        "eval_path": str(outcome.path),
        **{name: value for name, value in metrics.items() if name not in _LEFT_OUT},
        "token_usage": metrics["token_usage_total"],
        **_token_sums(metrics["token_usage_total"]),
    }


def _token_sums(usage: dict[str, dict[str, int] | None] | None) -> dict[str, int | None]:
    """Sums over roles; null when one of them is not known. Providers report cached tokens in one of two
    fields; both are added."""

    def total(*counters: str) -> int | None:
        roles = [] if usage is None else [role for role in usage.values() if role is not None]
        if usage is None or len(roles) < len(usage):
            return None
        return sum(role[counter] for role in roles for counter in counters)

    return {
        "total_tokens": total("total_tokens"),
        "input_tokens": total("prompt_tokens"),
        "output_tokens": total("completion_tokens"),
        "cached_tokens": total("cached_tokens", "prompt_cache_hit_tokens"),
    }


def summary(
    rows: Sequence[dict[str, Any]], *, timestamp: str, mode: str, args: dict[str, Any]
) -> dict[str, Any]:
    """What a scoring run leaves behind: how it was called, its rows by cell id, and how many are what."""
    return {
        "stage": "evaluator",
        "timestamp": timestamp,
        "mode": mode,
        "args": args,
        "rows": sorted(rows, key=lambda row: row["cell_id"]),
        "n_cells_total": len(rows),
        "n_cells_ok": sum(row["ok"] for row in rows),
        "n_cells_failed": sum(not row["ok"] for row in rows),
        "n_cells_incomplete": sum(row["incomplete"] for row in rows),
    }


def exit_code(rows: Sequence[dict[str, Any]], *, strict: bool) -> int:
    """1 when a cell failed, else 3 when the two sources of one differ or, with `strict`, one is incomplete,
    else 0."""
    if not all(row["ok"] for row in rows):
        return EXIT_FAILED
    if any(row.get("verified") is False for row in rows):
        return EXIT_INCOMPLETE
    return EXIT_INCOMPLETE if strict and any(row["incomplete"] for row in rows) else EXIT_OK
