"""The gates that a set must pass: reading and remembering pay, guessing does not. Means over salts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from atr_client.timing.choosers.chooser import User
from atr_client.timing.measuring import Figures, measure

SALTS = 10
TARGET_B, TOLERANCE = 0.787, 0.02

_MEMORYLESS = ("at every scene", "memoryless, by values")
_WORDS = ("surface", "ngram", "ngram-own", "own rate per kind", "scene words, own past")
_PUBLIC_WORDS = ("ngram, public words", "scene words, public")
_ABOVE = (("oracle", "reader-16"), ("reader-16", "reader-4"), ("reader-4", "ngram"))
_NOT_BELOW = (("ngram", "surface"), ("surface", "rate-matched"))
_ERRORS = 2.0
"""Standard errors of a mean over salts by which one player is above another."""


@dataclass(frozen=True, slots=True)
class Gate:
    """`measured` against `bound`, in words; `detail` names the figures behind it."""

    name: str
    bound: str
    measured: str
    holds: bool
    detail: str = ""


def check_sets(sets: Iterable[Callable[[], Sequence[User]]]) -> tuple[list[Gate], dict[str, float]]:
    """The gates, and the mean utility of every chooser. Sets are made and measured one at a time."""
    figures = [measure(make()) for make in sets]
    means = {name: fmean(one.utilities[name] for one in figures) for name in figures[0].utilities}
    return judge(figures, means), means


def judge(figures: Sequence[Figures], means: dict[str, float]) -> list[Gate]:
    """All gates but those that need human readers."""
    guess = fmean(one.guess_bound for one in figures)
    mcc = fmean(one.snapshot_mcc for one in figures)
    memoryless, words = max(means[name] for name in _MEMORYLESS), max(means[name] for name in _WORDS)
    constant = max(means["gold timing, no intent"], means["gold timing, best constant intent"])
    reader, short = means["reader-16"], means["reader-4"]
    stubborn = means["reader-16, change ignored"]
    bursts = [value for one in figures for value in one.burstiness]
    reached = sum(abs(value - TARGET_B) <= TOLERANCE for value in bursts)
    gaps = {(a, b): _gap(figures, a, b) for a, b in (*_ABOVE, *_NOT_BELOW)}
    ordered = all(gaps[pair].mean > gaps[pair].margin for pair in _ABOVE) and all(
        gaps[pair].mean >= -gaps[pair].margin for pair in _NOT_BELOW
    )
    last = min(means, key=lambda name: means[name])
    return [
        _at_most("G1 memoryless, scenes told", memoryless, guess + 0.05, _named(means, _MEMORYLESS)),
        _at_most(
            "G2 words hashed",
            words,
            0.15,
            _named(means, _WORDS) + "; public: " + _named(means, _PUBLIC_WORDS),
        ),
        Gate("G3 snapshots by surface", "|MCC| <= 0.08", f"{mcc:+.3f}", abs(mcc) <= 0.08),
        _at_most("G4 gold timing, no or constant intent", constant, 0.0),
        Gate("G5 reader-16", ">= 0.70", f"{reader:.3f}", reader >= 0.70),
        Gate("G5 reader-4 below", ">= 0.10", f"{reader - short:.3f}", reader - short >= 0.10),
        Gate("G5 change ignored below", ">= 0.08", f"{reader - stubborn:.3f}", reader - stubborn >= 0.08),
        Gate(
            "order",
            "oracle > reader-16 > reader-4 > ngram >= surface >= rate-matched, "
            f"beyond or within {_ERRORS:g} standard errors over salts",
            ", ".join(f"{a} {gap.mean:+.3f} +- {gap.margin:.3f} {b}" for (a, b), gap in gaps.items()),
            ordered,
        ),
        Gate("never", "0", f"{means['never']:.3f}", means["never"] == 0),
        Gate("always is last", "always", last, last == "always"),
        Gate(
            "burstiness",
            f"{TARGET_B} +- {TOLERANCE} for all",
            f"{reached} of {len(bursts)}, {min(bursts):.3f} to {max(bursts):.3f}",
            reached == len(bursts),
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Gap:
    """How far one player is above another, and what that may be off by."""

    mean: float
    margin: float


def _gap(figures: Sequence[Figures], one: str, other: str) -> _Gap:
    """Paired by salt. Of a single salt nothing can be said of the margin, and it is 0."""
    gaps = [salt.utilities[one] - salt.utilities[other] for salt in figures]
    margin = _ERRORS * stdev(gaps) / sqrt(len(gaps)) if len(gaps) > 1 else 0.0
    return _Gap(fmean(gaps), margin)


def _at_most(name: str, measured: float, bound: float, detail: str = "") -> Gate:
    return Gate(name, f"<= {bound:.3f}", f"{measured:.3f}", measured <= bound, detail)


def _named(means: dict[str, float], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {means[name]:.3f}" for name in names)
