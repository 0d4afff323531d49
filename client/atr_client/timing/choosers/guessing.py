"""What a chooser offers when it does not know: an intent from the words of past needs, a target and details
that the window's own texts repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from atr_client.timing.choosers.chooser import Seen, User, seen_event
from atr_client.timing.choosers.simple import favourite_intent
from atr_client.timing.choosers.words import words_of
from atr_data.timing.decisions import Assist
from atr_data.timing.intents import INTENTS, Intent
from atr_evaluator.timing import TimingRules
from atr_evaluator.timing.sitting_view import windows_of

_DETAIL = re.compile(r"\b[a-z]+ \d+\b|\b\d+(?:\.\d+)?(?: [a-z]+)?\b")
_WINDOW = 4


class ContentGuess:
    """Learns from one user's past needs, whose intents the self-help events tell."""

    def __init__(self, user: User) -> None:
        self._default: Intent | None = favourite_intent(user)
        self._counts = dict[Intent, Counter[str]]()
        self._seen_in: Counter[str] = Counter()
        past = [seen_event(event) for event in user.history() if not event.self_help]
        start = user.evaluation_start
        place = 0
        for window in windows_of(user.gold, TimingRules()):
            if window.onset >= start or window.need.intent is None:
                continue
            while place < len(past) and past[place].at < window.opens:
                place += 1
            inside = [event for event in past[place : place + 12] if event.at <= window.onset]
            words = {word for event in inside for word in words_of(event)}
            self._counts.setdefault(window.need.intent, Counter[str]()).update(words)
            self._seen_in.update(words)

    def offer(self, event: Seen, seen: Sequence[Seen]) -> Assist:
        """The best guess at an event."""
        window = [*(one for one in seen[-12:] if not one.self_help), event][-_WINDOW:]
        words = {word for one in window for word in words_of(one)}
        target = _repeated_target(window)
        detail = _DETAIL.search(window[-1].summary) or _DETAIL.search(" ".join(one.summary for one in window))
        query = " ".join(filter(None, [target and target.replace("_", " "), detail and detail[0]]))
        return Assist(intent=self._intent(words), target=target, query=query or None)

    def _intent(self, words: set[str]) -> Intent | None:
        scores = [self._score(intent, words) if intent in self._counts else 0.0 for intent in INTENTS]
        best = max(scores)
        return INTENTS[scores.index(best)] if best > 0 else self._default

    def _score(self, intent: Intent, words: set[str]) -> float:
        counts = self._counts[intent]
        return sum(counts[word] / self._seen_in[word] ** 1.5 for word in words if counts[word] > 1)


def _repeated_target(window: Sequence[Seen]) -> str | None:
    """The target whose name the window's texts mention most."""
    texts = [f"{one.title} {one.summary} {one.text}".casefold() for one in window]
    best, best_count = None, 0
    for one in reversed(window):
        if one.target is None:
            continue
        name = one.target.rpartition(".")[0] or one.target
        count = sum(name.replace("_", " ") in text for text in texts)
        if count > best_count or best is None:
            best, best_count = one.target, count
    return best
