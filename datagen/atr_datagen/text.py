"""Words of texts, for measuring what one text gives away of another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from atr_data.english.words import MEASURES
from atr_data.episode import Reference
from atr_ontology import names_object


def words(text: object) -> frozenset[str]:
    """The content words of a text as stems: no stop words, single letters or numbers."""
    return _words(str(text))


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> frozenset[str]:
    return frozenset(MEASURES.stems(re.sub("['’]", "", text)))


def flat(value: Any, key: str = "") -> str:
    """An attribute tree as text: the values alone, but true stands as its key and false as nothing."""
    if isinstance(value, bool):
        return key.replace("_", " ") if value else ""
    if isinstance(value, Mapping):
        fields = cast(Mapping[str, Any], value)
        return " ".join(flat(item, name) for name, item in fields.items())
    if isinstance(value, list):
        return " ".join(flat(item, key) for item in cast(list[Any], value))
    return "" if value is None else str(value).replace("_", " ")


def reference_words(reference: Reference) -> frozenset[str]:
    """The words of what an agent can read of an object, ids left out."""
    shown = {name: value for name, value in reference.attributes.items() if not names_object(name)}
    return words(flat(shown))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0
