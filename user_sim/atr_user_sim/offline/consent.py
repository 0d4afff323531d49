"""Questions of an agent that want a yes: proposals, and whether something is all right."""

from __future__ import annotations

import re
from collections.abc import Sequence

from atr_data.english.words import USER
from atr_user_sim.offline.facts import Fact

_AGREE = (
    r"(?:all right|alright|okay|ok|fine|good|right|correct|acceptable|agreeable|happy|comfortable"
    r"|agreed?|approve|accept|sign off|content|satisfied|suitable|accurate|in order|a go|on board|with me"
    r"|works?|working|suits?|object|mind|confirm|say yes)\b"
)
"""How one says to be for a thing, or that a thing is right."""

_ASSENT = (
    r"(?:ok|okay|approval|permission|go-ahead|blessing|confirmation|consent|say-so|green light|nod|yes"
    r"|thumbs[- ]up|word)\b"
)
"""What somebody gives who agrees."""

_PROPOSES = re.compile(
    r"\b(?:shall|should|may|can|could) (?:i|we) (?!(?:\w+ )?(?:what|which))"
    r"|\b(?:want|like|happy for|okay for|ok for) me to\b|\bgo[- ]ahead\b|\bproceed\b"
    r"|\b(?:ok|okay|all right|alright|fine|good|safe|happy|ready|free|clear|cleared|set)"
    r" (?:for (?:me|us) )?to\b"
    r"|\bpermi(?:t|ssion for) me to\b|\bgive me (?:your |the )?permission\b",
    re.I,
)
_ALL_RIGHT = re.compile(
    r"\b(?:is|are|was|would|will|does|do|if|am) (?:that|this|it|these|those|they|everything"
    r"|(?:the|this|that|these|those) \w+"
    r"|all (?:of )?(?:this|that)|you|we|i)(?: all| both)?(?:'s|’s| is| are)?(?: be| look| sound| seem)?"
    rf"(?: really| still| also| all)? {_AGREE}"
    rf"|^\W*(?:(?:so|and|all|you|still|everything|that) )*{_AGREE}(?: with| for| by)?"
    r"(?: (?:that|this|it|you|me|so far|then|everything))*\W*\?"
    r"|\b(?:works|okay|ok|fine|good|all right|alright|agreeable|acceptable) (?:for|with|by) you\b"
    r"|^\W*(?:you )?(?:okay|ok|fine|happy|comfortable|good) (?:with|if)\b"
    r"|\b(?:okay|ok|all right|alright|right|agreed|correct|deal|fine|sounds? good|looks? good|yes)\?\W*$"
    r"|\b(?:any|no) objections?\b|\byou(?:'d|’d| would)? object\b|\b(?:mind|objection) if (?:i|we)\b"
    r"|\b(?:any|a|there) (?:good )?reason (?:i|we|for me|for us|why i|why we)? ?(?:should|not)"
    rf"|\byour {_ASSENT}|\b(?:have|get|got|take|need) (?:the|a|that as a|that as your) {_ASSENT}"
    r"|\b(?:please|could you|can you|would you|to|just) (?:confirm|verify)\b"
    r"|\bconfirm (?:that|this|it|if|whether|and|before|so|the)\b"
    r"|\b(?:understood|read|heard|got|did i get) (?:you|that|it|this|everything|all that)"
    r" (?:right|correctly|properly)\b|\bhave i understood\b"
    r"|\b(?:is|was) (?:that|this|it) what you (?:wanted|meant|had in mind|asked for|were looking for)\b",
    re.I,
)
_MIND = re.compile(r"\b(?:mind|objections?|object|reason|wrong)\b", re.I)
_PLEADS = re.compile(
    r"\b(?:please|just|kindly) (?:confirm|approve|agree"
    r"|(?:say|reply|answer|write|type)\W+(?:yes|so|the word|ok))\b"
    r"|\b(?:reply|answer)\b.{0,16}\bto (?:continue|proceed|confirm)\b"
    r"|\bconfirm and\b|\bgive me (?:permission|approval)\b"
    rf"|\b(?:give|need|await|awaiting|waiting for|wait for)(?: me)? (?:your|the|a) {_ASSENT}"
    r"|\b(?:if|once|when|as soon as|after) you(?:'re|’re| are|'ve|’ve| have)? "
    rf"(?:{_AGREE}|confirm(?:ed)?\b|approved\b|give (?:me )?(?:the|your) {_ASSENT}|say (?:so|yes)\b)"
    r"|\b(?:let me know|tell me) (?:if|whether) (?:you(?:'re|’re| are)?|that|this|it)(?:'s|’s| is| are)? "
    rf"(?:all )?{_AGREE}",
    re.I,
)
_PLAN = re.compile(
    r"^\W*(?:(?:so|and|also|then|now|okay|ok|great)\W+)*(?:is|are|was|will|would|does|do|shall|should|can|may|did|have"
    r"|has) (?:this|that|it|these|those|the|i|we|there anything wrong|anything)\b",
    re.I,
)
_VALUE = re.compile(
    r"\b(?:what(?! you (?:wanted|meant|had|asked|were))|which|when|where|who|whom|how)\b(?! about)", re.I
)
_EITHER_OR = re.compile(r"\bor\b(?! (?:not|no|should i wait|shall i wait|anything|would you)\b)", re.I)
_COUNTED = re.compile(r"\b(\d+) ([a-z]+)", re.I)


def asks_for_a_value(question: str) -> bool:
    return bool(_VALUE.search(question))


def wants_a_yes(question: str) -> bool:
    """A proposal or a plea to confirm, with nothing to choose in it."""
    if pleads(question):
        return True
    if asks_for_a_value(question) or _EITHER_OR.search(question):
        return False
    return bool(_PROPOSES.search(question) or _ALL_RIGHT.search(question))


def is_about_the_plan(question: str) -> bool:
    """A yes-or-no question on what the agent has found or means to do, in whatever words."""
    return bool(_PLAN.search(question)) and not _EITHER_OR.search(question)


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
