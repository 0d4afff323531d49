"""What is hidden from the agent: scenes, needs and habits. Kept in a file of its own beside the stream."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from atr_data.timing.events import SCHEMA_VERSION, Identifier, TimingRecord, UserId
from atr_data.timing.intents import Intent

Aliases = tuple[str, ...]
"""Ways to name one fact; any of them will do."""


class Need(TimingRecord):
    """A moment at which the user turned to an assistant unaided, and what would have been the right help.

    `t_cue` is null when nothing announced the need. Parts without gold are null or empty and are not scored.
    """

    need_id: Identifier
    user_id: UserId
    t_cue: AwareDatetime | None = None
    t_onset: AwareDatetime
    intent: Intent | None = None
    target: str | None = None
    slots: dict[str, str] = Field(default_factory=dict[str, str])
    query: str | None = None
    facts: tuple[Aliases, ...] = ()
    foils: tuple[Aliases, ...] = ()
    scene_id: Identifier | None = None
    habit: Identifier | None = None


class Scene(TimingRecord):
    """A few events that together tell of something the user may want help with, or not.

    `t_onset` is the moment at which help would be sought; every scene has one. `helps` are the facts that a
    good query names, `foils` those that it must not.
    """

    scene_id: Identifier
    user_id: UserId
    kind: str
    attributes: dict[str, str]
    event_ids: tuple[Identifier, ...]
    t_first: AwareDatetime
    t_cue: AwareDatetime
    t_onset: AwareDatetime
    day: Annotated[int, Field(ge=1)]
    target: str
    slots: dict[str, str] = Field(default_factory=dict[str, str])
    helps: tuple[Aliases, ...] = ()
    foils: tuple[Aliases, ...] = ()
    need_id: Identifier | None = None


class Habit(TimingRecord):
    """A user wants help with scenes of a kind in which `attribute` has `value`, from one day to another."""

    habit_id: Identifier
    user_id: UserId
    kind: str
    attribute: str
    value: str
    intent: Intent
    first_day: int
    last_day: int
    propensity: Annotated[float, Field(ge=0, le=1)]


class GoldHeader(TimingRecord):
    """The first line of a gold file. A public salt is printed; of a private one only the digest."""

    schema_version: Literal["timing-2"] = SCHEMA_VERSION
    user_id: UserId
    stream_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    salt: str | None = None
    salt_digest: str | None = None


class Gold(TimingRecord):
    """One user's gold. Needs and scenes are sorted by onset."""

    header: GoldHeader
    habits: tuple[Habit, ...] = ()
    scenes: tuple[Scene, ...] = ()
    needs: tuple[Need, ...] = ()
