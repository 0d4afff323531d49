"""What the faces lead to expect of measures that the draw of closed choices makes of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean, pstdev

from atr_data.episode import Episode
from atr_datagen.validity.corpus import Corpus, number
from atr_datagen.validity.measure import shape
from atr_datagen.validity.verdict import GATES, Expected

DRAWS = 40
"""Draws of faces from which mean and deviation are taken."""


def expected_in_sample(redraw: Callable[[int], Sequence[Episode]], draws: int = DRAWS) -> Expected:
    """Mean and standard deviation of the in-sample measures over draws of the same personas."""
    found = [shape(Corpus.of(redraw(place))) for place in range(draws)]
    names = [bound.metric for bound in GATES if bound.in_sample]
    columns = {name: [number(metrics, name) for metrics in found] for name in names}
    return {name: (mean(values), pstdev(values)) for name, values in columns.items()}
