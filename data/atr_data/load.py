"""Reading episodes and trajectories: our own compiled ones and those of the official release."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from atr_data.episode import Episode
from atr_data.errors import DataError
from atr_data.reading import StrPath, parse_json, read_json
from atr_data.trajectory import Trajectory

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
LONGEST_NAME = 200
"""File systems take 255; what stands behind an id in a file's name comes on top."""

ModelT = TypeVar("ModelT", bound=BaseModel)


def load_episode(path: StrPath) -> Episode:
    """The episode in a file. Unknown fields are ignored.

    Raises DataError with file, key and reason when the file cannot be read, is not JSON, lacks a field, has
    one of the wrong kind, or carries an id that could not name a file (`../`, separators).
    """
    episode = read_model(path, Episode)
    for key, name in named_ids(episode):
        if problem := name_problem(name):
            raise DataError(problem, path=Path(path), key=key)
    return episode


def load_trajectory(path: StrPath) -> Trajectory:
    """The transcript in a file. Unknown fields are ignored. Raises DataError as load_episode does."""
    return read_model(path, Trajectory)


def trajectory_in(content: bytes, path: Path) -> Trajectory:
    """The transcript in the content of the file at `path`. Raises DataError as load_episode does."""
    return _record(parse_json(content, path), Trajectory, path)


def read_model(path: StrPath, model: type[ModelT]) -> ModelT:
    """A JSON file as a record. Raises DataError with file, key and reason."""
    return _record(read_json(path), model, Path(path))


def _record(data: Any, model: type[ModelT], path: Path) -> ModelT:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False)
        key, reason = describe(details[0])
        more = f" (and {len(details) - 1} more problems)" if len(details) > 1 else ""
        raise DataError(f"{reason}{more}", path=path, key=key) from error


def describe(detail: ErrorDetails) -> tuple[str, str]:
    """Where a value of a file breaks its schema, as `rules[2].rule_id`, and how."""
    key = ""
    for step in detail["loc"]:
        key += f"[{step}]" if isinstance(step, int) else f".{step}" if key else step
    if detail["type"] == "missing":
        return key, "is missing"
    shown = repr(detail["input"])
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return key or "file", f"{detail['msg'][0].lower()}{detail['msg'][1:]}; is {shown}"


def name_problem(name: str) -> str | None:
    """Why an id cannot name a file or folder, or None when it can: letters, digits, `_`, `-`, single dots."""
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters: {name[:40]!r}..."
    if _PLAIN_NAME.fullmatch(name) is None or ".." in name:
        return f"is no plain name (letters, digits, _, -): {name!r}"
    return None


def is_plain_name(name: str) -> bool:
    return name_problem(name) is None


def named_ids(episode: Episode) -> Iterator[tuple[str, str]]:
    """The ids of an episode that a run turns into names of files and folders, each with its key."""
    yield "episode_id", episode.episode_id
    yield "raw_persona.persona_id", episode.persona_id
    for kind in ("learning_sessions", "test_sessions"):
        for index, session in enumerate(cast(list[Any], getattr(episode, kind))):
            yield f"{kind}[{index}].session_id", session.session_id
