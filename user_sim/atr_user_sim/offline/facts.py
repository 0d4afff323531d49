"""The user's requirements as things a person can say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from atr_data.episode import Reference
from atr_user_sim.brief import UserBrief
from atr_user_sim.offline.words import stem

_NAMING = ("name", "title", "subject", "sender", "destination", "origin")
_SAID_FOR: Mapping[str, str] = {
    "location": "where city place area town region",
    "destination": "where city place going headed",
    "origin": "where from start leave leaving departing",
    "date": "when day date dates",
    "time": "when time hour date start day",
    "start": "begin starts",
    "end": "long duration until finish",
    "remind": "when",
    "size": "many people guests seats party table",
    "count": "many people number",
    "guest": "people travelers",
    "traveler": "people persons travelers passengers",
    "passenger": "people persons travelers travellers",
    "participants": "who invite attendees people guests join",
    "budget": "much spend price cost maximum limit",
    "price": "much spend budget cost maximum",
    "limit": "maximum most cap bound",
    "duration": "long days nights",
    "days": "long nights",
    "sender": "who from sent person",
    "recipient": "who whom to address",
    "subject": "about called message thread",
    "title": "name called call named",
    "name": "called title",
    "category": "product item kind type looking sort",
    "service": "kind type provider",
    "cuisine": "food kind type",
    "tags": "interests kind type themes activities",
    "constraints": "interests kind type themes looking",
    "points": "say write mention include cover contain content text message body details entry brief",
    "keywords": "say write mention include cover contain content",
    "brief": "say write include cover contain content sections",
    "payload": "say write entry content",
    "quantity": "many amount units",
    "items": "list buy what products need",
    "type": "kind format",
    "folder": "where",
    "sort": "order rank prioritize",
    "scheme": "sort organize group how",
    "cadence": "often repeat frequency",
    "response": "answer reply accept decline respond",
    "mode": "transport train bus how",
    "plan": "tier",
    "value": "new change",
    "resolution": "refund exchange settle credit",
    "scope": "updates changes",
}
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
        if said and not (_is_id(name) and said == brief.task_params[name])
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
    asked = {stem(word) for word in re.findall(r"[a-z]+", question.lower())}
    named = [
        fact for fact in facts if fact.cues & asked and set(map(stem, fact.label.lower().split())) & asked
    ]
    return named or [fact for fact in facts if fact.cues & asked]


def describe(reference: Reference) -> str:
    """How a person would call the object; empty when it has no name to go by."""
    return next((str(reference.attributes[key]) for key in _NAMING if reference.attributes.get(key)), "")


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


def _is_id(name: str) -> bool:
    return name.endswith(("_id", "_ids"))


def _label(name: str) -> str:
    return re.sub(r" (?:ids?|points|keywords)$", "", name.replace("_", " "))


def _cues(name: str) -> frozenset[str]:
    parts = [
        part for part in name.split("_") if part not in ("id", "ids", "in", "out", "at", "per", "by", "of")
    ]
    words = [word for part in parts for word in (part, *_SAID_FOR.get(part, "").split())]
    return frozenset(map(stem, words))
