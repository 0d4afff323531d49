"""Processor time of a question against a pool that is prepared: `python tests/benchmarks/bench_user.py`.

In milliseconds, for a pool whose vectors ship and for one that is new to the encoder. The questions are new
to it too; the user has the lines of both hands. The weights are loaded before.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping

import anyio

from atr_data import load_episode, packaged_episodes_dir
from atr_user_sim.calibration.records import persona_lines, questions, statements
from atr_user_sim.interface import PoolRule
from atr_user_sim.lines import RuleLines, load_lines
from atr_user_sim.offline import OfflineClassifier, TextComparison, offline_encoder

_QUESTIONS = 60
_SHIPPED = packaged_episodes_dir() / "odalys_renner"

Known = tuple[list[PoolRule], Mapping[str, RuleLines]]


def _shipped() -> Known:
    rules = load_episode(f"{_SHIPPED}_seed000.json").rules
    pool = [PoolRule(rule.rule_id, rule.canonical_answer) for rule in rules]
    return pool, load_lines(f"{_SHIPPED}.lines.json")


def _new() -> Known:
    persona = max({s.persona for s in statements()}, key=lambda p: sum(s.persona == p for s in statements()))
    return [PoolRule(s.rule, s.statement) for s in statements() if s.persona == persona], persona_lines()


async def _measure(comparison: TextComparison, known: Known, first: int) -> str:
    """From question number `first` on: what was encoded once costs nothing again."""
    pool, lines = known
    classifier = OfflineClassifier(offline_encoder(comparison), lines)
    await classifier.classify(question="Which one?", pool=[PoolRule(pool[0].rule_id, "Anything.")])
    started = time.process_time()
    await classifier.classify(question="Which one?", pool=pool)
    prepared = time.process_time() - started
    taken: list[float] = []
    for question in questions()[first : first + _QUESTIONS]:
        started = time.process_time()
        await classifier.classify(question=question.question, pool=pool)
        taken.append(time.process_time() - started)
    median, slow = statistics.median(taken) * 1e3, statistics.quantiles(taken, n=10)[-1] * 1e3
    return f"pool of {len(pool)} {prepared * 1e3:.0f} ms, a question {median:.1f} ms (p90 {slow:.1f} ms)"


async def _all() -> None:
    comparisons: tuple[TextComparison, ...] = ("lexical", "minilm")
    for comparison in comparisons:
        for first, name, known in ((0, "new", _new()), (_QUESTIONS, "shipped", _shipped())):
            print(f"{comparison}, {name}: {await _measure(comparison, known, first)}")


if __name__ == "__main__":
    anyio.run(_all)
