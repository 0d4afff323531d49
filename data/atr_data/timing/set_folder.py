"""A set of users in a folder: stream, gold and priors of each, and an index that names them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from atr_data.files import write_atomic
from atr_data.reading import Unreadable, read_json, read_text
from atr_data.timing.decisions import SittingLog
from atr_data.timing.events import Stream
from atr_data.timing.faults import TimingError
from atr_data.timing.gold import Gold
from atr_data.timing.priors import Priors, count_priors
from atr_data.timing.stream_file import load_gold, load_stream, save_gold, save_stream

INDEX = "set.json"


@dataclass(frozen=True, slots=True)
class UserFiles:
    """What a set holds of one user."""

    stream: Stream
    gold: Gold
    priors: Priors


def save_user(stream: Stream, gold: Gold, folder: Path) -> list[Path]:
    """Writes one user's files. The set is complete when `save_index` has been called."""
    user = stream.header.user_id
    paths = [folder / f"{user}.{part}" for part in ("stream.jsonl", "gold.jsonl", "priors.json")]
    save_stream(stream, paths[0])
    save_gold(gold, paths[1])
    write_atomic(paths[2], count_priors(stream, gold).model_dump_json() + "\n")
    return paths


def save_index(hashes: Mapping[str, str], folder: Path, **notes: object) -> Path:
    """Writes the index: each user's stream hash, and notes on where the set comes from."""
    path = folder / INDEX
    write_atomic(path, json.dumps({**notes, "streams": dict(hashes)}, indent=1) + "\n")
    return path


def load_set(folder: str | os.PathLike[str]) -> list[UserFiles]:
    """All users that the index names. Raises TimingError `bad_stream` or `gold_mismatch`, DataError for an
    index or priors that cannot be read."""
    place = Path(folder)
    index = read_json(place / INDEX)
    streams = cast("dict[str, Any]", index).get("streams") if isinstance(index, dict) else None
    if not isinstance(streams, dict) or not streams:
        raise TimingError("bad_stream", "names no streams", path=place / INDEX)
    found: list[UserFiles] = []
    for user, sha256 in cast("dict[str, object]", streams).items():
        path = place / f"{user}.stream.jsonl"
        stream = load_stream(path)
        if stream.header.sha256 != sha256:
            raise TimingError("bad_stream", f"is not the stream that {INDEX} names", path=path, line=1)
        gold = load_gold(place / f"{user}.gold.jsonl", stream)
        found.append(UserFiles(stream, gold, load_priors(place / f"{user}.priors.json")))
    return found


def load_priors(path: Path) -> Priors:
    """Raises DataError for a file that holds no priors."""
    try:
        return Priors.model_validate(read_json(path), strict=False)
    except ValidationError as error:
        raise TimingError("bad_stream", "holds no priors", path=path) from error


def save_logs(logs: Iterable[SittingLog], path: Path) -> None:
    """One sitting a line."""
    write_atomic(path, "".join(f"{log.model_dump_json()}\n" for log in logs))


def load_logs(path: str | os.PathLike[str]) -> list[SittingLog]:
    """Raises TimingError `bad_stream` with the line."""
    found: list[SittingLog] = []
    place = Path(path)
    try:
        lines = read_text(place).splitlines()
    except Unreadable as error:
        raise TimingError("bad_stream", error.reason, path=place) from error
    for number, line in enumerate(lines, start=1):
        try:
            found.append(SittingLog.model_validate_json(line))
        except ValidationError as error:
            reason = error.errors(include_url=False)[0]["msg"]
            raise TimingError("bad_stream", reason, path=place, line=number) from error
    return found
