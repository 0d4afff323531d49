"""One user's way through a chronicle: which of its days is played on which, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from atr_datagen.timing.cast import POOLS, Casting, exchanged, words_of
from atr_datagen.timing.chronicle import DAY_MARK, Chronicle, Day, Line, Plot
from atr_datagen.timing.draws import stream_of_chance

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@dataclass(frozen=True, slots=True)
class Walk:
    """The chronicle in a circle, beginning with its day `start`; `names` are those of each pass."""

    chronicle: Chronicle
    start: int
    names: tuple[dict[str, str], ...]
    login: str

    def day(self, number: int) -> Day:
        """What happens on a working day, counted from 1."""
        return self.chronicle.days[(self.start + number - 1) % len(self.chronicle.days)]

    def said(self, text: str, number: int) -> str:
        """A text of the chronicle on a working day: other names, and the weekdays of the calendar."""
        named = exchanged(text, self.names[(self.start + number - 1) // len(self.chronicle.days)])
        return DAY_MARK.sub(lambda mark: WEEKDAYS[(number - 1 + int(mark[1])) % len(WEEKDAYS)], named)

    def line(self, line: Line, number: int) -> Line:
        """An event as it is on a working day."""
        title, summary, text = (self.said(part, number) for part in (line.title, line.summary, line.text))
        return replace(line, title=title, summary=summary, text=text)

    def plot(self, plot: Plot, number: int) -> Plot:
        """A scene as it is on a working day."""
        return replace(
            plot,
            thing=self.said(plot.thing, number),
            detail=self.said(plot.detail, number),
            foil=self.said(plot.foil, number),
            foil_detail=self.said(plot.foil_detail, number),
            target=self.said(plot.target, number),
            asks={intent: self.said(ask, number) for intent, ask in plot.asks.items()},
            more=tuple(self.said(ask, number) for ask in plot.more),
        )


def any_login(random: Random) -> str:
    """A name by which somebody logs in."""
    return random.choice("aehjkmst") + random.choice(POOLS["last"]).lower()


def set_out(chronicles: Sequence[Chronicle], seed: int, number: int, user_id: str, days: int) -> Walk:
    """The walk of a set's `number`-th user. No job comes twice before all have come."""
    order = stream_of_chance("jobs", seed).sample(range(len(chronicles)), len(chronicles))
    chronicle = chronicles[order[number % len(order)]]
    random = stream_of_chance("walk", seed, user_id)
    start = random.randrange(len(chronicle.days))
    casting = Casting(random, words_of(chronicle.text))
    staff = casting.of(chronicle.staff)
    passes = (start + days - 1) // len(chronicle.days) + 1
    names = tuple(staff | casting.of(chronicle.outside, staff.values()) for _ in range(passes))
    return Walk(chronicle, start, names, any_login(random))
