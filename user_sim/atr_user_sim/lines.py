"""What a user knows of her rules beside their statements: questions that each one answers, near misses, and
words. It is private to the simulated user, kept in files beside the episodes, and never in one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from atr_data.errors import DataError
from atr_data.reading import StrPath, read_json

SUFFIX = ".lines.json"
"""How the name of a file of question lines ends."""

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


_Texts = Annotated[tuple[str, ...], Field(min_length=1)]


class _Entry(_Part):
    """The lines of one rule as they are written: by kind, then by hand."""

    asked: Mapping[str, _Texts] = Field(min_length=1)
    not_asked: Mapping[str, _Texts]
    about: WordLists = Field(default_factory=WordLists)

    @model_validator(mode="after")
    def _each_hand_wrote_both(self) -> Self:
        if self.asked.keys() != self.not_asked.keys():
            raise ValueError("asked and not_asked are of different hands")
        return self

    def lines(self) -> RuleLines:
        hands = {
            hand: Hand(asked=asked, not_asked=self.not_asked[hand]) for hand, asked in self.asked.items()
        }
        return RuleLines(hands=hands, about=self.about)


class _File(_Part):
    rules: Mapping[str, _Entry]


def load_lines(path: StrPath) -> dict[str, RuleLines]:
    """A file of lines: an object whose `rules` has an entry per rule id. Raises DataError when it is none."""
    try:
        found = _File.model_validate(read_json(path))
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or None
        raise DataError(problem["msg"], path=Path(path), key=where) from error
    return {rule: entry.lines() for rule, entry in found.rules.items()}


def lines_beside(episode: StrPath, persona: str) -> Path:
    """Where the lines of an episode's persona would lie: `<persona>.lines.json` in the same folder."""
    return Path(episode).with_name(f"{persona}{SUFFIX}")


@cache
def official_lines() -> Mapping[str, RuleLines]:
    """The lines that ship with the package, by rule id."""
    return load_lines(OFFICIAL_LINES)
