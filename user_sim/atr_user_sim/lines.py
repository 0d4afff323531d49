"""What a user knows of her rules beside their statements: questions that each one answers, near misses, and
words. It is private to the simulated user, kept in files beside the episodes, and never in one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from atr_data.errors import DataError

OFFICIAL_LINES = Path(str(files("atr_user_sim"))) / "official.lines.json"
"""Lines for the rules of the official episodes, which are not ours to add to. In our own words."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Hand(_Part):
    """What one writer put down: questions that the rule answers, and near misses that nothing answers."""

    asked: tuple[str, ...] = Field(min_length=1)
    not_asked: tuple[str, ...] = Field(min_length=1)


class WordLists(_Part):
    """Terms for what is decided, when it holds, where it holds in just a part of the task, and what lies
    beside it."""

    decision: tuple[str, ...] = ()
    situation: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


class RuleLines(_Part):
    """The lines of one rule, by hand, and its word lists."""

    hands: Mapping[str, Hand]
    about: WordLists = Field(default_factory=WordLists)


def load_lines(path: str | os.PathLike[str]) -> dict[str, RuleLines]:
    """A file of lines: a JSON object with an entry per rule id. Raises DataError when it is none."""
    path = Path(path)
    try:
        raw: Any = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(raw, dict):
            raise ValueError("no object")
        entries = cast(dict[str, Any], raw)
        return {rule: RuleLines.model_validate(entry) for rule, entry in entries.items()}
    except (OSError, ValueError, ValidationError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"no file of question lines: {reason}", path=path) from error


def lines_beside(episode: str | os.PathLike[str], persona: str) -> Path:
    """Where the lines of an episode's persona would lie: `<persona>.lines.json` in the same folder."""
    return Path(episode).with_name(f"{persona}.lines.json")


@cache
def official_lines() -> Mapping[str, RuleLines]:
    """The lines that ship with the package, by rule id."""
    return load_lines(OFFICIAL_LINES)
