"""Agents that are commands: a program that is started for each session and plays it over MCP."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from atr_client.cell.definition import SessionRunner
from atr_client.models.base import Model
from atr_client.models.catalogue import Reasoning
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.manifest import ModelIdentity

COMMAND_PREFIX = "cmd/"
DEFAULT_TIMEOUT = 1800.0
"""Seconds that a session may take when the run has no limit of its own: a program may hang."""

Preset = Literal["claude", "codex", "gemini", "plain"]

PASSED: Mapping[Preset, tuple[str, ...]] = {
    "claude": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "codex": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    "plain": (),
}
"""Variables that a program of this kind gets from our environment, besides those that are named."""


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """`command` is how the program is called. A preset adds the arguments that its client needs; without one
    (`plain`) the command is whole, and `{url}`, `{instructions}` and `{config}` in it stand for the gateway's
    address, a file with the session's instructions, and one with the address as clients are configured.
    `environment` is added to the little that the program gets, `passed` are variables of ours."""

    model_id: str
    preset: Preset
    command: tuple[str, ...]
    environment: Mapping[str, str]
    passed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command as a run uses it."""

    spec: CommandSpec
    reasoning: Reasoning | None = None

    @property
    def model_id(self) -> str:
        return self.spec.model_id

    @property
    def identity(self) -> ModelIdentity:
        spec = self.spec
        entry = json.dumps([spec.model_id, spec.preset, spec.command, dict(spec.environment), spec.passed])
        return ModelIdentity(hashlib.sha256(entry.encode()).hexdigest(), agent="command")


class CommandPlayers(Protocol):
    """Makes who plays the sessions of one cell with a command; `runner_of` plays them with a model, `timeout`
    is how many seconds each may take."""

    def __call__(
        self,
        spec: CommandSpec,
        folder: CellFolder,
        runner_of: Callable[[Model], SessionRunner],
        timeout: float | None,
    ) -> SessionRunner: ...


def command_spec(
    model_id: str, command: list[str] | None, environment: Mapping[str, str], passed: list[str]
) -> CommandSpec:
    """Raises ValueError for an id without a preset that names no command."""
    name = model_id.removeprefix(COMMAND_PREFIX)
    presets: Mapping[str, Preset] = {"claude": "claude", "codex": "codex", "gemini": "gemini"}
    preset: Preset = presets.get(name.partition("-")[0], "plain")
    if command is None and preset == "plain":
        raise ValueError(f"{model_id!r} names no command; presets: cmd/{', cmd/'.join(presets)}")
    return CommandSpec(model_id, preset, tuple(command or [preset]), dict(environment), tuple(passed))
