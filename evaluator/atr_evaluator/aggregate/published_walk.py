"""Which cells of an outputs folder the published tables take (evaluation.md section 7.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from atr_data.errors import DataError
from atr_data.reading import StrPath, read_json
from atr_evaluator.aggregate.published import AggregateCell, Panel

PUBLISHED_MODELS = (
    "gpt-5.4",
    "claude-opus-4-7",
    "gemini-3-flash-preview",
    "gemini-3.1-pro-preview",
    "qwen3.6-plus",
    "MiniMax-M2.7",
    "deepseek-v4-pro",
    "deepseek-v4-flash",
)
"""The models of the published tables, in the order of their columns; others enter and are not shown."""

_SEGMENT = re.compile(
    r"(default|atr|always_ask|oracle_target)__model-([^_]+)__layer-[a-z]+__seed[0-9]+__hook", re.ASCII
)
_SEED_PANEL = re.compile(r"seed[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class PublishedCells:
    """`paths` are those of the cells below the root, in the order of the walk; `skipped` are cells that are
    not complete."""

    cells: list[AggregateCell] = field(default_factory=list[AggregateCell])
    paths: list[str] = field(default_factory=list[str])
    skipped: list[str] = field(default_factory=list[str])


def published_cells(root: StrPath) -> PublishedCells:
    """The cells that the published tables are made from. What is no such cell is passed over; raises
    DataError when there is no such folder."""
    found = PublishedCells()
    for path in _walk(Path(root)):
        panel = _panel(path.parent.name)
        named = _SEGMENT.fullmatch(path.name)
        if panel is None or named is None:
            continue
        if not (path / "eval.json").exists():
            continue
        name = path.relative_to(root).as_posix()
        metrics = _complete_metrics(path)
        if metrics is None:
            found.skipped.append(name)
            continue
        found.paths.append(name)
        found.cells.append(AggregateCell(path.parents[1].name, panel, named[1], named[2], metrics))
    return found


def _walk(root: Path) -> Iterator[Path]:
    if not root.is_dir():
        raise DataError("no such folder", path=root)
    for persona in _folders(root):
        if not persona.name.startswith(("_", ".")):
            for panel in _folders(persona):
                yield from _folders(panel)


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir())


def _panel(name: str) -> Panel | None:
    if name == "_oracle":
        return "oracle"
    return "main" if _SEED_PANEL.fullmatch(name) else None


def _complete_metrics(folder: Path) -> dict[str, Any] | None:
    """None unless the cell is complete and none of its sessions is missing."""
    manifest, score = _object(folder / "cell_manifest.json"), _object(folder / "eval.json")
    metrics = score.get("metrics")
    if manifest.get("complete") is not True or not isinstance(metrics, dict):
        return None
    told = cast(dict[str, Any], metrics)
    return None if told.get("missing_test_sessions") or told.get("missing_learning_sessions") else told


def _object(path: Path) -> dict[str, Any]:
    try:
        value = read_json(path)
    except DataError:
        return {}
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}
