"""Cells as logs of Inspect: one log per setting and variant, one sample per session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from atr_client.errors import ConfigError
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.manifest import read_manifest
from atr_client.outputs.spending import on_disk
from atr_data.trajectory import Message, Trajectory
from atr_evaluator.aggregate.settings import Group, ScoredCell

_SCORE = "atr"


def write_inspect_log(group: Group, folder: Path) -> Path:
    """Writes one `.eval` file that `inspect view` opens, and returns its path. Raises ConfigError without
    inspect_ai."""
    try:
        log, scorer, model, dataset = (
            import_module(f"inspect_ai.{name}") for name in ("log", "scorer", "model", "dataset")
        )
    except ImportError as error:
        raise ConfigError("logs of Inspect need inspect-ai: pip install 'atrbench[inspect]'") from error
    del dataset
    samples = [sample for cell in group.cells for sample in _samples(cell, log, scorer, model)]
    tests = [result for cell in group.scored for result in cell.results]
    passed = sum(result["task_success"] for result in tests)
    created = max((_updated(cell) for cell in group.cells), default="") or "1970-01-01T00:00:00+00:00"
    label = f"{group.setting!r} {group.variant}"
    number = hashlib.sha256(label.encode()).hexdigest()[:22]
    metrics = {"accuracy": log.EvalMetric(name="accuracy", value=passed / len(tests) if tests else 0.0)}
    expected = sum(len(cell.missing) for cell in group.cells) + len(samples)
    written = log.EvalLog(
        status="success" if all(cell.complete for cell in group.cells) else "cancelled",
        eval=log.EvalSpec(
            eval_id=number,
            run_id=number,
            task_id=number,
            created=created,
            task=f"atr_{group.variant}",
            model=group.setting.model,
            dataset=log.EvalDataset(name=group.setting.dataset, samples=expected),
            config=log.EvalConfig(epochs=1),
            metadata={"memory_layer": group.setting.layer, "seed": group.setting.seed,
                      "trial": group.setting.trial, "user": group.setting.user},
        ),
        results=log.EvalResults(
            total_samples=expected,
            completed_samples=len(samples),
            scores=[
                log.EvalScore(
                    name=_SCORE, scorer=_SCORE, scored_samples=len(tests), metrics=metrics
                )
            ],
        ),
        stats=log.EvalStats(started_at=created, completed_at=created),
        samples=samples,
    )  # fmt: skip
    stamp = created.replace(":", "-")
    path = folder / f"{stamp}_atr-{group.variant.replace('_', '-')}_{number}.eval"
    log.write_eval_log(written, str(path), format="eval")
    return path


def _updated(cell: ScoredCell) -> str:
    manifest = read_manifest(CellFolder(Path(cell.folder)).manifest) or {}
    return str(manifest.get("updated_at") or "")


def _samples(cell: ScoredCell, log: Any, scorer: Any, model: Any) -> Iterator[Any]:
    results = {result["session_id"]: result for result in cell.results}
    losses = {loss["session_id"]: loss for loss in cell.losses}
    for run in on_disk([CellFolder(Path(cell.folder))]):
        result, loss = results.get(run.session_id), losses.get(run.session_id, {})
        messages = [_message(message, model) for message in run.messages]
        scores = None
        if result is not None:
            steps = json.dumps(result["step_results"], ensure_ascii=False)
            value = "C" if result["task_success"] else "I"
            scores = {_SCORE: scorer.Score(value=value, explanation=f"{loss.get('loss_class', '')}: {steps}")}
        yield log.EvalSample(
            id=f"{cell.persona}/{run.session_id}",
            epoch=1,
            input=next((m.content or "" for m in run.messages if m.role == "user"), ""),
            target=result["step_results"][0]["required_tool"] if result and result["step_results"] else "",
            messages=messages,
            output=model.ModelOutput(model=cell.setting.model, choices=_last(run, messages, model)),
            scores=scores,
            metadata={
                "cell_id": cell.cell_id,
                "session_type": run.session_type,
                "termination_reason": run.termination_reason,
                **({"rule_id": result["rule_id"], "check_type": result["check_type"]} if result else {}),
                **{name: value for name, value in loss.items() if name != "session_id"},
            },
            total_time=run.duration_seconds,
            model_usage={
                role: model.ModelUsage(
                    input_tokens=usage.prompt_tokens,
                    output_tokens=usage.completion_tokens,
                    total_tokens=usage.total_tokens,
                )
                for role, usage in run.token_usage.items()
            },
        )


def _last(run: Trajectory, messages: Sequence[Any], model: Any) -> list[Any]:
    """The agent's last message, as the output of the sample."""
    own = [told for told, message in zip(messages, run.messages, strict=True) if message.role == "assistant"]
    return [model.ChatCompletionChoice(message=own[-1])] if own else []


def _message(message: Message, model: Any) -> Any:
    text = message.content or ""
    identity = f"m{message.turn_idx}"
    match message.role:
        case "system":
            return model.ChatMessageSystem(id=identity, content=text)
        case "user":
            return model.ChatMessageUser(id=identity, content=text)
        case "tool":
            return model.ChatMessageTool(id=identity, content=text, tool_call_id=message.tool_call_id)
        case "assistant":
            calls = import_module("inspect_ai.tool")
            made = [
                calls.ToolCall(
                    id=call.id, function=call.name, arguments=call.arguments, parse_error=call.parse_error
                )
                for call in message.tool_calls or ()
            ]
            return model.ChatMessageAssistant(id=identity, content=text, tool_calls=made or None)
