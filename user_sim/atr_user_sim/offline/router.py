"""Does a message ask how the user wants things done in general, and which sentence asks?

A sentence is such a question when it asks at all and more in it speaks of kinds of cases than of the case
at hand. Both are read off its grammar: habitual verbs, scope clauses, plurals and future words speak for
a rule; pointing words, definite things, dates and amounts speak for the task.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from atr_user_sim.interface import RouterVerdict
from atr_user_sim.offline.grammar import asks, closes, generality, task_boundness
from atr_user_sim.offline.sentences import Sentence, sentences

_THRESHOLD = 1.5
_REASON_BONUS = 1.0
_PHASE_BONUS = 0.75
_ANNOUNCED_BONUS = 2.0

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
_ANNOUNCES_QUESTION = re.compile(
    r"\b(?:question|thing|point|matter)s?\b[^.]*\b(?:for|about)\s+(?:the\s+|your\s+)?"
    r"(?:future|next times?|later|long run|long term)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    score: float


class OfflineRouter:
    async def route(self, *, output: str, reason: str) -> RouterVerdict:
        """The best-scoring asking sentence above the threshold; of equals the first. `reason` alone never
        makes a question of a sentence that does not ask."""
        spoken = sentences(output)
        needed = _THRESHOLD - _evidence(reason) - (_PHASE_BONUS if _reports_action(spoken) else -_PHASE_BONUS)
        found = [candidate for candidate in _candidates(spoken) if candidate.score >= needed]
        best = max(found, key=lambda candidate: candidate.score, default=None)
        return RouterVerdict(best is not None, best.text if best else None)


def offline_router() -> OfflineRouter:
    return OfflineRouter()


def _evidence(reason: str) -> float:
    if _REASON_ASKS_RULE.search(reason):
        return _REASON_BONUS
    return -_REASON_BONUS if _REASON_NEEDS_INPUT.search(reason) else 0.0


def _reports_action(spoken: list[Sentence]) -> bool:
    """A question for the long run mostly comes once something is done, one for the task before."""
    return any(_REPORTS_ACTION.search(s.visible) for s in spoken if not asks(s.visible))


def _candidates(spoken: list[Sentence]) -> list[_Candidate]:
    found: list[_Candidate] = []
    announced = False
    for sentence in spoken:
        if asks(sentence.visible) and not closes(sentence.visible):
            score = generality(sentence.visible) - task_boundness(sentence.visible)
            found.append(_Candidate(sentence.text, score + (_ANNOUNCED_BONUS if announced else 0.0)))
            announced = False
        else:
            announced = bool(_ANNOUNCES_QUESTION.search(sentence.visible))
    return found
