"""The user's requirements as things a person can say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from atr_data.english.words import USER, dictionary
from atr_data.episode import Reference
from atr_ontology import names_object
from atr_user_sim.brief import UserBrief

_NAMING = ("name", "title", "subject", "sender", "destination", "origin")
_EVERYTHING = re.compile(
    r"\b(?:more|any|what|the|other|some) (?:details|information|info|requirements|specifics)\b"
    r"|\btell me more\b"
    r"|\bwhat (?:exactly )?(?:do you need|are you looking for|would you like|do you have in mind)\?",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Fact:
    """`label` names it in plain words, `said` is the value as spoken, `cues` the stems that ask for it."""

    label: str
    said: str
    cues: frozenset[str]
    is_bound: bool


def facts_of(brief: UserBrief) -> list[Fact]:
    """Every requirement that can be put into words. Objects go by their name, title or subject; one that
    has none is left out."""
    spoken = ((name, _spoken(value, brief.references)) for name, value in brief.task_params.items())
    return [
        Fact(_label(name), said, _cues(name), name.endswith(("_limit", "budget")))
        for name, said in spoken
        if said and not (names_object(name) and said == brief.task_params[name])
    ]


def hints_of(brief: UserBrief) -> list[Fact]:
    """What the opening may tell."""
    spoken = [(name, _spoken(value, brief.references)) for name, value in brief.hint.items()]
    return [Fact(_label(name), said, _cues(name), False) for name, said in spoken if said]


def facts_asked(question: str, facts: list[Fact]) -> list[Fact]:
    """Those that a question names, else those that it asks for in other words; all for a question about
    details in general."""
    if _EVERYTHING.search(question):
        return facts
    asked = _stems(question)
    return facts_named(question, facts) or [fact for fact in facts if fact.cues & asked]


def facts_named(question: str, facts: list[Fact]) -> list[Fact]:
    """Those of whose label the question has a word."""
    asked = _stems(question)
    return [fact for fact in facts if fact.cues & asked and _stems(fact.label) & asked]


def describe(reference: Reference) -> str:
    """How a person would call the object; empty when it has no name to go by."""
    return next((str(reference.attributes[key]) for key in _NAMING if reference.attributes.get(key)), "")


def _stems(question: str) -> set[str]:
    return {USER.stem(word) for word in re.findall(r"[a-z]+", question.lower())}


def _spoken(value: Any, references: Mapping[str, Reference]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(filter(None, (_spoken(item, references) for item in cast(list[Any], value))))
    if isinstance(value, dict):
        parts = cast(dict[str, Any], value).items()
        return ", ".join(f"{_label(key)} {_spoken(item, references)}" for key, item in parts)
    if value is None:
        return ""
    text = str(value).strip()
    if text in references:
        return describe(references[text])
    return text.replace("_", " ") if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", text) else text


def _label(name: str) -> str:
    return re.sub(r" (?:ids?|points|keywords)$", "", name.replace("_", " "))


def _cues(name: str) -> frozenset[str]:
    parts = [
        part for part in name.split("_") if part not in ("id", "ids", "in", "out", "at", "per", "by", "of")
    ]
    asking = dictionary()["asked_for"]
    words = [word for part in parts for word in (part, *asking.get(part, "").split())]
    return frozenset(map(USER.stem, words))
