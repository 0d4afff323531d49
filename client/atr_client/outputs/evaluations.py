"""Scores that lie on disk: read back only when they are whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from atr_client.outputs.layout import CellFolder
from atr_data import DataError, Episode
from atr_data.reading import read_json
from atr_evaluator import SCORER_VERSION, inputs_digest


class _Result(BaseModel):
    model_config = ConfigDict(extra="allow")

    session_id: str
    check_type: str
    domain: str
    task_success: bool
    missing: bool = False


class _Metrics(BaseModel):
    model_config = ConfigDict(extra="allow")

    missing_test_sessions: list[str]
    missing_learning_sessions: list[str]


class _Evaluation(BaseModel):
    """What readers of an `eval.json` count on."""

    model_config = ConfigDict(extra="allow")

    episode_id: str
    variant: str | None
    session_results: list[_Result]
    metrics: _Metrics | None = None
    companions: dict[str, Any] | None = None


def read_evaluation(folder: CellFolder) -> dict[str, Any] | None:
    """The `eval.json` of a cell; None when there is none, or it is damaged."""
    try:
        document = read_json(folder.evaluation)
        _Evaluation.model_validate(document)
    except (DataError, ValidationError):
        return None
    return document


def is_current(document: Mapping[str, Any], folder: CellFolder, episode: Episode, variant: str) -> bool:
    """Whether this scorer made the score from the trajectories that lie in the folder now."""
    told = (document.get("scorer_version"), document.get("source"), document.get("inputs_sha256"))
    return told == (SCORER_VERSION, "trajectories", inputs_digest(folder.path, episode, variant))


def told_differences(document: Mapping[str, Any]) -> Sequence[str]:
    """A line for each session that trajectories and call log tell in two ways."""
    return [": ".join(filter(None, (one["session_id"], one["what"]))) for one in document["differences"]]
