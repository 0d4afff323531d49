"""What speaks for one sentence of a message being a standing-rule question: its words in order, the signs of
its grammar, and where it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from atr_user_sim.offline.grammar import asks, signs
from atr_user_sim.offline.sentences import HIDDEN, Sentence

WORDS_TOGETHER = ":"
"""In the name of each feature that stands for words."""

_TOKEN = re.compile(rf"[a-z]+(?:['’][a-z]+)?|\d+|[?!.,:;—–-]|{HIDDEN}+")
_REASON_ASKS_RULE = re.compile(
    r"\bask\w*\b.*\b(?:standing|lasting|long-term|general(?:ly)?|future|defaults?|habits?|usual(?:ly)?)\b"
    r"|\b(?:standing|lasting|long-term|general|future)\b.*\b(?:question|asked|asking)\b",
    re.I | re.S,
)
_REASON_NEEDS_INPUT = re.compile(
    r"\bneed\w*\b|\bmissing\b|\bclarif\w*\b|\bdetails\b|\bto (?:proceed|continue|complete|finali[sz]e"
    r"|start|find)\b|\bgo-ahead\b",
    re.I,
)
_REPORTS_ACTION = re.compile(
    r"\b(?!(?:need|compar|look|check|search|indeed|interest|relat|includ|li[ks]|bas)ed\b)[a-z]{2,}ed\b"
    r"|\b(?:set|sent|done|made|put|written|told|chose|took|paid|kept|left|all set|is in|is on)\b",
    re.I,
)
_ANNOUNCES_QUESTION = re.compile(r"\b(?:question|thing|point|matter)s?\b", re.I)
_FUTURE = re.compile(r"\b(?:future|next times?|later|long run|long term)\b", re.I)
_WORDS_FOR_OTHERS = re.compile(
    r"\b(?:drafts?|drafted|wr[io]te|written|texts?|texted|repl(?:y|ied)|answer(?:ed)?|says?|said|tell|told|ask(?:ed|s)?|reads?"
    r"|notes?|messages?|wording|words|puts?|sends?|sent|goes|went|mail(?:ed)?|e-?mail|letter|from|quot\w+)\b[^.?!\n]{0,80}:",
    re.I,
)
_SETS_OUT = re.compile(
    r"^\W*(?:sure|of course|certainly|absolutely|happy to|glad to|no problem|right away|understood|got it"
    r"|okay|let me|let's|i(?:'d| would) be (?:happy|glad)|i can (?:help|do)|hi|hello|thanks)\b",
    re.I,
)
_SHORT = 6
_LONGEST_PHRASE = 3
_LONGEST_START = 4


def message_features(spoken: Sequence[Sentence], reason: str) -> list[dict[str, float]]:
    """The features of each sentence, by name; one that is missing is 0."""
    asking = sum(asks(sentence.visible) for sentence in spoken)
    shared = {
        "asks_nothing": float(asking == 0),
        "asks_once": float(asking == 1),
        "asks_more": float(asking > 1),
        "reports": float(any(_REPORTS_ACTION.search(s.visible) for s in spoken if not asks(s.visible))),
        "reason_asks_rule": float(bool(_REASON_ASKS_RULE.search(reason))),
        "reason_needs_input": float(bool(_REASON_NEEDS_INPUT.search(reason))),
        "alone": float(len(spoken) == 1),
        "sets_out": float(bool(spoken and _SETS_OUT.search(spoken[0].visible))),
    }
    shared |= _reasons(reason)
    found: list[dict[str, float]] = []
    before = ""
    for number, sentence in enumerate(spoken):
        tokens = _tokens(sentence.visible)
        place = {
            "first": float(number == 0),
            "last": float(number == len(spoken) - 1),
            "announced": float(bool(_ANNOUNCES_QUESTION.search(before))),
            "announced_for_later": float(bool(_ANNOUNCES_QUESTION.search(before) and _FUTURE.search(before))),
            "for_others": float(bool(_WORDS_FOR_OTHERS.search(sentence.visible))),
            "after_words_for_others": float(bool(_WORDS_FOR_OTHERS.search(before))),
            "hidden": float(HIDDEN in sentence.visible),
            "length": len(tokens) / 10,
            "short": float(len(tokens) < _SHORT),
        }
        found.append(_phrases(tokens) | signs(sentence.visible) | shared | place)
        before = sentence.visible
    return found


def _phrases(tokens: Sequence[str]) -> dict[str, float]:
    found = {
        f"has{WORDS_TOGETHER}{' '.join(tokens[start : start + length])}": 1.0
        for length in range(1, _LONGEST_PHRASE + 1)
        for start in range(len(tokens) - length + 1)
    }
    starts = {
        f"starts{length}{WORDS_TOGETHER}{' '.join(tokens[:length])}": 1.0
        for length in range(1, _LONGEST_START + 1)
    }
    return found | starts | {f"ends{WORDS_TOGETHER}{' '.join(tokens[-3:])}": 1.0}


def _reasons(reason: str) -> dict[str, float]:
    """Words and pairs of words of the note why the message is sent."""
    tokens = _tokens(reason)
    pairs = [" ".join(pair) for pair in pairwise(tokens)]
    return {f"why{WORDS_TOGETHER}{words}": 1.0 for words in (*tokens, *pairs)}


def _tokens(visible: str) -> list[str]:
    return [_token(found) for found in _TOKEN.findall(visible.lower())]


def _token(found: str) -> str:
    """All numbers are one, and so is all that is hidden."""
    if found[0] == HIDDEN:
        return HIDDEN
    return "0" if found[0].isdigit() else found.replace("’", "'")
