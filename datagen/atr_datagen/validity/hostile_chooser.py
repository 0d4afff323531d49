"""S8: a chooser that learns from the other personas' golds what a gold looks like. Needs scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import islice
from typing import Any, Literal

from atr_datagen.validity.hostile_features import Features, features_of
from atr_datagen.validity.options import Choice
from atr_datagen.validity.players import Preference, Ranker

Learner = Literal["linear", "trees"]
_KINDS = ("param_id", "param_enum", "tool_identity")


def is_available() -> bool:
    try:
        import_module("sklearn")
    except ImportError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Hostile:
    """Per check type one model of whether an option is gold; the most likely options are taken."""

    learner: Learner
    confirming: bool = False
    known: dict[str, list[Features]] = field(default_factory=dict[str, list[Features]])
    """What is seen of a test, by rule id: it hangs on no gold."""

    @property
    def name(self) -> str:
        return f"hostile chooser, {self.learner}"

    def trained(self, peers: Sequence[Choice]) -> Ranker:
        models = {kind: self._fitted(_of_kind(peers, kind)) for kind in _KINDS}

        def rank(choices: Sequence[Choice]) -> Sequence[Preference]:
            found = {kind: self._liked(model, _of_kind(choices, kind)) for kind, model in models.items()}
            return [next(found[_kind(c)]) if _kind(c) in found else [0.0] * len(c.options) for c in choices]

        return rank

    def _liked(self, model: Any, choices: Sequence[Choice]) -> Iterator[Preference]:
        """Of all choices at once, which takes a model hardly longer than one of them."""
        rows = [dict(features) for choice in choices for features in self._seen(choice)]
        likely = iter(model.predict_proba(rows)[:, 1].tolist() if model and rows else [0.0] * len(rows))
        for choice in choices:
            yield list(islice(likely, len(choice.options)))

    def _seen(self, choice: Choice) -> list[Features]:
        rule_id = choice.case.rule.rule_id
        if rule_id not in self.known:
            self.known[rule_id] = features_of(choice)
        return self.known[rule_id]

    def _fitted(self, peers: Sequence[Choice]) -> Any:
        """A model, or None when the peers have nothing to learn from."""
        rows = [dict(features) for peer in peers for features in self._seen(peer)]
        gold = [right for peer in peers for right in peer.right]
        if len(set(gold)) < 2:
            return None
        model = _pipeline(self.learner)
        model.fit(rows, gold)
        return model


def _kind(choice: Choice) -> str:
    return choice.case.rule.check_type


def _of_kind(choices: Sequence[Choice], kind: str) -> list[Choice]:
    return [choice for choice in choices if _kind(choice) == kind]


def _pipeline(learner: Learner) -> Any:
    vectorizer = import_module("sklearn.feature_extraction").DictVectorizer(sparse=False)
    make_pipeline = import_module("sklearn.pipeline").make_pipeline
    if learner == "linear":
        scaler = import_module("sklearn.preprocessing").StandardScaler()
        model = import_module("sklearn.linear_model").LogisticRegression(
            C=0.05, solver="liblinear", random_state=0
        )
        return make_pipeline(vectorizer, scaler, model)
    trees = import_module("sklearn.ensemble").ExtraTreesClassifier(
        n_estimators=60, min_samples_leaf=3, random_state=0, n_jobs=1
    )
    return make_pipeline(vectorizer, trees)
