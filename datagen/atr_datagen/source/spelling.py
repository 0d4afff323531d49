"""Misspelt keys: each is told by its own name, and the block is read on as if it were spelt right."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, cast

from pydantic import BaseModel

from atr_datagen.source.document import Path, nearest
from atr_datagen.source.grammar import (
    AboutBlock,
    EvidenceBlock,
    FaceBlock,
    HandsBlock,
    LearningBlock,
    PoolBlock,
    RuleBlock,
    TestBlock,
    keys_of,
)
from atr_ontology import load_ontology

_BELOW: dict[type[BaseModel], dict[str, type[BaseModel]]] = {
    RuleBlock: {
        "test": TestBlock,
        "faces": FaceBlock,
        "asked": HandsBlock,
        "not_asked": HandsBlock,
        "about": AboutBlock,
    },
    FaceBlock: {"evidence": EvidenceBlock},
    TestBlock: {"also": PoolBlock},
    LearningBlock: {"also": PoolBlock},
}


def respelt(model: type[BaseModel], raw: Any, path: Path, tell: Callable[[Path, str], None]) -> Any:
    """The raw block with unknown keys told, and taken for what they are near to or left out."""
    if not isinstance(raw, dict):
        return raw
    block = cast(dict[str, Any], raw)
    known = keys_of(model)
    result: dict[str, Any] = {}
    for key, value in block.items():
        name = key
        if key not in known and not _is_type(model, key):
            meant = _meant(key, [k for k in known if k not in block])
            if meant is None and issubclass(model, PoolBlock):
                result[key] = value  # A reference type that does not exist; told with those that do.
                continue
            tell((*path, key), f"is no key here; {_hint(model, key, meant, known)}")
            if meant is None:
                continue
            name = meant
        below = _BELOW.get(model, {}).get(name)
        result[name] = value if below is None else _each(below, value, (*path, name), tell)
    return result


def _each(model: type[BaseModel], value: Any, path: Path, tell: Callable[[Path, str], None]) -> Any:
    if isinstance(value, list):
        listed = cast(list[Any], value)
        return [respelt(model, item, (*path, index), tell) for index, item in enumerate(listed)]
    return respelt(model, value, path, tell)


def _is_type(model: type[BaseModel], key: str) -> bool:
    domains = load_ontology().domains.values()
    return issubclass(model, PoolBlock) and any(key in domain.objects for domain in domains)


def _meant(key: str, free: list[str]) -> str | None:
    return next(iter(difflib.get_close_matches(key, free, n=1, cutoff=0.6)), None)


def _hint(model: type[BaseModel], key: str, meant: str | None, known: list[str]) -> str:
    if meant is None and model is RuleBlock and key in keys_of(FaceBlock):
        return "it stands in each of the faces"
    return f"did you mean {meant!r}?" if meant else nearest(key, known)
