"""Questions of an agent that want a yes: proposals, and whether something is all right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from atr_data.english.words import USER
from atr_user_sim.offline.facts import Fact

_PROPOSES = re.compile(
    r"\b(?:shall|should|may|can|could) i (?!(?:\w+ )?(?:what|which))"
    r"|\b(?:want|like|happy for|okay for|ok for) me to\b|\bgo[- ]ahead\b|\bproceed\b"
    r"|\b(?:ok|okay|all right|alright|fine|good|safe|happy|ready|free) (?:for (?:me|us) )?to\b",
    re.I,
)
_ALL_RIGHT = re.compile(
    r"\b(?:is|are|was|would|will|does|do|if) (?:that|this|it|these|those|they|everything|the \w+"
    r"|all (?:of )?(?:this|that)|you)(?: all| both)?(?:'s| is| are)?(?: be| look| sound| seem)?"
    r"(?: really| still| also)? (?:all right|alright|okay|ok|fine|good|right|correct|acceptable"
    r"|agreeable|happy|comfortable|agree|approve|work|suit|object|mind)\b"
    r"|\b(?:works|okay|ok|fine|good|all right|alright|agreeable|acceptable) (?:for|with|by) you\b"
    r"|\b(?:okay|ok|all right|alright|right|agreed|correct|deal|fine|sounds? good|looks? good|yes)\?\W*$"
    r"|\b(?:any|no) objections?\b|\b(?:mind|objection) if i\b"
    r"|\byour (?:ok|okay|approval|permission|go-ahead|blessing|confirmation|consent|say-so)\b"
    r"|\b(?:please|could you|can you|would you|to|just) confirm\b"
    r"|\bconfirm (?:that|this|it|if|whether|and|before|so|the)\b"
    r"|\bif (?:that|this|it)(?:'s|’s| is) (?:all right|alright|ok|okay|fine)\b",
    re.I,
)
_MIND = re.compile(r"\b(?:mind|objections?|object)\b", re.I)
_PLEADS = re.compile(
    r"\b(?:please|just|kindly) (?:confirm|approve|say (?:yes|so))\b|\bconfirm and\b"
    r"|\b(?:give|need|awaiting|waiting for)(?: me)? (?:your|the|a)"
    r" (?:go-ahead|ok|okay|approval|confirmation|yes)\b",
    re.I,
)
_VALUE = re.compile(r"\b(?:what|which|when|where|who|whom|how)\b(?! about)", re.I)
_EITHER_OR = re.compile(r"\bor\b(?! (?:not|no|should i wait|shall i wait|anything|would you)\b)", re.I)
_COUNTED = re.compile(r"\b(\d+) ([a-z]+)", re.I)


def asks_for_a_value(question: str) -> bool:
    return bool(_VALUE.search(question))


def wants_a_yes(question: str) -> bool:
    """A proposal or a plea to confirm, with nothing to choose in it."""
    if asks_for_a_value(question) or _EITHER_OR.search(question):
        return False
    return bool(_PROPOSES.search(question) or _ALL_RIGHT.search(question))


def pleads(sentence: str) -> bool:
    """Wants a yes without being a question: "please confirm and I will do it"."""
    return bool(_PLEADS.search(sentence))


def go_ahead(question: str) -> str:
    return "Not at all, please go ahead." if _MIND.search(question) else "Yes, please go ahead."


def contradicted(question: str, facts: Sequence[Fact]) -> list[Fact]:
    """The facts that are a count, of what the question counts otherwise."""
    counted = [(number, USER.stem(word.lower())) for number, word in _COUNTED.findall(question)]
    return [
        fact
        for fact in facts
        if fact.said.isdecimal()
        and not fact.is_bound
        and any(word in fact.cues and number != fact.said for number, word in counted)
    ]
