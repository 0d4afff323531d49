"""Under which name the servers of a cell's models answer: noted once, and held to from then on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from atr_client.errors import ManifestMismatch
from atr_client.models.base import ModelReply
from atr_client.models.recording import Call, CallSite, Exchanges, Live
from atr_client.models.wire import WireRequest

Note = Callable[[str, str, bool], None]
"""Takes the role, the name, and whether it is another one than was known."""


@dataclass(slots=True)
class _Cell:
    known: dict[str, str]
    tolerant: bool
    note: Note


@dataclass(slots=True)
class ServedModels:
    """Stands between the callers and the models. A cell whose model answers under another name than before
    holds the replies of two models."""

    exchanges: Exchanges = field(default_factory=Live)
    _cells: dict[str, _Cell] = field(default_factory=dict[str, _Cell])

    def expect(self, cell_id: str, known: Mapping[str, str], note: Note, *, tolerant: bool) -> None:
        """`known` are the names by role; `note` is told of every new one before the reply is used. `tolerant`
        goes on with another name in place of raising."""
        self._cells[cell_id] = _Cell(dict(known), tolerant, note)

    async def exchange(self, site: CallSite, model_id: str, request: WireRequest, call: Call) -> ModelReply:
        """Raises ManifestMismatch when the name is another one than before."""
        reply = await self.exchanges.exchange(site, model_id, request, call)
        cell, name = self._cells.get(site.scope), reply.served_model
        if cell is None or not name or cell.known.get(site.role) == name:
            return reply
        before = cell.known.get(site.role)
        if before is not None and not cell.tolerant:
            what = "served_model" if site.role == "agent" else f"served_roles.{site.role}"
            raise ManifestMismatch(
                f"the server of {model_id} answers as another model: {what} was {before!r}, is {name!r}. "
                "Start the cell over with --fresh, write to another --outputs folder, or go on with "
                "--allow-stale-resume",
                (what,),
            )
        cell.known[site.role] = name
        cell.note(site.role, name, before is not None)
        return reply
