"""The line under a result table that says who played the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atr_client.outputs.layout import CellFolder
from atr_client.outputs.manifest import read_manifest
from atr_client.outputs.rows import Row
from atr_evaluator.aggregate.settings import ScoredCell

USER_LINE: Mapping[str, str] = {"md": "\n{}", "latex": "\n% {}"}
"""How the line stands below tables of a format; the others have it in each row."""


def user_line(rows: Sequence[Row]) -> str | None:
    """`user: offline, Classifier .87`, with every make that the cells had; None when no manifest tells."""
    manifests = [read_manifest(CellFolder(Path(row["runs_dir"])).manifest) or {} for row in rows]
    users = [described_user(found) for manifest in manifests if (found := manifest.get("user_sim"))]
    return f"user: {' | '.join(sorted(set(users)))}" if users else None


def users_of(cells: Sequence[ScoredCell]) -> str:
    """The same line for cells that were read from their folders."""
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
