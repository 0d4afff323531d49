"""Reading episodes and trajectories: our own compiled ones and those of the official release."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from atr_data.episode import Episode
from atr_data.errors import DataError
from atr_data.trajectory import Trajectory

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
ModelT = TypeVar("ModelT", bound=BaseModel)


def load_episode(path: str | os.PathLike[str]) -> Episode:
    """The episode in a file. Unknown fields are ignored.

    Raises DataError with file, key and reason when the file cannot be read, is not JSON, lacks a field, has
    one of the wrong kind, or carries an id that could not name a file (`../`, separators).
    """
    path = Path(path)
    episode = _parse(Episode, read_json(path), path)
    for key, name in named_ids(episode):
        if not is_plain_name(name):
            raise DataError(_not_plain(name), path=path, key=key)
    return episode


def load_trajectory(path: str | os.PathLike[str]) -> Trajectory:
    """The transcript in a file. Unknown fields are ignored. Raises DataError as load_episode does."""
    path = Path(path)
    return _parse(Trajectory, read_json(path), path)


def read_json(path: Path) -> Any:
    """Strict JSON: no NaN, no text that cannot be written again. Raises DataError."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise DataError("no such file", path=path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path=path) from error
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 text (byte {error.start})", path=path) from error
    try:
        data = json.loads(text, parse_constant=_no_constant)
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError("holds a lone surrogate, which no text can hold", path=path) from error
    except json.JSONDecodeError as error:
        open_end = error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()) - 1
        cut = "; the file seems cut off" if open_end else ""
        reason = f"not JSON: {error.msg} at line {error.lineno} column {error.colno}{cut}"
        raise DataError(reason, path=path) from error
    except RecursionError as error:
        raise DataError("not usable: nested too deeply", path=path) from error
    except ValueError as error:
        raise DataError(f"not JSON: {error}", path=path) from error
    return data


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _parse(model: type[ModelT], data: Any, path: Path) -> ModelT:
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


def is_plain_name(name: str) -> bool:
    """Whether an id can name a file or folder: letters, digits, `_`, `-` and single dots."""
    return _PLAIN_NAME.fullmatch(name) is not None and ".." not in name


def named_ids(episode: Episode) -> Iterator[tuple[str, str]]:
    """The ids of an episode that a run turns into names of files and folders, each with its key."""
    yield "episode_id", episode.episode_id
    yield "raw_persona.persona_id", episode.persona_id
    for kind in ("learning_sessions", "test_sessions"):
        for index, session in enumerate(cast(list[Any], getattr(episode, kind))):
            yield f"{kind}[{index}].session_id", session.session_id


def _not_plain(name: str) -> str:
    return f"is no plain name (letters, digits, _, -): {name!r}"
