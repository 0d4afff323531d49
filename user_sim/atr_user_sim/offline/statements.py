"""What a question or a statement is about, on which dimension it decides, and how a question is put."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from atr_user_sim.offline.words import aspects, content_stems, situations

_LEAD_IN = re.compile(
    r"^\W*(?:(?:also|and|finally|lastly)\b,? *)?[^:,—–]*\b(?:question|thing|curiosity|reference|reminder|note"
    r"|preferences?)\b[^:,—–]*[:,—–-]+ "
)
_COMPARISON = re.compile(r"\((?:similar to|like|as)\b[^)]*\)", re.I)
_NO_CLASH = re.compile(
    r"\b(?:no|without|not)\b(?: [a-z]+){0,2}? (?:conflicts?|overlaps?|clash(?:es)?)\b", re.I
)
_STOP_VERB = re.compile(r"\bstop (?=it|them|that)", re.I)
_TRIGGER_CLAUSE = re.compile(
    r"^\W*(?:also,? |and )?(?:when(?:ever)?|if|for|since|once|on|in|at|given|as|while|after|before"
    r"|with)\b[^?]*?,\s*"
    r"(?=(?:would|do|are|should|shall|may|can|how|what|which|where|is|could)\b)",
    re.I,
)
_CONSENT = re.compile(
    r"\b(?:ask|check with|consult|tell) (?:me|you)\b(?! to)|\bwithout asking\b|\b(?:be asked|asking you"
    r"|ask first)\b",
    re.I,
)
_CLOCK = re.compile(
    r"\b(?:before|after|until|from|by) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|noon|lunch|work"
    r"|\d{1,2})\b|\bhours? of the day\b|\btime of day\b",
    re.I,
)
_ENTRY_KIND = re.compile(r"\breminders?\b.*\bevents?\b|\bevents?\b.*\breminders?\b", re.I)
_PROPOSAL = re.compile(
    r"\b(?:(?:like|want|prefer)(?: for)? me to|(?:should|shall|may|can) i)"
    r"(?: (?:also|always|automatically|still|generally|just|continue to|start|by default|straight"
    r"|proactively|myself))*"
    r" ([a-z]+)",
    re.I,
)
_OPEN = re.compile(
    r"\b(?:what|which|how|where|who)\b|\bdo you have an?y?\b|\b(?:is|are) there\b"
    r"|\bdo you (?:like|prefer|want|enjoy)\b(?! me\b)",
    re.I,
)
_CHOICE = re.compile(
    r"\b(?:choos\w*|pick|look(?:ing)? for|types?|kinds?|sorts?|matters?|important|trust|prioriti\w+"
    r"|factors?|criteri\w+"
    r"|select\w*|decide|favou?r|enjoy|like to|handle|rule|style)\b",
    re.I,
)
_QUALIFIERS: tuple[Mapping[str, frozenset[str]], ...] = (
    {
        "work": frozenset(
            "work job professional client business colleague supplier staff office team customer"
            " formal".split()
        ),
        "home": frozenset("family kids kid personal private friend friends home neighbour informal".split()),
        "club": frozenset("church school volunteer club community choir".split()),
    },
    {
        "short": frozenset("short quick weekend regional local domestic nearby".split()),
        "long": frozenset("long longer multi-city international abroad overseas".split()),
    },
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """`qualifiers` holds, for each pair of opposites such as work and home, which of them is named."""

    stems: frozenset[str]
    situations: frozenset[str]
    aspects: frozenset[str]
    qualifiers: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """`proposes` is the verb of "would you like me to VERB", `is_open` the form that leaves the answer open,
    `asks_choice` words such as "kind of" or "look for" that ask how to choose among things."""

    meaning: Meaning
    proposes: str | None
    is_open: bool
    asks_choice: bool


def read_statement(text: str) -> Meaning:
    text = _STOP_VERB.sub("cancel ", text)
    return Meaning(frozenset(content_stems(text)), situations(text), _aspects(text), _qualifiers(text))


def read_question(text: str) -> Question:
    """The dimension is that of the main clause when it has any; the clause before it is the trigger."""
    text = _NO_CLASH.sub("", _COMPARISON.sub("", _LEAD_IN.sub("", text)))
    trigger = _TRIGGER_CLAUSE.match(text)
    main = text[trigger.end() :] if trigger else text
    proposal = _PROPOSAL.search(text)
    meaning = Meaning(
        frozenset(content_stems(text)), situations(text), _aspects(main) or _aspects(text), _qualifiers(text)
    )
    verb = proposal[1].lower() if proposal else None
    return Question(meaning, verb, verb is None and bool(_OPEN.search(text)), bool(_CHOICE.search(text)))


def _aspects(text: str) -> frozenset[str]:
    signs = (("consent", _CONSENT), ("daytime", _CLOCK), ("entry_kind", _ENTRY_KIND))
    return aspects(text) | {name for name, pattern in signs if pattern.search(text)}


def _qualifiers(text: str) -> tuple[frozenset[str], ...]:
    words = set(re.findall(r"[a-z]+(?:-[a-z]+)?", text.lower()))
    return tuple(frozenset(name for name, of in group.items() if words & of) for group in _QUALIFIERS)
