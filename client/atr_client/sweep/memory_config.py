"""The memory layers of a sweep: one entry per layer, each of a kind with keys of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

FOLDER = "{folder}"
"""Stands for the folder of its own that a memory server gets, as an absolute path."""

PACKAGE_RUNNERS = frozenset({"npx", "uvx", "bunx", "pipx", "pnpx", "dlx"})
_RUNNING = {("npm", "exec"), ("npm", "x"), ("pnpm", "dlx"), ("yarn", "dlx"), ("uv", "run"), ("uv", "tool")}
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class _Kind(BaseModel):
    """`name` is what folders, manifests and tables call the layer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = ""

    @model_validator(mode="after")
    def _plain_name(self) -> _Kind:
        if self.name and not _PLAIN_NAME.fullmatch(self.name):
            raise ValueError(f"name: {self.name!r} is no plain name (letters, digits, dot, dash, underscore)")
        return self

    @property
    def layer_name(self) -> str:
        return self.name or self.own_name

    @property
    def own_name(self) -> str:
        return str(cast(Any, self).kind)

    @property
    def settings(self) -> dict[str, Any]:
        """All that is said about the layer but its name."""
        return self.model_dump(mode="json", exclude={"name"}, by_alias=True)


class NoMemory(_Kind):
    kind: Literal["none"] = "none"


class ContextMemory(_Kind):
    kind: Literal["context"] = "context"


class NotesMemory(_Kind):
    kind: Literal["notes"] = "notes"


class RetrievalMemory(_Kind):
    """`by` ranks with BM25 or with the sentence encoder of the extra `encoder`; `read` offers a tool to query
    with, or pushes what the task brings up into the prompt; `top` chunks of at most `chunk` characters."""

    kind: Literal["retrieval"] = "retrieval"
    by: Literal["bm25", "encoder"] = "bm25"
    read: Literal["tool", "pushed"] = "tool"
    top: int = Field(default=5, ge=1, le=100)
    chunk: int = Field(default=600, ge=100, le=10_000)

    @property
    def own_name(self) -> str:
        parts = ["retrieval", *([] if self.by == "bm25" else [self.by])]
        return "-".join([*parts, *([] if self.read == "tool" else [self.read])])


class RulesMemory(_Kind):
    """`extractor` is `offline`, or the id of the model that distils each session; `agent` is the agent's own
    model."""

    kind: Literal["rules"] = "rules"
    extractor: str = "offline"

    @property
    def own_name(self) -> str:
        return "rules" if self.extractor == "offline" else "rules-model"


class RewriteMemory(_Kind):
    """The agent's model rewrites one text of at most `characters` characters after each session."""

    kind: Literal["rewrite"] = "rewrite"
    characters: int = Field(default=4000, ge=100, le=200_000)


class ClassMemory(_Kind):
    """`path` is `package.module:Class`, `options` what the class is made with."""

    kind: Literal["class"] = "class"
    path: str
    options: dict[str, Any] = Field(default_factory=dict[str, Any])

    @property
    def own_name(self) -> str:
        return f"class-{self.path.rpartition(':')[2]}"


class HomeMemory(_Kind):
    """The files that an agent which is a program keeps in its home and in its working folder."""

    kind: Literal["home"] = "home"


class ToolFreeze(BaseModel):
    """`tool` is called once when learning is over; what it answers is given as `argument` to the tool `open`
    at the beginning of each test session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str
    open: str
    argument: str = "snapshot"


class CopyFreeze(BaseModel):
    """`copy` are the files and folders, below the server's own folder, that hold its memory."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    copy_: list[str] = Field(default=[FOLDER], min_length=1, alias="copy")


class ProbeCall(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


class Probe(BaseModel):
    """A write and a read by which `doctor` tells whether a server keeps what it is given; `{marker}` in their
    arguments stands for what must come back."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    write: ProbeCall
    read: ProbeCall


def _freeze(value: Any) -> Any:
    return "none" if value is None else value


class ExternalMemory(_Kind):
    """A third party's MCP memory server, started by `command` for each session, or reached at `url`.
    `timeout` is in seconds for each call."""

    kind: Literal["external"] = "external"
    command: list[str] | None = Field(default=None, min_length=1)
    url: str | None = None
    env: dict[str, str] = Field(default_factory=dict[str, str])
    freeze: Annotated[CopyFreeze | ToolFreeze | Literal["none"], BeforeValidator(_freeze)] = CopyFreeze()
    probe: Probe | None = None
    timeout: float = Field(default=30.0, gt=0)

    @model_validator(mode="after")
    def _can_be_frozen(self) -> ExternalMemory:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either command or url")
        if self.url is not None:
            if isinstance(self.freeze, CopyFreeze):
                raise ValueError("freeze: files of a server behind a url cannot be copied; a tool, or none")
            return self
        command = cast(list[str], self.command)
        program = PurePath(command[0]).name.removesuffix(".cmd").removesuffix(".exe")
        if program in PACKAGE_RUNNERS or (program, *command[1:2]) in _RUNNING:
            raise ValueError(
                f"command: {program} runs packages; install the server and name its real command, so that it "
                "is the process that is stopped before its files are copied"
            )
        if isinstance(self.freeze, CopyFreeze):
            _check_copied(self.freeze.copy_, [*command, *self.env.values()])
        return self

    @property
    def own_name(self) -> str:
        if self.url is not None:
            return "external"
        return f"external-{_plain(cast(list[str], self.command))}"


def _check_copied(paths: Sequence[str], told: Sequence[str]) -> None:
    for path in paths:
        inside = path.removeprefix(FOLDER)
        if not path.startswith(FOLDER) or ".." in PurePath(inside).parts:
            raise ValueError(
                f"freeze.copy: {path!r} does not lie below {FOLDER}, the folder that each session's server "
                "has for itself"
            )
    if not any(FOLDER in text for text in told):
        raise ValueError(
            f"nothing in command or env tells the server to keep its files in {FOLDER}, an absolute path "
            "that stands for its own folder"
        )


def _plain(command: Sequence[str]) -> str:
    """The last part of a command that names a program, as a name."""
    named = [part for part in command if not part.startswith("-") and FOLDER not in part]
    stem = PurePath(named[-1] if named else command[0]).stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip(".-") or "server"


MemoryChoice = (
    NoMemory
    | ContextMemory
    | NotesMemory
    | RetrievalMemory
    | RulesMemory
    | RewriteMemory
    | ClassMemory
    | HomeMemory
    | ExternalMemory
)
KINDS: Mapping[str, type[_Kind]] = {
    kind.model_fields["kind"].default: kind for kind in get_args(MemoryChoice)
}


def _kind(value: Any) -> Any:
    """A name alone is a kind with nothing said about it."""
    named = {"kind": value} if isinstance(value, str) else value
    if named == {"kind": "native"}:
        raise ValueError("a model's native memory cannot be used: sessions share the layers of `memory` only")
    return named


def _several(value: Any) -> Any:
    return cast(list[Any], value) if isinstance(value, list) else [value]


def _apart(layers: list[_Kind]) -> list[_Kind]:
    names = [layer.layer_name for layer in layers]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two layers are called {twice!r}; give one of them a name")
    return layers


_AsWritten = Annotated[str, WithJsonSchema({"enum": list(KINDS)})] | MemoryChoice
MemoryLayers = Annotated[
    list[
        Annotated[
            MemoryChoice,
            Field(discriminator="kind"),
            BeforeValidator(_kind, json_schema_input_type=_AsWritten),
        ]
    ],
    BeforeValidator(_several, json_schema_input_type=_AsWritten | list[_AsWritten]),
    AfterValidator(_apart),
    Field(min_length=1),
]
"""One layer or a list of them; each is a kind, by its name alone or with keys."""
