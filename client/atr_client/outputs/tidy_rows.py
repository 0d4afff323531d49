"""Sessions and calls of cells as flat rows, for programs that read tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from atr_client.outputs.layout import CellFolder
from atr_client.outputs.rows import cost_usd
from atr_client.outputs.spending import on_disk
from atr_client.outputs.stored_cells import CellRecord, episode_of
from atr_data.calls import CallRecord, read_calls
from atr_data.errors import DataError
from atr_data.trajectory import Trajectory
from atr_evaluator import finished_attempts, transcript_calls
from atr_evaluator.aggregate.settings import ScoredCell
from atr_evaluator.asking import asking_of

_CELL: Mapping[str, type] = {
    "cell_id": str,
    "persona": str,
    "episode_id": str,
    "variant": str,
    "model": str,
    "dataset": str,
    "memory_layer": str,
    "seed": str,
    "trial": int,
    "user": str,
    "reasoning": str,
    "hook": bool,
}
SESSION_COLUMNS: Mapping[str, type] = {
    **_CELL,
    "session_id": str,
    "session_type": str,
    "domain": str,
    "rule_id": str,
    "check_type": str,
    "passed": bool,
    "missing": bool,
    "loss_class": str,
    "rule_readable": bool,
    "sprayed": bool,
    "termination_reason": str,
    "steps": int,
    "calls": int,
    "seconds": float,
    "asks": int,
    "hits": int,
    "misses": int,
    "prompt_tokens": int,
    "completion_tokens": int,
    "agent_prompt_tokens": int,
    "agent_completion_tokens": int,
    "cost_usd": float,
}
"""Columns and kinds of the rows of sessions; tokens and cost are those of all roles unless named."""

CALL_COLUMNS: Mapping[str, type] = {
    **_CELL,
    "session_id": str,
    "session_type": str,
    "number": int,
    "turn_idx": int,
    "call_id": str,
    "tool": str,
    "arguments": str,
    "result": str,
    "is_error": bool,
    "seconds": float,
}
"""Columns and kinds of the rows of calls: those that the agent made, arguments and results as JSON text;
`number` counts from 1 within a session."""


def session_rows(cell: ScoredCell, episodes: Path | None = None) -> Iterator[dict[str, Any]]:
    """One row per session that has a trajectory, then one per missing test. The domain of a learning session
    is left out where its episode is not found, for which `episodes` is looked in too."""
    shared, domains = _cell(cell), _domains(cell, episodes)
    results = {result["session_id"]: result for result in cell.results}
    losses = {loss["session_id"]: loss for loss in cell.losses}
    for run in on_disk([CellFolder(Path(cell.folder))]):
        told = _outcome(results.pop(run.session_id, {}), losses.get(run.session_id, {}))
        yield {**shared, **told, "domain": domains.get(run.session_id, told["domain"]), **_conduct(run)}
    for name, result in results.items():
        if result.get("missing"):
            told = _outcome(result, losses.get(name, {}))
            yield {**shared, **told, "session_id": name, "session_type": "test"}


def call_rows(cell: ScoredCell, _: Path | None = None) -> Iterator[dict[str, Any]]:
    """One row per call of the agent; its seconds from the call log, where there is one."""
    shared, folder = _cell(cell), CellFolder(Path(cell.folder))
    logged = _logged(folder)
    for run in on_disk([folder]):
        seconds = {(call.turn_idx, call.call_id): call.seconds for call in logged.get(run.session_id, ())}
        for number, one in enumerate(transcript_calls(run), start=1):
            yield {
                **shared,
                "session_id": run.session_id,
                "session_type": run.session_type,
                "number": number,
                "turn_idx": one.turn_idx,
                "call_id": one.call.id,
                "tool": one.call.name,
                "arguments": json.dumps(one.call.arguments, ensure_ascii=False),
                "result": one.answer.content if one.answer else None,
                "is_error": one.answer.tool_error if one.answer else None,
                "seconds": seconds.get((one.turn_idx, one.call.id)),
            }


def _cell(cell: ScoredCell) -> dict[str, Any]:
    setting = cell.setting
    return {
        "cell_id": cell.cell_id,
        "persona": cell.persona,
        "episode_id": (cell.document or {}).get("episode_id"),
        "variant": cell.variant,
        "model": setting.model,
        "dataset": setting.dataset,
        "memory_layer": setting.layer,
        "seed": setting.seed,
        "trial": setting.trial,
        "user": setting.user,
        "reasoning": setting.reasoning,
        "hook": setting.hook,
    }


def _domains(cell: ScoredCell, episodes: Path | None) -> dict[str, str]:
    folder = CellFolder(Path(cell.folder))
    try:
        episode = episode_of(folder, CellRecord.of(folder), below=episodes).episode
    except DataError:
        return {}
    return {one.session_id: one.domain for one in (*episode.learning_sessions, *episode.test_sessions)}


def _outcome(result: Mapping[str, Any], loss: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "domain": result.get("domain"),
        "rule_id": result.get("rule_id"),
        "check_type": result.get("check_type"),
        "passed": result.get("task_success"),
        "missing": bool(result.get("missing")),
        "loss_class": loss.get("loss_class"),
        "rule_readable": loss.get("rule_readable"),
        "sprayed": loss.get("sprayed"),
    }


def _conduct(run: Trajectory) -> dict[str, Any]:
    usages = run.token_usage
    asking = asking_of([run]) if run.session_type == "learning" else None
    agent = usages.get("agent")
    return {
        "session_id": run.session_id,
        "session_type": run.session_type,
        "termination_reason": run.termination_reason,
        "steps": run.step_count,
        "calls": len(transcript_calls(run)),
        "seconds": run.duration_seconds,
        "asks": asking.routed_rule if asking else None,
        "hits": len(asking.hits) if asking else None,
        "misses": asking.misses if asking else None,
        "prompt_tokens": sum(usage.prompt_tokens for usage in usages.values()),
        "completion_tokens": sum(usage.completion_tokens for usage in usages.values()),
        "agent_prompt_tokens": agent.prompt_tokens if agent else 0,
        "agent_completion_tokens": agent.completion_tokens if agent else 0,
        "cost_usd": cost_usd(usages.values()),
    }


def _logged(folder: CellFolder) -> Mapping[str, list[CallRecord]]:
    """The agent's calls by session; none where the log is missing or damaged."""
    try:
        attempts = finished_attempts(read_calls(folder.calls)) if folder.calls.exists() else {}
    except DataError:
        return {}
    return {name: attempt.calls for name, attempt in attempts.items()}
