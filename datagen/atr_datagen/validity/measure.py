"""All measures together."""

from __future__ import annotations

from collections.abc import Iterable

from atr_data.episode import Episode
from atr_datagen.validity import choosers
from atr_datagen.validity.corpus import Corpus, Metrics
from atr_datagen.validity.counts import counts, distribution, structure
from atr_datagen.validity.leaks import leaks
from atr_datagen.validity.limit_twin import limit_twin
from atr_datagen.validity.policies import param_id_shortcuts, policy_scores, pools
from atr_datagen.validity.variety import variety


def report(episodes: Iterable[Episode]) -> Metrics:
    """Measure to value, in the order in which they are shown. A share or a hit rate lies between 0 and 1.

    Raises ValueError when there is no test or no learning session.
    """
    corpus = Corpus.of(episodes)
    return {
        **counts(corpus),
        **distribution(corpus),
        **structure(corpus),
        **shape(corpus),
        **choosers.unchecked_targets(corpus),
        **choosers.asking(corpus),
        **choosers.lexical_oracle(corpus),
        **leaks(corpus),
        **variety(corpus),
    }


def shape(corpus: Corpus) -> Metrics:
    """What a chooser makes of places, numbers and frequencies alone."""
    scores = policy_scores(corpus)
    parts = {
        **limit_twin(corpus),
        **param_id_shortcuts(scores),
        **choosers.param_enum_shortcuts(corpus),
        **choosers.tool_shortcuts(corpus),
        **choosers.confirm_shortcuts(corpus),
    }
    return {**pools(corpus), **parts, **choosers.combined_shortcuts(corpus, scores, parts)}
