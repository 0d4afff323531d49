"""What a user knows of her rules beside their statements: questions that each one answers, near misses, and
words. It is private to the simulated user, kept in files beside the episodes, and never in one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from atr_data.errors import DataError
from atr_data.reading import StrPath, read_json

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


def load_lines(path: StrPath) -> dict[str, RuleLines]:
    """A file of lines: a JSON object with an entry per rule id. Raises DataError when it is none."""
    raw = read_json(path)
    if not isinstance(raw, dict):
        raise DataError("no object of question lines by rule id", path=Path(path))
    found: dict[str, RuleLines] = {}
    for rule, entry in cast(dict[str, Any], raw).items():
        try:
            found[rule] = RuleLines.model_validate(entry)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, (rule, *problem["loc"])))
            raise DataError(problem["msg"], path=Path(path), key=where) from error
    return found


def lines_beside(episode: StrPath, persona: str) -> Path:
    """Where the lines of an episode's persona would lie: `<persona>.lines.json` in the same folder."""
    return Path(episode).with_name(f"{persona}.lines.json")


@cache
def official_lines() -> Mapping[str, RuleLines]:
    """The lines that ship with the package, by rule id."""
    return load_lines(OFFICIAL_LINES)
