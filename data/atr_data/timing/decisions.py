"""What an agent decided in one sitting, as the server logs it and the scorer reads it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from atr_data.timing.events import Identifier, TimingRecord, UserId
from atr_data.timing.intents import Intent

Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Assist(TimingRecord):
    """An offer of help. `intent` null stands for an offer that names none."""

    intent: Intent | None = None
    target: Annotated[str, Field(max_length=200)] | None = None
    slots: dict[str, str] = Field(default_factory=dict[str, str])
    query: Annotated[str, Field(max_length=500)] | None = None


class Decision(TimingRecord):
    """What was decided on one event; `assist` null is silence. `implicit` silence was not the agent's word:
    it wrote text instead of a call, or the sitting was cut short."""

    event_id: Identifier
    assist: Assist | None = None
    confidence: Confidence | None = None
    implicit: bool = False


SittingStatus = Literal["finished", "aborted", "running"]


class SittingLog(TimingRecord):
    """The decisions of one sitting, in order. An incomplete one is scored all the same, as silence."""

    user_id: UserId
    sitting_id: Identifier
    stream_sha256: str
    decisions: tuple[Decision, ...] = ()
    status: SittingStatus = "finished"
    protocol_errors: dict[str, int] = Field(default_factory=dict[str, int])
