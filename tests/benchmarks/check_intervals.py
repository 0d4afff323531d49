"""Prints how often a paired bootstrap finds a difference where there is none, by number of personas.

Run: `python tests/benchmarks/check_intervals.py [RUNS]`. Each persona has 14 tests and a pass rate of its own
between 20 and 70 percent; two runs play them. `effect`: by how much (standard deviation) the two differ from
persona to persona, with a mean of 0, so that every difference found is a false one.
"""

from __future__ import annotations

import random
import sys

from atr_evaluator.aggregate.paired import Test, paired_difference

TESTS, RESAMPLES = 14, 400
PERSONAS, EFFECTS = (2, 5, 9, 10, 15, 20, 40), (0.0, 0.1, 0.2)


def false_findings(personas: int, effect: float, runs: int, seed: int = 1) -> float:
    generator = random.Random(seed)
    found = 0
    for _ in range(runs):
        first: dict[Test, float] = {}
        second: dict[Test, float] = {}
        for persona in range(personas):
            rate, shift = generator.uniform(0.2, 0.7), generator.gauss(0, effect)
            for test in range(TESTS):
                key = (f"p{persona}", test)
                first[key] = float(generator.random() < rate - shift / 2)
                second[key] = float(generator.random() < rate + shift / 2)
        compared = paired_difference(first, second, resamples=RESAMPLES)
        assert compared is not None
        found += compared.p_value < 0.05
    return found / runs


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print("personas  drawn    " + "  ".join(f"effect {effect:.1f}" for effect in EFFECTS))
    for personas in PERSONAS:
        shares = [false_findings(personas, effect, runs) for effect in EFFECTS]
        drawn = "personas" if personas >= 10 else "tests"
        print(f"{personas:8}  {drawn:8} " + "  ".join(f"{share:10.3f}" for share in shares))


if __name__ == "__main__":
    main()
