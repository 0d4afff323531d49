"""Whether a third party's memory server keeps what it is given: written, stopped, copied, started, read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, cast

from mcp.types import Tool

from atr_memory.layer import FinishedSession, Kept, MemoryFault, MemoryLayer, Offer
from atr_memory.store import Entry, MemoryStore, StoreError

MARKER = "{marker}"


@dataclass(frozen=True, slots=True)
class Probe:
    """A write and a read, each a tool with its arguments. The marker in them stands for a word that must come
    back."""

    write: tuple[str, Mapping[str, Any]]
    read: tuple[str, Mapping[str, Any]]


_ENTITY = {"name": MARKER, "entityType": "probe", "observations": [f"The word is {MARKER}."]}
KNOWN_PROBES: Sequence[Probe] = (
    Probe(("create_entities", {"entities": [_ENTITY]}), ("search_nodes", {"query": MARKER})),
    Probe(("remember", {"text": f"The word is {MARKER}."}), ("recall", {"query": MARKER})),
)
"""For servers whose tools have these names; others are probed by what their configuration says."""


async def round_trip(layer: MemoryLayer, probe: Probe | None) -> str | None:
    """What is wrong with a server, in one line; None when it gives back what it was given."""
    marker = f"atr{token_hex(4)}"
    finished = FinishedSession("probe", ())
    try:
        with MemoryStore() as store:
            nothing = Kept((), store)
            async with layer.open(nothing) as offer:
                assert offer is not None
                chosen = probe or _known(offer.tools)
                if chosen is None:
                    return "no probe is known for its tools; its configuration can name one (probe)"
                await _called(offer, chosen.write, marker)
                await offer.close()
                left = await layer.learn(nothing, finished, offer)
            entries = [Entry("session", left.text, finished.session_id)] if left.text else []
            async with layer.open(Kept(entries, store)) as offer:
                assert offer is not None
                said = await _called(offer, chosen.read, marker)
    except (MemoryFault, StoreError) as error:
        return str(error)
    if marker not in said:
        return f"what was written is not there after a restart: {chosen.read[0]} answered {said[:200]!r}"
    return None


async def _called(offer: Offer, call: tuple[str, Mapping[str, Any]], marker: str) -> str:
    name, arguments = call
    filled = cast(dict[str, Any], json.loads(json.dumps(dict(arguments)).replace(MARKER, marker)))
    answer = await offer.call(name, filled)
    if answer.is_error:
        raise MemoryFault(f"{name} was refused: {answer.text[:200]}")
    return answer.text


def _known(tools: Sequence[Tool]) -> Probe | None:
    names = {tool.name for tool in tools}
    return next((probe for probe in KNOWN_PROBES if {probe.write[0], probe.read[0]} <= names), None)
