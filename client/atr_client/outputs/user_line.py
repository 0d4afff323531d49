"""The line under a result table that says who played the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atr_evaluator.aggregate.settings import ScoredCell

UNKNOWN_USER = "unknown"
"""Where no manifest tells."""

USER_LINE: Mapping[str, str] = {"md": "\n{}", "latex": "\n% {}"}
"""How the line stands below tables of a format; the others have it in each row."""


def users_of(cells: Sequence[ScoredCell]) -> str:
    """`user: offline, Classifier .87`, with every make that the cells had."""
    return f"user: {' | '.join(sorted({cell.setting.user for cell in cells}))}"


def described_user(user: Mapping[str, Any]) -> str:
    """In a few words."""
    if user.get("make") == "model":
        role: Mapping[str, Any] = user.get("classifier") or {}
        return f"model, Classifier {role.get('model', 'unknown')}"
    accuracy = user.get("classifier_accuracy")
    measured = f" {accuracy:.2f}".replace(" 0.", " .") if accuracy is not None else " of an earlier version"
    knowing = "with" if user.get("lines") else "without"
    who = "human" if user.get("make") == "human" else "offline"
    return f"{who}, Classifier{measured} ({user.get('classifier', 'lexical')}, {knowing} question lines)"
