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


_AND = re.compile(r",|;|\band\b", re.I)
_CHOICE = re.compile(r"\bor\b|\bversus\b|\bvs\b", re.I)
_CHECK = re.compile(r"\bcheck(?:ing)?[- _](in|out)\b")
_SPELLED = {
    "colour": "color",
    "colours": "color",
    "cheque": "check",
    "theatre": "theater",
    "centre": "center",
}


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
    """Those of whose value it speaks as of one thing that may be chosen, else those that each part of a
    question names, else those that it asks for in other words; all for a question about details in general.
    """
    if _EVERYTHING.search(question):
        return facts
    if offered := _offered(question, facts):
        return offered
    found = [_part_asked(part, facts) for part in _parts(question)]
    asked = [fact for fact in facts if any(fact in part for part in found)]
    return asked or _part_asked(question, facts)


def facts_named(question: str, facts: list[Fact]) -> list[Fact]:
    """Those of whose label the question has a word; of two, not the one of which it has less."""
    asked = _stems(question)
    shared = {fact.label: _stems(fact.label) & asked for fact in facts if fact.cues & asked}
    return [
        fact
        for fact in facts
        if (own := shared.get(fact.label)) and not any(own < other for other in shared.values())
    ]


def _part_asked(question: str, facts: list[Fact]) -> list[Fact]:
    asked = _stems(question)
    return facts_named(question, facts) or [fact for fact in facts if fact.cues & asked]


def _offered(question: str, facts: list[Fact]) -> list[Fact]:
    """Those whose value is among what a choice offers."""
    if not _CHOICE.search(question):
        return []
    asked = _stems(question)
    return [fact for fact in facts if (said := _stems(fact.said)) and said <= asked]


def describe(reference: Reference) -> str:
    """How a person would call the object; empty when it has no name to go by."""
    return next((str(reference.attributes[key]) for key in _NAMING if reference.attributes.get(key)), "")


def _parts(question: str) -> list[str]:
    return [part for part in _AND.split(question) if part.strip()]


def _stems(question: str) -> set[str]:
    text = _CHECK.sub(r"check\1 ", question.lower())
    words: list[str] = re.findall(r"[a-z]+", text)
    return {USER.stem(_SPELLED.get(word, word)) for word in words}


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
    whole = _CHECK.sub(r"check\1_", name).split("_")
    parts = [
        part for part in whole if part and part not in ("id", "ids", "in", "out", "at", "per", "by", "of")
    ]
    asking = dictionary()["asked_for"]
    words = [word for part in parts for word in (part, *asking.get(part, "").split())]
    return frozenset(map(USER.stem, words))
