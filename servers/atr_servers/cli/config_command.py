"""The `config` command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click

from atr_data import named_episode
from atr_servers.cli.client_config import (
    HINTS,
    NO_URL,
    address_block,
    command_block,
    server_command,
)
from atr_servers.hosts.environment_spec import episode_environment

_PLACE = "http://127.0.0.1:8765/env/ID/mcp"
"""Stands for an address in the block that is shown beside the one asked for."""


@dataclass(frozen=True, slots=True)
class BlockRequest:
    """What the command line asked for: a session of an episode, or the address of an environment."""

    client: str
    name: str
    episode: str | None = None
    session_id: str | None = None
    state: Path | None = None
    url: str | None = None
    token_env: str | None = None


def config_command(request: BlockRequest) -> None:
    """Prints the block; where it goes and the other form follow on standard error."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,18}", request.name):
        raise click.UsageError(
            "--name must be 1 to 18 letters, digits, - and _: clients put it before each tool's name, and "
            "some cut what gets longer than 63"
        )
    if request.url is not None:
        _print_address_block(request, request.url)
        return
    if request.token_env is not None:
        raise click.UsageError("--token-env goes with --url")
    command = _command(request)
    click.echo(command_block(request.client, request.name, command))
    click.echo(f"{HINTS[request.client]}\ncommand line: {shlex.join(command)}", err=True)
    if request.client == "claude-desktop":
        click.echo(f"over HTTP: {NO_URL}", err=True)
    else:
        block = address_block(request.client, request.name, _PLACE)
        click.echo(f"over HTTP, for an environment of `atr-server serve --http`:\n{block}", err=True)


def _print_address_block(request: BlockRequest, url: str) -> None:
    if any((request.episode, request.session_id, request.state)):
        raise click.UsageError("give --url, or --episode and --session")
    if request.client == "claude-desktop":
        raise click.UsageError(NO_URL)
    if not _is_address(url):
        raise click.UsageError(f"--url must be an address such as {_PLACE}")
    if request.token_env is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", request.token_env):
        raise click.UsageError("--token-env must be the name of an environment variable")
    click.echo(address_block(request.client, request.name, url, request.token_env))
    click.echo(HINTS[request.client], err=True)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", url)


def _command(request: BlockRequest) -> Sequence[str]:
    if request.episode is None or request.session_id is None:
        raise click.UsageError("give --episode EPISODE and --session ID, or --url URL")
    path = named_episode(request.episode)
    episode_environment(path, request.session_id)
    arguments = ["serve", "auto", "--episode", str(path.absolute()), "--session", request.session_id]
    if request.state:
        arguments += ["--state", str(request.state.absolute())]
    return [*server_command(), *arguments]
