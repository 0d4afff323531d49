"""A person in the user's place: she is asked, and the harness keeps to the rules that hold for any user.

Router and Classifier stay what they are, and a rule is answered in its own words, so that what an agent asked
for is counted alike whoever plays the user. The first message is the brief's, for the same reason.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from atr_client.cell.episode_runner import Users
from atr_client.gateway.news import News
from atr_data.constants import ANSWER_TOKEN
from atr_data.episode import Episode, LearningSession
from atr_user_sim import SimulatedUser, UserBrief, UserSimFault, simulated_user
from atr_user_sim.interface import Classifier, HistoryEntry, SimulatorReply
from atr_user_sim.offline import OfflineSimulator, offline_router

RULE_NOTE = (
    "The agent asked about a standing rule. The answer is put before what you write, in the words of the "
    "rule, or a word that you have no such rule. Add what else you want to say."
)


@dataclass(frozen=True, slots=True)
class Question:
    """What the person is to answer. `number` counts questions from 1; `note` is what the harness will add."""

    number: int
    brief: str
    said: Sequence[HistoryEntry]
    agent: str
    note: str | None

    @property
    def text(self) -> str:
        """All of it, for those who see nothing else."""
        note = f"\n\n({self.note})" if self.note else ""
        return f"{self.brief}\n\nThe agent says:\n\n{self.agent}{note}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What she says. `ends`: she leaves, and the session is over."""

    text: str = ""
    ends: bool = False


class Person:
    """One question at a time. Whoever can reach her shows `question` and calls `answer`."""

    def __init__(self) -> None:
        self.question: Question | None = None
        self._asked = 0
        self._answer: Answer | None = None
        self._gone: str | None = None
        self._news = News()
        self._lock = anyio.Lock()

    async def ask(self, brief: str, said: Sequence[HistoryEntry], agent: str, note: str | None) -> Answer:
        """Raises UserSimFault when she cannot be reached any more."""
        async with self._lock:
            self._asked += 1
            self._answer = self._gone = None
            self.question = Question(self._asked, brief, said, agent, note)
            self._news.tell()
            try:
                while self._answer is None and self._gone is None:
                    await self._news.wait()
            finally:
                self.question = None
        if self._answer is None:
            raise UserSimFault("user_sim", self._gone or "nobody answers")
        return self._answer

    def answer(self, number: int, answer: Answer) -> bool:
        """False when this question is not, or no longer, to be answered."""
        if self.question is None or self.question.number != number or self._answer is not None:
            return False
        self._answer = answer
        self._news.tell()
        return True

    def leave(self, reason: str) -> None:
        """Nobody answers the question at hand."""
        self._gone = reason
        self._news.tell()

    async def asked(self, after: int = 0) -> Question:
        """The question at hand, once there is one with a higher number."""
        while self.question is None or self.question.number <= after or self._answer is not None:
            await self._news.wait()
        return self.question


@dataclass(frozen=True, slots=True)
class PersonSimulator:
    """Her side of one learning session."""

    brief: UserBrief
    person: Person

    async def open(self) -> SimulatorReply:
        return await OfflineSimulator(self.brief).open()

    async def reply(
        self, *, agent_text: str, history: Sequence[HistoryEntry], answer_directive: str | None
    ) -> SimulatorReply:
        note = None if answer_directive is None else RULE_NOTE
        answer = await self.person.ask(brief_text(self.brief), history, agent_text, note)
        text = answer.text.strip()
        if answer_directive is not None:
            text = f"{ANSWER_TOKEN}. {text}".strip()
        return SimulatorReply(text, "end" if answer.ends or not text else "continue")


def person_users(person: Person, classifier: Classifier) -> Users:
    """Makes the user of each learning session from the person."""
    router = offline_router()

    def make(episode: Episode, session: LearningSession) -> SimulatedUser:
        simulator = PersonSimulator(UserBrief.of(episode, session), person)
        return simulated_user(router, classifier, simulator, episode.rules)

    return Users(make, classifier)


def brief_text(brief: UserBrief) -> str:
    """Who she is and what she wants in this session. No rule is in it."""
    wanted = "\n".join(f"- {name.replace('_', ' ')}: {_said(v)}" for name, v in brief.task_params.items())
    return f"{brief.narrative}\n\nYou want: {brief.reason_for_call}\n{wanted}".strip()


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
