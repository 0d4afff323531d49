"""Which offline user it is, and how good: as measured when its weights were made, on questions of personas
and writers that the weights judging them had not seen."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from atr_user_sim.lines import RuleLines
from atr_user_sim.offline.classifier import TextComparison
from atr_user_sim.offline.head import WEIGHTS, head_name, weights
from atr_user_sim.offline.minilm import TUNING


def offline_user_record(comparison: TextComparison, lines: Mapping[str, RuleLines]) -> dict[str, Any]:
    """Which offline user it is, for a manifest: how texts are compared, whether the user has lines and which,
    the digest of the weights, and the accuracy of the Classifier."""
    name = head_name(encoder=comparison != "lexical", lines=bool(lines))
    used = [f"{name}.json", "router.json"]
    if comparison != "lexical":
        used += ["projection.json", TUNING]
    said = "".join(f"{rule}{lines[rule].model_dump_json()}" for rule in sorted(lines))
    return {
        "make": "offline",
        "classifier": comparison,
        "lines": hashlib.sha256(said.encode()).hexdigest()[:12] if lines else None,
        "weights": _digest(*((WEIGHTS / one).read_bytes() for one in used)),
        "classifier_accuracy": accuracy(comparison, with_lines=bool(lines)),
    }


def accuracy(comparison: TextComparison, *, with_lines: bool) -> float:
    """Of the Classifier, on a set of which half of the questions are answerable."""
    name = head_name(encoder=comparison != "lexical", lines=with_lines)
    return weights(WEIGHTS, "figures")[name]["accuracy"]


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:12]
