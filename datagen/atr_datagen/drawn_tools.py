"""The tools that the data set was drawn with.

One that joined the ontology later is in none of its sessions, so that adding a tool leaves episodes, plan and
measures as they are. To draw with it, raise ONTOLOGY_VERSION and compile the sources anew.
"""

from __future__ import annotations

from atr_ontology import Tool, load_ontology

ONTOLOGY_VERSION = 1


def drawn_tools(domain: str) -> tuple[Tool, ...]:
    """The domain's own tools, in their order."""
    return tuple(tool for tool in load_ontology().domain(domain).tools if tool.since <= ONTOLOGY_VERSION)
