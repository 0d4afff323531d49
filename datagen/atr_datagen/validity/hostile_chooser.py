"""S8: a chooser that learns from the other personas' golds what a gold looks like. Needs scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
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
        models = {kind: self._fitted([p for p in peers if _kind(p) == kind]) for kind in _KINDS}

        def rank(choice: Choice) -> Preference:
            model = models.get(_kind(choice))
            if model is None or not choice.options:
                return [0.0] * len(choice.options)
            return [float(row[1]) for row in model.predict_proba([dict(f) for f in self._seen(choice)])]

        return rank

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
