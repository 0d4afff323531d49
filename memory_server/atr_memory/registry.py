"""The kinds of memory layers.

A layer's module is imported when one of its kind is made: most stand on an MCP server, which scoring does
without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from atr_memory.layer import MemoryLayer
from atr_memory.layers.whole_text import CONTEXT, NONE

if TYPE_CHECKING:
    from atr_memory.text_search import Ranking
    from atr_memory.writer import Writer


@dataclass(frozen=True, slots=True)
class LayerHelp:
    """What layers need that is not theirs. `by_meaning` ranks texts by a sentence encoder, `writer` is the
    model that writes for a memory."""

    by_meaning: Ranking | None = None
    writer: Writer | None = None


LayerMaker = Callable[[str, Mapping[str, Any], LayerHelp], MemoryLayer]
"""From a name, the settings of a layer (see `MemoryLayer.settings`) and some help to the layer."""


def _notes(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    from atr_memory.layers.notes import Notes

    return Notes()


def _retrieval(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    from atr_memory.layers.retrieval import Retrieval
    from atr_memory.text_search import ranked

    told = {key: settings[key] for key in ("by", "read", "top", "chunk") if key in settings}
    ranking = given.by_meaning if told.get("by") == "encoder" else ranked
    if ranking is None:
        raise ValueError("a sentence encoder is needed: install atrbench[encoder]")
    return Retrieval(name=name, ranking=ranking, **told)


def _rules(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    from atr_memory.layers.rules import ModelRules, Rules

    extractor = settings.get("extractor", "offline")
    return Rules() if extractor == "offline" else ModelRules(_writer(given), extractor, name=name)


def _rewrite(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    from atr_memory.layers.rewrite import Rewrite

    return Rewrite(_writer(given), name=name, characters=settings.get("characters", 4000))


def _class(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    from atr_memory.layers.python_class import ClassMemory

    return ClassMemory(settings["path"], settings.get("options"), name=name)


def _external(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    from atr_memory.layers.external import FOLDER, External, ServerSpec

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


def _home(name: str, settings: Mapping[str, Any], given: LayerHelp) -> MemoryLayer:
    from atr_memory.layers.home import Home

    return Home()


def _writer(given: LayerHelp) -> Writer:
    if given.writer is None:
        raise ValueError("a model is needed that writes for the memory")
    return given.writer


LAYER_KINDS: Mapping[str, LayerMaker] = {
    "none": lambda name, settings, given: NONE,
    "context": lambda name, settings, given: CONTEXT,
    "notes": _notes,
    "retrieval": _retrieval,
    "rules": _rules,
    "rewrite": _rewrite,
    "class": _class,
    "home": _home,
    "external": _external,
}

NAMED_LAYERS = ("none", "context", "notes", "retrieval", "rules")
"""Kinds that need no settings."""
