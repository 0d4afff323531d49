"""A model of ours in the place of one that writes for a memory."""

from __future__ import annotations

from dataclasses import dataclass

from atr_client.errors import ModelError
from atr_client.models.base import AgentModel
from atr_data.trajectory import Message
from atr_memory import MemoryFault
from atr_memory.writer import Written


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """The model is asked once, without tools; what it answers in words counts."""

    model: AgentModel

    async def write(self, instructions: str, material: str) -> Written:
        messages = [
            Message(role="system", content=instructions),
            Message(role="user", content=material, turn_idx=1),
        ]
        try:
            reply = await self.model.respond(messages, [])
        except ModelError as error:
            raise MemoryFault(f"the model that writes for the memory: {error}") from error
        text = (reply.content or "").encode("utf-8", "replace").decode("utf-8")
        return Written(text, reply.usage)
