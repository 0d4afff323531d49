"""The configuration of a run of the timing track."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from atr_client.errors import ConfigError
from atr_client.models.catalogue import Catalogue, Reasoning, on_off
from atr_client.session.layers import named_layer
from atr_client.sweep.config import LimitConfig, Place
from atr_client.sweep.config_file import read_config
from atr_client.sweep.model_choice import ModelName
from atr_evaluator.timing import TimingRules
from atr_servers.timing.sitting import MemoryMode, Observation
from atr_servers.timing.tools import DEFAULT_WINDOW, WINDOWS


def _window(seconds: int) -> int:
    if seconds not in WINDOWS:
        raise ValueError(f"{seconds} is none of {', '.join(map(str, WINDOWS))}")
    return seconds


NOTE_LAYERS = ("context", "none", "notes", "retrieval")
"""Memory layers that keep what an agent notes. `rules` keeps what a user says, and here nobody speaks."""


def _layer(name: str) -> str:
    try:
        named_layer(name)
    except ConfigError as error:
        raise ValueError(str(error)) from None
    if name not in NOTE_LAYERS:
        raise ValueError(
            f"the memory layer {name!r} keeps no notes of an agent; one of: {', '.join(NOTE_LAYERS)}"
        )
    return name


def _several(value: Any) -> Any:
    """One value may stand alone."""
    return cast(Any, value) if isinstance(value, list) else [value]


_Mode = MemoryMode | bool


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SetConfig(_Section):
    """Which users are played. `folder` holds a set that was written before; without it one is generated,
    below the outputs folder, from the other keys, which are those of `timing generate`. `salt_env` names the
    environment variable with the salt of the habits. `users` are ids or globs."""

    folder: Place | None = None
    split: Literal["lite", "standard", "snapshot", "private"] = "lite"
    seed: int = 0
    process: Literal["calendar", "regular"] = "calendar"
    burstiness: float = Field(default=0.787, gt=-1, lt=1)
    salt_env: str | None = None
    lexicon: Place | None = None
    users: list[str] = Field(default=["*"], min_length=1)

    @model_validator(mode="after")
    def _one_source(self) -> SetConfig:
        generated = self.model_fields_set - {"folder", "users"}
        if self.folder is not None and generated:
            raise ValueError(
                f"folder names a set that is there; {', '.join(sorted(generated))} would make one"
            )
        return self

    def chooses(self, user_id: str) -> bool:
        return any(fnmatchcase(user_id, pattern) for pattern in self.users)


class TimingConfig(_Section):
    """A run is every user with every model, memory mode and history window. `turn_budget` is how many replies
    an agent has for one decision; `limits` are those of the episodes' runs, per sitting."""

    name: str
    track: Literal["timing"]
    set: SetConfig = SetConfig()
    models: list[ModelName] = Field(min_length=1)
    memory: Annotated[
        list[Annotated[MemoryMode, BeforeValidator(on_off)]],
        BeforeValidator(_several, json_schema_input_type=_Mode | list[_Mode]),
        Field(min_length=1),
    ] = ["off"]
    history_window_s: Annotated[
        list[Annotated[int, AfterValidator(_window)]],
        BeforeValidator(_several, json_schema_input_type=int | list[int]),
        Field(min_length=1),
    ] = [DEFAULT_WINDOW]
    observation: Observation = "text"
    turn_budget: int = Field(default=8, ge=1)
    false_alarm_cost: float = Field(default=0.5, ge=0)
    memory_layer: Annotated[str, AfterValidator(_layer)] = "context"
    reasoning: Annotated[
        Reasoning | None, BeforeValidator(on_off, json_schema_input_type=Reasoning | bool | None)
    ] = "on"
    registry: Catalogue = Catalogue()
    limits: LimitConfig = LimitConfig()
    outputs: Place = Path("outputs")
    smoke: bool = False

    @model_validator(mode="before")
    @classmethod
    def _of_this_track(cls, values: Any) -> Any:
        given = cast("dict[str, Any]", values) if isinstance(values, dict) else {}
        for key in ("processes", "executor", "cluster"):
            if key in given:
                raise ValueError(
                    f"{key} is for episodes; this track plays limits.cells at once in one process"
                )
        return cast(Any, values)

    @model_validator(mode="after")
    def _one_budget(self) -> TimingConfig:
        if "max_steps" in self.limits.model_fields_set:
            raise ValueError("limits.max_steps is for episodes; turn_budget limits the replies per decision")
        return self

    @property
    def rules(self) -> TimingRules:
        return TimingRules(false_alarm_cost=self.false_alarm_cost)


def load_timing_config(name: str | os.PathLike[str], changes: Sequence[str] = ()) -> TimingConfig:
    """By path, or by the name of one that ships with the package; `changes` as for `load_config`. Raises
    ConfigError in one line."""
    return read_config(TimingConfig, name, changes)


def timing_schema() -> dict[str, Any]:
    """The JSON Schema of such a configuration."""
    return TimingConfig.model_json_schema()
