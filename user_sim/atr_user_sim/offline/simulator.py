"""Plays the user of a learning session from its brief alone. Every reply follows from the conversation so
far; the simulator keeps no state."""

from __future__ import annotations

import re
from collections.abc import Sequence

from atr_data.constants import ANSWER_TOKEN
from atr_user_sim.brief import UserBrief
from atr_user_sim.interface import HistoryEntry, SimulatorReply
from atr_user_sim.offline.consent import (
    asks_for_a_value,
    contradicted,
    go_ahead,
    is_about_the_plan,
    pleads,
    wants_a_yes,
)
from atr_user_sim.offline.facts import Fact, facts_asked, facts_named, facts_of, hints_of
from atr_user_sim.offline.grammar import asks, closes
from atr_user_sim.offline.options import choose, options_in, over_bound
from atr_user_sim.offline.progress import in_plain_words, remaining
from atr_user_sim.offline.sentences import sentences

_NO_PREFERENCE = "No preference there, whatever works."
_THANKS = "Great, thanks. That's all I needed."
_GIVING_UP = "All right, then let's leave it. Thanks for trying."
_ACKNOWLEDGED = "Okay, please carry on."

_MOST_USER_TURNS = 20
_MOST_REPEATS = 3

_STUCK = re.compile(
    r"\bwhat (?:should|shall|do) i do\b|\bwhat(?:'s| is) next\b|\bnext step\b|\bhow (?:should"
    r"|do) i (?:proceed|continue|go on)\b"
    r"|\b(?:stuck|no results|nothing (?:came up|found)|not sure (?:how|what)|couldn't find"
    r"|could not find|can't find)\b",
    re.I,
)
_STANDING = re.compile(
    r"\b(?:in general|generally|always|never|usual\w*|typical\w*|normal\w*|as a rule|by default"
    r"|(?:the|in) future|from now on|going forward|whenever|next time|each time|every time|such"
    r"|when (?:i|you|it|there)|if (?:i|you))\b",
    re.I,
)
_IMPOSSIBLE = re.compile(
    r"\b(?:unable to|not able to|impossible|not possible|cannot be done|can't be done|give up)\b", re.I
)


class OfflineSimulator:
    def __init__(self, brief: UserBrief) -> None:
        self._brief = brief
        self._facts = facts_of(brief)

    async def open(self) -> SimulatorReply:
        """The reason for the call, and the broad hints a first message may give."""
        reason = self._brief.reason_for_call.strip().rstrip(".") or "I need help with something"
        hinted = hints_of(self._brief)
        details = f" {_told(hinted)}" if hinted else ""
        return SimulatorReply(f"Hi! {reason}.{details}", "continue")

    async def reply(
        self, *, agent_text: str, history: Sequence[HistoryEntry], answer_directive: str | None
    ) -> SimulatorReply:
        """Never ends in a turn that has an answer to give: text that comes with an end may be lost."""
        if answer_directive is not None:
            rest = self._answers(_without_quoted(agent_text, answer_directive), history)
            told = [*self._facts_of_this_task(agent_text, answer_directive), *rest]
            return SimulatorReply(f"{ANSWER_TOKEN}. {' '.join(dict.fromkeys(told))}".strip(), "continue")
        if self._is_over(agent_text, history):
            return SimulatorReply("", "end")
        done = not remaining(self._brief.gold_trajectory, history)
        if done and not _open_question(agent_text):
            return SimulatorReply(_THANKS, "continue")
        if _IMPOSSIBLE.search(agent_text) and not _open_question(agent_text):
            return SimulatorReply(_GIVING_UP, "continue")
        answers = self._answers(agent_text, history)
        return SimulatorReply(" ".join(answers) or _ACKNOWLEDGED, "continue")

    def _facts_of_this_task(self, agent_text: str, directive: str) -> list[str]:
        """What the quoted question asks about this task, though it is worded as one of preference."""
        quoted = [s.visible for s in sentences(agent_text) if s.text in directive]
        named = [facts_named(question, self._facts) for question in quoted if not _STANDING.search(question)]
        return [_told(facts) for facts in named if facts]

    def _is_over(self, agent_text: str, history: Sequence[HistoryEntry]) -> bool:
        """Both sides have closed, or the conversation goes in circles."""
        said = [entry.content for entry in history if entry.role == "user"]
        heard = [entry.content for entry in history if entry.role == "assistant"]
        if len(said) >= _MOST_USER_TURNS or heard.count(agent_text.strip()) >= _MOST_REPEATS:
            return True
        if _open_question(agent_text):
            return False
        closed = any(text.endswith((_THANKS, _GIVING_UP)) for text in said)
        done = not remaining(self._brief.gold_trajectory, history)
        return closed or (done and any(closes(s.visible) for s in sentences(agent_text)))

    def _answers(self, agent_text: str, history: Sequence[HistoryEntry]) -> list[str]:
        options = options_in(agent_text)
        told: list[str] = []
        spoken = [s.visible for s in sentences(agent_text)]
        asked = [text for text in spoken if (asks(text) and not closes(text)) or pleads(text)]
        for question in asked:
            told.append(self._answer(question, options, history))
        if not asked and _STUCK.search(agent_text):
            told.append(self._next_step(history))
        return list(dict.fromkeys(filter(None, told)))

    def _answer(self, question: str, options: list[str], history: Sequence[HistoryEntry]) -> str:
        if _STUCK.search(question):
            return self._next_step(history)
        bounds = [fact for fact in self._facts if fact.is_bound]
        if options and asks_for_a_value(question):
            choice = choose(options, self._facts, cheapest=self._wants_cheapest())
            return f"{choice}, please." if choice else _told(bounds) or _NO_PREFERENCE
        if over_bound(question, self._facts):
            return f"No, that is too much. {_told(bounds)}"
        if wants_a_yes(question):
            wrong = contradicted(question, self._facts)
            return f"No: {_told(wrong)}" if wrong else go_ahead(question)
        if facts := facts_asked(question, self._facts):
            return _told(facts)
        return go_ahead(question) if is_about_the_plan(question) else _NO_PREFERENCE

    def _wants_cheapest(self) -> bool:
        return any(step.arguments.get("sort_by") == "price_asc" for step in self._brief.gold_trajectory)

    def _next_step(self, history: Sequence[HistoryEntry]) -> str:
        steps = remaining(self._brief.gold_trajectory, history)
        if not steps:
            return "That part is done already."
        values = {str(value).lower() for value in steps[0].arguments.values()}
        useful = [fact for fact in self._facts if fact.said.lower() in values]
        hint = in_plain_words(steps[0])
        return f"Please try this next: {hint}. {_told(useful)}".strip() if hint else _told(self._facts)


def _told(facts: Sequence[Fact]) -> str:
    return " ".join(f"The {fact.label} is {fact.said.rstrip('.')}." for fact in facts)


def _open_question(agent_text: str) -> bool:
    return any(asks(s.visible) and not closes(s.visible) for s in sentences(agent_text))


def _without_quoted(agent_text: str, directive: str) -> str:
    """The message without the sentence that the directive quotes: its answer stands elsewhere."""
    return "\n".join(s.text for s in sentences(agent_text) if s.text not in directive)
