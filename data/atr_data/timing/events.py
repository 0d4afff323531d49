"""A work stream: what one person did on a computer, event by event, as an agent may see it.

Nothing here is gold. What an event meant, and whether help was wanted, stands in `atr_data.timing.gold`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

SCHEMA_VERSION = "timing-2"

AppCategory = Literal[
    "browser", "ide", "terminal", "office", "reader", "files", "mail", "chat", "meeting", "other"
]
UserId = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,32}$")]
Identifier = Annotated[str, Field(min_length=1, max_length=200)]


class TimingRecord(BaseModel):
    """A record of a timing file. Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WorkEvent(TimingRecord):
    """One stretch in one application window. `t_release` is the moment at which an agent may see it."""

    event_id: Identifier
    user_id: UserId
    t_start: AwareDatetime
    t_end: AwareDatetime
    t_release: AwareDatetime
    app: Annotated[str, Field(max_length=200)]
    window_title: Annotated[str, Field(max_length=500)]
    app_category: AppCategory
    summary: Annotated[str, Field(max_length=200)] | None = None
    screen_text: Annotated[str, Field(max_length=500)] | None = None
    screenshots: tuple[str, ...] = ()
    self_help: bool = False
    target: Identifier | None = None

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> WorkEvent:
        if self.t_end < self.t_start:
            raise ValueError("t_end lies before t_start")
        return self


class Sitting(TimingRecord):
    """A stretch of evaluation that is played at one go: the events between two of the stream, both included.

    `t_end` is the moment up to which needs count; it may lie after the last event. Decisions are asked for
    from `decide_from` on, what lies before it is shown; None: from the first event.
    """

    sitting_id: Identifier
    first_event: Identifier
    last_event: Identifier
    t_end: AwareDatetime
    decide_from: Identifier | None = None


class SourceNote(TimingRecord):
    """Where a stream comes from. `parameters` are those of the generator, or of the import."""

    kind: Literal["generated", "imported"]
    split: Literal["lite", "standard", "snapshot", "private", "imported"] = "standard"
    seed: int | None = None
    parameters: dict[str, str | int | float | bool | None] = Field(
        default_factory=dict[str, str | int | float | bool | None]
    )


class MeasuredBurstiness(TimingRecord):
    """Of one user's whole stream; null where there are too few events. `self_help` is the B of the paper,
    `self_help_finite` its form for finite samples, `all_events` B over every event."""

    self_help: float | None = None
    self_help_finite: float | None = None
    all_events: float | None = None
    self_help_events: int = 0


class StreamHeader(TimingRecord):
    """The first line of a stream file. `sha256` is that of the event lines that follow."""

    schema_version: Literal["timing-2"] = SCHEMA_VERSION
    user_id: UserId
    role: str
    first_evaluation_day: AwareDatetime
    source: SourceNote
    burstiness: MeasuredBurstiness
    sittings: tuple[Sitting, ...] = ()
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Stream(TimingRecord):
    """One user's header and events, the events sorted by `(t_release, event_id)`."""

    header: StreamHeader
    events: tuple[WorkEvent, ...]

    def sitting_events(self) -> dict[str, tuple[WorkEvent, ...]]:
        """Each sitting's events in their order, by its id. Raises KeyError when one names no known event."""
        positions = {event.event_id: index for index, event in enumerate(self.events)}
        return {
            sitting.sitting_id: self.events[
                positions[sitting.first_event] : positions[sitting.last_event] + 1
            ]
            for sitting in self.header.sittings
        }

    def events_of(self, sitting: Sitting) -> tuple[WorkEvent, ...]:
        """The events of one sitting in their order."""
        return self.sitting_events()[sitting.sitting_id]

    def sitting(self, sitting_id: str) -> Sitting:
        """Raises KeyError when there is none of that id."""
        for sitting in self.header.sittings:
            if sitting.sitting_id == sitting_id:
                return sitting
        raise KeyError(sitting_id)
