"""Whether a plain question about a rule's topic brings the intended answer, by a sentence encoder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from atr_datagen.source.compile import Compiled
from atr_user_sim.offline.encoder import Encoder

FIRST, TOP_THREE = 0.75, 0.92
"""Of the plain questions; the official data, asked alike, reach as much."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Shares of questions whose intended answer is ranked first, and among the first three."""

    questions: int
    first: float
    top_three: float

    @classmethod
    def of(cls, ranks: Iterable[int]) -> Reached:
        found = list(ranks)
        total = max(1, len(found))
        return cls(len(found), sum(r == 1 for r in found) / total, sum(r <= 3 for r in found) / total)

    def __str__(self) -> str:
        return f"first {self.first:.3f}, top three {self.top_three:.3f} of {self.questions}"


@dataclass(frozen=True, slots=True)
class Reachability:
    """`plain` are the first lines of each hand, `every` all `asked`. Only the plain ones are judged."""

    plain: Reached
    every: Reached

    @property
    def ok(self) -> bool:
        return self.plain.first >= FIRST and self.plain.top_three >= TOP_THREE

    def __str__(self) -> str:
        mark = "pass" if self.ok else "FAIL"
        wanted = f"(at least {FIRST:g} and {TOP_THREE:g})"
        return f"{mark:<4}  reachability, plain questions: {self.plain} {wanted}; all asked: {self.every}"


def reachability(compiled: Iterable[Compiled], encoder: Encoder) -> Reachability:
    """Each question is ranked among the answers of all rules of its persona, on the faces that are shown."""
    plain: list[int] = []
    every: list[int] = []
    for c in compiled:
        answers = [test.faces[c.shown[test.rule_id]].block.answer for test in c.tests]
        for place, test in enumerate(c.tests):
            for hand in (test.rule.asked.a, test.rule.asked.b):
                ranks = [_rank(_likenesses(encoder, question, answers), place) for question in hand]
                plain += ranks[:1]
                every += ranks
    return Reachability(Reached.of(plain), Reached.of(every))


def _rank(scores: Sequence[float], place: int) -> int:
    return 1 + sum(score > scores[place] for score in scores)


def _likenesses(encoder: Encoder, question: str, answers: Sequence[str]) -> list[float]:
    return [float(x) for x in encoder.vectors(answers, "passage") @ encoder.vectors([question], "query")[0]]
