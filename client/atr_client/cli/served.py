"""What commands that serve have in common: their token, their log, what they announce."""

from __future__ import annotations

import os
from dataclasses import dataclass

import click
from rich.console import Console

from atr_client.cli.failures import UsageFault
from atr_client.logs import terminal_log
from atr_servers.hosts.http_app import is_loopback
from atr_servers.hosts.serve_http import HttpSettings


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """Where to listen. `token_env` names a variable with a bearer token; `allow_host` are further names of
    this machine."""

    address: str
    port: int
    token_env: str | None
    allow_host: tuple[str, ...]


def token_from(variable: str | None, address: str) -> str | None:
    """The bearer token that the variable holds; None when no variable is named, which does for loopback
    alone. Raises UsageFault."""
    if variable is None:
        if not is_loopback(address):
            raise UsageFault(
                f"{address} can be reached from other machines: put a bearer token into an environment "
                "variable and name it with --token-env"
            )
        return None
    if token := os.environ.get(variable, "").strip():
        return token
    raise UsageFault(f"the environment variable {variable}, named by --token-env, holds no token")


def announce(line: str) -> None:
    click.echo(line, err=True)


def log_on_standard_error():
    """Warnings and errors go there; standard output may be a wire."""
    console = Console(stderr=True)

    def show(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    return terminal_log(show)


def http_settings(http: HttpRequest) -> HttpSettings:
    """Of a gateway. Raises UsageFault for a token that is not there."""
    token = token_from(http.token_env, http.address)
    return HttpSettings(
        address=http.address,
        port=http.port,
        ttl=3600.0,
        cap=4096,
        environment_token=token,
        allowed_hosts=http.allow_host,
    )
