"""The configuration of a sweep: what may stand in it, checked key by key."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from atr_client.errors import ConfigError
from atr_client.models.catalogue import Catalogue, Reasoning, on_off
from atr_client.outputs.stores import place_of
from atr_client.session.transport_names import TransportName
from atr_client.sweep.memory_config import ContextMemory, MemoryLayers
from atr_client.sweep.model_choice import ModelChoice, ModelName
from atr_data.reading import path_problem
from atr_data.variants import VARIANTS
from atr_user_sim.offline import TextComparison, default_comparison

__all__ = [
    "PAPER_ROLES",
    "CellPattern",
    "EpisodeConfig",
    "LimitConfig",
    "ModelChoice",
    "Role",
    "RunConfig",
    "UserSimConfig",
    "suggestion",
]


def _variant(name: str) -> str:
    if name == "oracle":
        raise ValueError("'oracle' is not a variant; the reported oracle is oracle_target")
    if name not in VARIANTS:
        raise ValueError(f"unknown variant {name!r}{suggestion(name, VARIANTS)}")
    return name


def _place(path: Path) -> Path:
    if problem := path_problem(path):
        raise ValueError(problem)
    return path


def _outputs(place: str) -> str:
    if problem := path_problem(place):
        raise ValueError(problem)
    try:
        place_of(place)
    except ConfigError as error:
        raise ValueError(str(error)) from None
    return place


def _listed(value: Any) -> Any:
    return cast(Any, value) if isinstance(value, list) else [value]


Place = Annotated[Path, AfterValidator(_place)]
VariantName = Annotated[str, AfterValidator(_variant), WithJsonSchema({"enum": list(VARIANTS)})]
Patterns = Annotated[
    list[str], Field(min_length=1), BeforeValidator(_listed, json_schema_input_type=str | list[str])
]
Numbers = Annotated[list[int], BeforeValidator(_listed, json_schema_input_type=int | list[int])]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class EpisodeConfig(_Section):
    """`select` holds selectors: `all`, a persona id, a glob, `split:NAME` or a path. `folder` is searched for
    them; the episodes that ship with the package by default. `needs_folder` demands that somebody names one.
    `shuffle_references` is a seed that reorders the objects of every session; left out, they stay as on file.
    """

    select: list[str] = Field(default=["all"], min_length=1)
    folder: Place | None = None
    needs_folder: bool = False
    shuffle_references: int | None = Field(default=None, strict=True)


Role = Literal["router", "classifier", "simulator"]

PAPER_ROLES: Mapping[Role, str] = {
    "router": "gemini-3-flash-preview",
    "classifier": "gpt-5.4",
    "simulator": "gpt-5.4",
}
"""The models that played the user in the published results."""


class UserSimConfig(_Section):
    """Who plays the user. Offline: deterministic programs, and `classifier` chooses how texts are compared:
    `minilm`, the default where the extra `encoder` is installed, or `lexical`.
    Model: each role is a model id, by default the one of the published results."""

    make: Literal["offline", "model"] = "offline"
    router: str | None = None
    classifier: str | None = None
    simulator: str | None = None

    @model_validator(mode="after")
    def _roles_fit_the_make(self) -> UserSimConfig:
        if self.make == "offline":
            if self.router is not None or self.simulator is not None:
                raise ValueError("router and simulator name models; they need make: model")
            if self.comparison not in get_args(TextComparison):
                known = ", ".join(get_args(TextComparison))
                raise ValueError(
                    f"classifier: {self.classifier!r} is none of {known}; a model needs make: model"
                )
        return self

    @property
    def comparison(self) -> TextComparison:
        """How the offline Classifier compares texts."""
        return cast(TextComparison, self.classifier or default_comparison())

    @property
    def role_models(self) -> dict[Role, str]:
        """The model of each role; nothing for the offline make."""
        if self.make == "offline":
            return {}
        return {
            "router": self.router or PAPER_ROLES["router"],
            "classifier": self.classifier or PAPER_ROLES["classifier"],
            "simulator": self.simulator or PAPER_ROLES["simulator"],
        }


class LimitConfig(_Section):
    """`timeout` in seconds per session, `call_timeout` per model call; `cost_usd` in US dollars for the whole
    sweep, sessions of earlier runs included; the others are counts. `cells`, `test_sessions` (per cell) and
    `calls_per_model` say how many may be under way at once, `call_attempts` how often a call is tried in all.
    The ceilings per minute hold for each model that has none of its own."""

    max_steps: int = Field(default=20, ge=0)
    timeout: float | None = Field(default=None, gt=0)
    cells: int = Field(default=2, ge=1)
    test_sessions: int = Field(default=4, ge=1)
    calls_per_model: int = Field(default=30, ge=1)
    call_timeout: float = Field(default=360.0, gt=0)
    call_attempts: int = Field(default=10, ge=1)
    requests_per_minute: int | None = Field(default=None, gt=0)
    tokens_per_minute: int | None = Field(default=None, gt=0)
    cost_usd: float | None = Field(default=None, ge=0)


class CellPattern(_Section):
    """Cells by what they are. Each key holds a glob or a list of them (`trial`: numbers); a cell matches when
    every key that is there does."""

    persona: Patterns | None = None
    episode: Patterns | None = None
    variant: Patterns | None = None
    model: Patterns | None = None
    layer: Patterns | None = None
    trial: Numbers | None = None

    @model_validator(mode="after")
    def _says_something(self) -> CellPattern:
        if not self.model_fields_set:
            raise ValueError(f"names nothing; give some of {', '.join(CellPattern.model_fields)}")
        return self


class RunConfig(_Section):
    """A sweep is every episode with every variant, every model and every memory layer, `trials` times;
    `include` keeps the cells that match one of its patterns, `exclude` drops those that match one.
    `reasoning` is the agents' reasoning switch, `registry` adds to the models that ship with the package.
    `processes` play the cells, `auto` as many as there are cores (on Linux; elsewhere one). `executor: dask`
    hands them to the Dask cluster whose scheduler is at the address `cluster`. `transport` is how agents
    reach the domain servers. `outputs` is a folder or the address of a store, such as s3://bucket/sweep.
    `smoke` marks a trial run: its cells get folders of their own and stay out of tables."""

    name: str
    track: Literal["episodes"] = "episodes"
    episodes: EpisodeConfig = EpisodeConfig()
    variants: list[VariantName] = Field(min_length=1)
    models: list[ModelName] = Field(min_length=1)
    reasoning: Annotated[
        Reasoning | None, BeforeValidator(on_off, json_schema_input_type=Reasoning | bool | None)
    ] = "on"
    registry: Catalogue = Catalogue()
    user_sim: UserSimConfig = UserSimConfig()
    limits: LimitConfig = LimitConfig()
    hook: bool = False
    memory: MemoryLayers = Field(
        default=[ContextMemory()], validation_alias=AliasChoices("memory", "memory_layer")
    )
    trials: int = Field(default=1, ge=1)
    include: list[CellPattern] = []
    exclude: list[CellPattern] = []
    processes: Annotated[int, Field(ge=1)] | Literal["auto"] = 1
    executor: Literal["local", "dask"] = "local"
    cluster: str | None = Field(default=None, min_length=1)
    transport: TransportName = "in-process"
    outputs: Annotated[str, AfterValidator(_outputs)] = Field(
        default="outputs", validation_alias=AliasChoices("outputs", "output")
    )
    traces: bool = True
    compatible: bool = False
    smoke: bool = False

    @model_validator(mode="after")
    def _the_executor_has_its_cluster(self) -> RunConfig:
        if self.executor == "dask" and self.cluster is None:
            raise ValueError("executor: dask needs cluster, the scheduler's address, such as tcp://host:8786")
        if self.executor != "dask" and self.cluster is not None:
            raise ValueError("cluster is for executor: dask")
        return self


def suggestion(word: str, known: Collection[str]) -> str:
    """`; did you mean ...?` when something is near, else `; one of: ...`."""
    if near := difflib.get_close_matches(word, known, n=1):
        return f"; did you mean {near[0]!r}?"
    return f"; one of: {', '.join(known)}"
