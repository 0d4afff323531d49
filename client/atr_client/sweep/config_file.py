"""Configurations as files: found, read, changed by the command line, checked; and their JSON Schema."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from atr_client.errors import ConfigError
from atr_client.sweep.config import RunConfig, suggestion
from atr_client.sweep.memory_config import KINDS
from atr_data.errors import DataError
from atr_data.reading import path_problem
from atr_data.yaml_reading import read_yaml

Config = TypeVar("Config", bound=BaseModel)

MODEL_CATALOGUE = "models.yaml"
"""Stands among the run configurations, and is none."""

ENDPOINT_KEYS = ("base_url", "address", "cluster")
"""Keys in whose values `${NAME}` stands for a variable of the environment."""

_OF_PROGRAMS = ("command", "environment")
"""Keys whose values go to programs as they are."""

_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def load_config(
    name: str | os.PathLike[str],
    changes: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> RunConfig:
    """Reads a configuration by path, or by the name of one that ships with the package. `changes` are
    `key=value` with dots between the parts of a key and YAML as the value; they win over the file.

    Raises ConfigError in one line: which file, which key, and why.
    """
    if track_of(name) == "timing":
        raise ConfigError(f"{name}: track: timing does not go with this command")
    return read_config(RunConfig, name, changes, environment)


def track_of(name: str | os.PathLike[str]) -> str:
    """Which track a configuration is of: `timing` or `episodes`. Raises ConfigError."""
    return "timing" if _raw(name)[1].get("track") == "timing" else "episodes"


def read_config(
    kind: type[Config],
    name: str | os.PathLike[str],
    changes: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> Config:
    """A configuration of some track: see `load_config`."""
    path, raw = _raw(name)
    where = f"{path} with --set {' --set '.join(changes)}" if changes else str(path)
    try:
        for change in changes:
            _change(raw, change)
        return kind.model_validate(_with_variables(raw, environment))
    except ValidationError as error:
        raise ConfigError(f"{where}: {first_problem(error, kind)}") from error
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error


def _raw(name: str | os.PathLike[str]) -> tuple[Path, dict[str, Any]]:
    path = _find(os.fspath(name))
    try:
        raw = read_yaml(path)
    except DataError as error:
        raise ConfigError(str(error)) from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: expected keys and values at the top, found {type(raw).__name__}")
    return path, cast(dict[str, Any], raw)


def config_schema() -> dict[str, Any]:
    """The JSON Schema of a configuration file, for editors and checkers."""
    schema = RunConfig.model_json_schema()
    schema["properties"]["memory_layer"] = schema["properties"]["memory"]
    schema["properties"]["output"] = schema["properties"]["outputs"]
    title = "A run configuration of atrbench"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}


def packaged_configs() -> dict[str, Path]:
    """The run configurations that ship with the package, by name."""
    inside = Path(str(files("atr_client"))) / "configs"
    folder = inside if inside.is_dir() else Path(str(files("atr_client"))).parent.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml")) if path.name != MODEL_CATALOGUE}


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


def _change(raw: dict[str, Any], change: str) -> None:
    """Puts a value where its key says. Raises ValueError."""
    key, equals, text = change.partition("=")
    *way, last = key.split(".")
    if not equals or not all((*way, last)):
        raise ValueError(f"{change!r} is no key=value")
    try:
        value: Any = yaml.safe_load(text)  # pyright: ignore[reportUnknownMemberType]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{key}: {text!r} is not YAML") from error
    place: Any = raw
    for part in way:
        place = _inside(place, part, key, {})
    if isinstance(place, dict):
        place[last] = value
    else:
        _inside(place, last, key, None)
        place[int(last)] = value


def _inside(place: Any, part: str, key: str, missing: Any) -> Any:
    """What a part of a key leads to."""
    if isinstance(place, dict):
        section = cast(dict[str, Any], place)
        if section.get(part) is None:
            section[part] = missing
        return section[part]
    if isinstance(place, list):
        entries = cast(list[Any], place)
        if part.isdecimal() and int(part) < len(entries):
            return entries[int(part)]
        raise ValueError(f"{key}: {part!r} is no place in a list of {len(entries)}")
    raise ValueError(f"{key}: there is nothing inside a value to be named {part!r}")


def _with_variables(raw: Any, environment: Mapping[str, str]) -> Any:
    """The values with the variables in addresses put in. Raises ValueError."""

    def put_in(value: Any, way: tuple[str, ...]) -> Any:
        if isinstance(value, dict):
            return {k: put_in(v, (*way, str(k))) for k, v in cast(dict[Any, Any], value).items()}
        if isinstance(value, list):
            return [put_in(v, (*way, str(i))) for i, v in enumerate(cast(list[Any], value))]
        if not isinstance(value, str) or set(way) & set(_OF_PROGRAMS):
            return value
        return _VARIABLE.sub(lambda found: _variable(found, way, environment), value)

    return put_in(raw, ())


def _variable(found: re.Match[str], way: tuple[str, ...], environment: Mapping[str, str]) -> str:
    name, key = found[1], ".".join(way)
    if way[-1] not in ENDPOINT_KEYS:
        raise ValueError(f"{key}: {found[0]} is read in addresses only ({', '.join(ENDPOINT_KEYS)})")
    if not environment.get(name):
        raise ValueError(f"{key}: the environment variable {name} is not set")
    return environment[name]


def first_problem(error: ValidationError, root: type[BaseModel] = RunConfig) -> str:
    """`key: reason` for the first of what is wrong, and how much more there is; the reason alone when it is
    about several keys at the top. `root` is what was read."""
    problems = error.errors()
    problem = problems[0]
    way = problem["loc"]
    reason = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        reason = f"unknown key{suggestion(str(way[-1]), _keys_at(list(way[:-1]), root))}"
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return ": ".join(filter(None, (".".join(map(str, way)), f"{reason}{more}")))


def _keys_at(parents: list[Any], root: type[BaseModel]) -> list[str]:
    """The keys that a section may have; `parents` is the way to it."""
    found: Any = root
    for parent in parents:
        if parents[0] == "memory" and parent in KINDS:
            found = KINDS[parent]
            continue
        forms = list(_forms(found))
        named = next((form for form in forms if getattr(form, "__name__", None) == parent), None)
        if named or not (isinstance(forms[0], type) and issubclass(forms[0], BaseModel)):
            found = named or get_args(forms[0])[-1]
        else:
            found = forms[0].model_fields[parent].annotation
    fields = cast(type[BaseModel], next(_forms(found))).model_fields
    return [field.alias or name for name, field in fields.items()]


def _forms(annotation: Any) -> Iterator[Any]:
    """What a value may be read as."""
    if get_origin(annotation) is Annotated:
        yield from _forms(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for form in get_args(annotation):
            yield from _forms(form)
    else:
        yield annotation
