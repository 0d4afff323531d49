"""The gates, measured on a few users: the figures stand where a reader wins and a guesser does not."""

from __future__ import annotations

from atr_client.timing.gates import judge
from atr_client.timing.measuring import Figures, measure
from tests.support.timing_sets import generated

GOOD = {
    "oracle": 1.0,
    "reader-16": 0.78,
    "reader-4": 0.6,
    "reader-16, change ignored": 0.65,
    "ngram": 0.0,
    "ngram-own": 0.02,
    "ngram, public words": 0.1,
    "surface": 0.0,
    "rate-matched": -0.4,
    "always": -10.0,
    "always-300s": -2.0,
    "never": 0.0,
    "at every scene": -0.05,
    "memoryless, by values": -0.05,
    "own rate per kind": -0.02,
    "scene words, own past": 0.07,
    "scene words, public": 0.7,
    "gold timing, no intent": -0.5,
    "gold timing, best constant intent": -0.3,
}


def failing(**changes: float) -> set[str]:
    means = GOOD | {name.replace("_", " "): value for name, value in changes.items()}
    figures = [Figures(means, snapshot_mcc=0.01, guess_bound=0.0, burstiness=[0.78, 0.8])]
    return {gate.name for gate in judge(figures, means) if not gate.holds}


def test_good_figures_pass_every_gate() -> None:
    assert failing() == set()


def test_each_gate_falls_to_its_own_fault() -> None:
    assert failing(at_every_scene=0.06) == {"G1 memoryless, scenes told"}
    assert failing(**{"ngram-own": 0.16}) == {"G2 words hashed"}
    assert failing(**{"gold timing, no intent": 0.01}) == {"G4 gold timing, no or constant intent"}
    assert failing(**{"reader-4": 0.7}) == {"G5 reader-4 below"}
    assert failing(**{"reader-16, change ignored": 0.75}) == {"G5 change ignored below"}
    assert failing(surface=0.01) == {"order"}
    assert failing(**{"rate-matched": 0.01}) == {"order"}
    assert failing(**{"reader-4": -0.01}) == {"order"}
    assert failing(always=-0.1) == {"always is last"}
    assert failing(never=0.001) == {"never"}
    figures = [Figures(GOOD, snapshot_mcc=-0.09, burstiness=[0.78, 0.81])]
    assert {g.name for g in judge(figures, GOOD) if not g.holds} == {"G3 snapshots by surface", "burstiness"}


def test_the_order_is_judged_over_salts() -> None:
    """A lead below noise is none, and a lag below noise is no fault."""

    def order(*surface: float, reader: tuple[float, ...] = (0.6, 0.6, 0.6)) -> bool:
        utilities = [GOOD | {"surface": s, "reader-4": r} for s, r in zip(surface, reader, strict=True)]
        figures = [Figures(one, burstiness=[0.787]) for one in utilities]
        return next(gate.holds for gate in judge(figures, GOOD) if gate.name == "order")

    assert order(0.0, 0.0, 0.0)
    assert order(0.05, -0.04, 0.02)
    assert not order(0.05, 0.04, 0.05)
    assert not order(0.0, 0.0, 0.0, reader=(0.3, -0.2, 0.1))


def test_measured_on_four_users_readers_stand_above_guessers() -> None:
    figures = measure(generated(4))
    utilities = figures.utilities
    assert set(utilities) == set(GOOD)
    assert utilities["oracle"] == 1
    assert utilities["never"] == 0
    guessers = ("surface", "ngram", "ngram-own", "own rate per kind", "at every scene", "rate-matched")
    assert utilities["reader-16"] > max(utilities[name] for name in guessers) + 0.3
    assert utilities["gold timing, no intent"] == -0.5
    assert utilities["gold timing, best constant intent"] < 0
