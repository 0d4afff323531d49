"""The kinds of memory layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from atr_memory.layer import MemoryLayer
from atr_memory.layers.external import FOLDER, External, ServerSpec
from atr_memory.layers.home import Home
from atr_memory.layers.notes import Notes
from atr_memory.layers.python_class import ClassMemory
from atr_memory.layers.retrieval import Ranking, Retrieval
from atr_memory.layers.rewrite import Rewrite
from atr_memory.layers.rules import ModelRules, Rules
from atr_memory.layers.whole_text import CONTEXT, NONE
from atr_memory.text_search import ranked
from atr_memory.writer import Writer


@dataclass(frozen=True, slots=True)
class LayerHelp:
    """What layers need that is not theirs. `by_meaning` ranks texts by a sentence encoder, `writer` is the
    model that writes for a memory."""

    by_meaning: Ranking | None = None
    writer: Writer | None = None


LayerMaker = Callable[[str, Mapping[str, Any], LayerHelp], MemoryLayer]
"""From a name, the settings of a layer (see `MemoryLayer.settings`) and some help to the layer."""


def _retrieval(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    told = {key: settings[key] for key in ("by", "read", "top", "chunk") if key in settings}
    ranking = given.by_meaning if told.get("by") == "encoder" else ranked
    if ranking is None:
        raise ValueError("a sentence encoder is needed: install atrbench[encoder]")
    return Retrieval(name=name, ranking=ranking, **told)


def _rules(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    extractor = settings.get("extractor", "offline")
    return Rules() if extractor == "offline" else ModelRules(_writer(given), extractor, name=name)


def _rewrite(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    return Rewrite(_writer(given), name=name, characters=settings.get("characters", 4000))


def _class(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    return ClassMemory(settings["path"], settings.get("options"), name=name)


def _external(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    freeze = settings.get("freeze", "none")
    copies = tool = opens = None
    argument = "snapshot"
    if isinstance(freeze, Mapping):
        told = cast(Mapping[str, Any], freeze)
        if "copy" in told:
            copies = [str(path).removeprefix(FOLDER).strip("/") for path in told["copy"]]
        else:
            tool, opens, argument = told["tool"], told["open"], told.get("argument", argument)
    spec = ServerSpec(
        command=settings.get("command") or (),
        url=settings.get("url"),
        env=settings.get("env") or {},
        copies=copies,
        freeze_tool=tool,
        open_tool=opens,
        argument=argument,
        patience=settings.get("timeout", 30.0),
    )
    return External(spec, settings, name=name)


def _writer(given: LayerHelp) -> Writer:
    if given.writer is None:
        raise ValueError("a model is needed that writes for the memory")
    return given.writer


LAYER_KINDS: Mapping[str, LayerMaker] = {
    "none": lambda name, settings, given: NONE,
    "context": lambda name, settings, given: CONTEXT,
    "notes": lambda name, settings, given: Notes(),
    "retrieval": _retrieval,
    "rules": _rules,
    "rewrite": _rewrite,
    "class": _class,
    "home": lambda name, settings, given: Home(),
    "external": _external,
}

NAMED_LAYERS = ("none", "context", "notes", "retrieval", "rules")
"""Kinds that need no settings."""
