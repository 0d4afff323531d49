"""The Classifier of a user of whom nothing is known but her statements: a weighted sum of how they fit.

A softmax over the pool and "none of them" turns the sums into shares, and the best statement is the answer
when its share is large enough. Several statements that are equally vague split the shares, so that none is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul

from atr_user_sim.offline.statement_fit import Fit, fits
from atr_user_sim.offline.statements import Meaning, Question

_WEIGHTS = Fit(1.3, 0.6, -3.7, 1.4, 3.3, -1.4, 1.5, 3.1, 4.6)
_BIAS = -6.2
"""Fitted by maximum likelihood (ridge penalty 0.1) before there were question lines, to early questions of
our own and to the official calibration questions: on those no figure of it counts."""

_ENOUGH = 0.34


def best_statement(question: Question, statements: Sequence[Meaning]) -> int | None:
    """The index of the statement that answers, or None."""
    odds = [math.exp(_BIAS + sum(map(mul, _WEIGHTS, fit))) for fit in fits(question, statements)]
    best = max(range(len(odds)), key=odds.__getitem__)
    return best if odds[best] >= _ENOUGH * (1 + sum(odds)) else None
