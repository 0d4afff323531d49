"""What a question or a statement is about, and what the options of a question are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from atr_data.english.situations import aspects, situations
from atr_data.english.words import USER

_TRIGGER_CLAUSE = re.compile(
    r"^\W*(?:also,? |and )?(?:when(?:ever)?|if|for|since|once|on|in|at|given|as|while|after|before"
    r"|with)\b[^?]*?,\s*"
    r"(?=(?:would|do|are|should|shall|may|can|how|what|which|where|is|could)\b)",
    re.I,
)
_OPTION_BREAK = re.compile(
    r"[,;:()—–]|\b(?:or|over|versus|rather than|instead of|than)\b",
    re.I,
)
_NO_OPTION = re.compile(
    r"\b(?:(?:each|every) time|(?:ask|wait for) (?:you|me)|does it not matter)\b",
    re.I,
)
_CONSENT = re.compile(
    r"\b(?:ask|check with|consult|tell) (?:me|you)\b(?! to)|\bwithout asking\b|\b(?:be asked|asking you"
    r"|ask first)\b",
    re.I,
)
_CLOCK = re.compile(
    r"\b(?:before|after|until|from|by) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|noon|lunch|work|\d{1,2})\b|\bhours? of the day\b|\btime of day\b",
    re.I,
)
_ENTRY_KIND = re.compile(
    r"\breminders?\b.*\b(?:events?|calendar)\b|\b(?:events?|calendar)\b.*\breminders?\b", re.I
)
_LEAD_IN = re.compile(
    r"^\W*(?:(?:also|and|finally|lastly|going forward|generally|in general|as a (?:general |standing )?rule)"
    r"\b[,:]? *)+",
    re.I,
)
_STOP_VERB = re.compile(r"\bstop (?=it|them|that)", re.I)
_PROPOSAL = re.compile(
    r"\b(?:(?:like|want|prefer)(?: for)? me to|(?:should|shall|may|can) i)"
    r"(?: (?:also|always|automatically|still|generally|just|continue to|start|by default|straight"
    r"|proactively|myself))*"
    r" ([a-z]+)",
    re.I,
)
_CHOICE = re.compile(
    r"\b(?:choos\w*|pick|look(?:ing)? for|types?|kinds?|sorts?|matters?|important|trust|prioriti\w+"
    r"|factors?|criteri\w+|select\w*|decide|favou?r|enjoy|like to|handle|rule|style)\b",
    re.I,
)


@dataclass(frozen=True)
class Meaning:
    """A text as the words that carry meaning and the concepts (words.py) that they stand for."""

    text: str

    @cached_property
    def words(self) -> list[str]:
        return USER.content_words(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(map(USER.stem, self.words))

    @cached_property
    def situations(self) -> frozenset[str]:
        return situations(self.text)

    @cached_property
    def aspects(self) -> frozenset[str]:
        signs = (("consent", _CONSENT), ("daytime", _CLOCK), ("entry_kind", _ENTRY_KIND))
        return aspects(self.text) | {name for name, pattern in signs if pattern.search(self.text)}

    def covered_by(self, other: Meaning) -> float:
        """The share of its words that the other speaks of too, from 0 to 1: a word counts fully for the same
        word or dimension, half for the same situation. One word more is added as not covered, so that a
        text of a single word proves less than a long one."""
        return sum(_shared(word, other) for word in self.words) / (len(self.words) + 1)

    def without(self, other: Meaning) -> Meaning:
        return Meaning(" ".join(word for word in self.words if USER.stem(word) not in other.stems))


@dataclass(frozen=True, slots=True)
class Question:
    """`trigger` is the clause before the asking one ("when I book flights, ..."), `main` the asking one,
    `options` what that names as possible answers, `proposes` the verb of "would you like me to VERB",
    `asks_choice` whether words such as "kind of" or "look for" ask how to choose among things."""

    whole: Meaning
    trigger: Meaning
    main: Meaning
    options: list[Meaning]
    proposes: str | None
    asks_choice: bool

    @property
    def aspects(self) -> frozenset[str]:
        """The dimension is that of the asking clause when it has any."""
        return self.main.aspects or self.whole.aspects


def read_statement(text: str) -> Meaning:
    return Meaning(_STOP_VERB.sub("cancel ", text))


def read_question(text: str) -> Question:
    text = _LEAD_IN.sub("", text)
    clause = _TRIGGER_CLAUSE.match(text)
    start = clause.end() if clause else 0
    main = text[start:]
    options = [Meaning(option) for option in _OPTION_BREAK.split(main) if not _NO_OPTION.search(option)]
    proposal = _PROPOSAL.search(text)
    return Question(
        Meaning(text),
        Meaning(text[:start]),
        Meaning(main),
        [option for option in options if option.words],
        proposal[1].lower() if proposal else None,
        bool(_CHOICE.search(text)),
    )


def _shared(word: str, other: Meaning) -> float:
    if USER.stem(word) in other.stems or aspects(word) & other.aspects:
        return 1.0
    return 0.5 if situations(word) & other.situations else 0.0
