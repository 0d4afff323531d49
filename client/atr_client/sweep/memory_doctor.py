"""Whether the memories that others made keep what they are given, found out before a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from atr_client.errors import ConfigError
from atr_client.sweep.memory_config import ExternalMemory, MemoryChoice
from atr_client.sweep.memory_layers import layer_of
from atr_memory import MemoryFault, MemoryLayer, StoreError
from atr_memory.layers.external_probe import Probe, round_trip

OURS = ("none", "context", "notes", "rules", "rewrite", "home")
"""Kinds of which there is nothing to find out."""


@dataclass(frozen=True, slots=True)
class MemoryDiagnosis:
    """`problem` None when the memory is ready; `answer` is what it said of itself."""

    name: str
    answer: str = ""
    problem: str | None = None

    def render(self) -> str:
        state = "not ready" if self.problem else "ready"
        return f"{state:<9}  memory {self.name}  {'; '.join(filter(None, (self.answer, self.problem)))}"


async def examine_memories(choices: Sequence[MemoryChoice]) -> list[MemoryDiagnosis]:
    """Each is made; a third party's server is started, written to, stopped, started on a copy of its files
    and read."""
    return [await _examined(choice) for choice in choices if choice.kind not in OURS]


async def _examined(choice: MemoryChoice) -> MemoryDiagnosis:
    name = choice.layer_name
    try:
        layer = layer_of(choice, None)
        if not isinstance(choice, ExternalMemory):
            return MemoryDiagnosis(name, "can be made")
        said = await _introduced(layer)
    except (ConfigError, MemoryFault, StoreError) as error:
        return MemoryDiagnosis(name, problem=str(error))
    if layer.settings["control"] != "copied":
        return MemoryDiagnosis(name, f"{said}; not written to: it is {layer.settings['control']}")
    probe = None
    if choice.probe:
        write, read = choice.probe.write, choice.probe.read
        probe = Probe((write.tool, write.arguments), (read.tool, read.arguments))
    problem = await round_trip(layer, probe)
    return MemoryDiagnosis(name, said if problem else f"{said}; kept what was written", problem)


async def _introduced(layer: MemoryLayer) -> str:
    told = await layer.identify()
    return f"{told['server']} {told['version']}, MCP {told['protocol']}, {told['tools']} tools"
