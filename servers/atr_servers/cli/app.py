"""`atr-server`: serve environments, write client configurations, list tools and sessions.

What costs time to import (the MCP SDK, pydantic) is imported by the command that needs it, so that `--help`
answers at once.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atr_data.errors import DataError
from atr_data.reading import path_problem
from atr_ontology import DOMAINS, Tool, input_schema, load_ontology
from atr_servers.cli.client_config import CLIENTS, HINTS, client_config, server_command

if TYPE_CHECKING:
    from atr_servers.environment import Environment
    from atr_servers.hosts.environment_spec import Binding, EnvironmentSpec

_FILE = click.Path(path_type=Path, dir_okay=False)
_LOOPBACK = "127.0.0.1"


class _Seconds(click.FloatRange):
    """A span of time: above 0, at most a year, and a number."""

    def __init__(self) -> None:
        super().__init__(0, 365 * 86_400, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if (seconds := super().convert(value, param, ctx)) != seconds:
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return seconds


def main(argv: Sequence[str] | None = None) -> None:
    """Runs a command and exits: 0 fine, 1 a run that failed, 2 a mistake in usage or configuration."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if problem := next(filter(None, map(path_problem, arguments)), None):
            raise DataError(problem)
        code = cli.main(arguments, prog_name="atr-server", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        code = _complain(error.format_message())
    except DataError as error:
        code = _complain(str(error))
    except OSError as error:
        code = _complain(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
    except click.Abort:
        code = 130
    sys.exit(code or 0)


def _complain(message: str) -> int:
    click.echo(f"error: {' '.join(message.split())}", err=True)
    return 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="atrbench", prog_name="atr-server")
def cli() -> None:
    """Tool servers of the benchmark: six domains, 74 tools, over MCP."""


@cli.command()
@click.argument("domain", type=click.Choice([*DOMAINS, "auto"]), default="auto")
@click.option("--episode", type=_FILE, help="Episode file (JSON); serves the environment of --session.")
@click.option("--session", "session_id", metavar="ID", help="A session of the episode.")
@click.option("--references", type=_FILE, help="JSON list of references: serves DOMAIN without an episode.")
@click.option("--state", type=_FILE, help="Keep the environment in this file across processes (stdio).")
@click.option("--http", is_flag=True, help="Host many environments over HTTP instead of one over stdio.")
@click.option("--host", metavar="ADDRESS", help="Address to bind to.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 takes a free one.  [default: 8765]")
@click.option("--admin-token-file", type=_FILE, help="Where to write the token for /admin (mode 0600).")
@click.option("--token-env", metavar="NAME", help="Environment variable with the token for /env.")
@click.option("--ttl", type=_Seconds(), help="Idle seconds to live.  [default: 3600]")
@click.option("--max-environments", type=click.IntRange(1), help="Open at once.  [default: 256]")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name clients may call this host by.")
def serve(
    domain: str,
    episode: Path | None,
    session_id: str | None,
    references: Path | None,
    state: Path | None,
    http: bool,
    **http_options: Any,
) -> None:
    """Serve an environment over stdio, or many over HTTP.

    DOMAIN is one of the six domains, or `auto` (the default): that of the session. The options from --host
    on are for --http. With --http an environment named by --episode and --session is open from the start.
    """
    if http and state:
        raise click.UsageError("--state keeps a stdio environment; it does not go with --http")
    if misplaced := [name for name, value in http_options.items() if value not in (None, ()) and not http]:
        raise click.UsageError(f"--{misplaced[0].replace('_', '-')} needs --http")
    wants_environment = not http or domain != "auto" or any((episode, session_id, references))
    chosen = _environment(domain, episode, session_id, references) if wants_environment else None
    if http:
        _serve_http(chosen and chosen[0], **http_options)
    elif chosen:
        _serve_stdio(*chosen, state)


def _environment(
    domain: str, episode: Path | None, session_id: str | None, references: Path | None
) -> tuple[EnvironmentSpec, Binding]:
    from atr_servers.hosts.environment_spec import episode_environment, references_environment

    match episode, session_id, references:
        case Path(), str(), None:
            return episode_environment(episode, session_id, None if domain == "auto" else domain)
        case None, None, Path() if domain != "auto":
            return references_environment(references, domain)
        case _:
            raise click.UsageError("give --episode FILE and --session ID, or DOMAIN and --references FILE")


def _built(spec: EnvironmentSpec) -> Environment:
    from atr_servers.environment import Environment

    try:
        return Environment.build(spec.domain, spec.references, spec.persona, spec.allowed_tools)
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def _serve_stdio(spec: EnvironmentSpec, binding: Binding, state: Path | None) -> None:
    import signal

    import anyio

    from atr_servers.hosts.light_imports import light_imports

    with light_imports():
        from atr_servers.hosts.stdio import serve_stdio
        from atr_servers.server import serve_environment

        _configure_logging()
        environment = _built(spec)
        server = serve_environment(environment)

    async def run() -> None:
        if state:
            from atr_servers.hosts.state_file import StateFile

            file = StateFile(state, binding)
            await file.open(environment)
            server.middleware.append(file.keep(environment))
        await serve_stdio(server)

    # A thread blocked on standard input cannot be interrupted; what is on disk is whole at any instant.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(run)


def _serve_http(
    spec: EnvironmentSpec | None,
    *,
    host: str | None,
    port: int | None,
    admin_token_file: Path | None,
    token_env: str | None,
    ttl: float | None,
    max_environments: int | None,
    allow_host: tuple[str, ...],
) -> None:
    import anyio

    from atr_servers.hosts.http_app import is_loopback
    from atr_servers.hosts.serve_http import HttpSettings, serve_http
    from atr_servers.server import serve_environment

    address = host or _LOOPBACK
    if not is_loopback(address) and token_env is None:
        raise click.UsageError(
            f"{address} can be reached from other machines: put a bearer token into an environment variable "
            "and name it with --token-env"
        )
    settings = HttpSettings(
        address=address,
        port=8765 if port is None else port,
        ttl=ttl or 3600.0,
        cap=max_environments or 256,
        admin_token_file=admin_token_file,
        environment_token=_token(token_env) if token_env else None,
        allowed_hosts=allow_host,
    )
    _configure_logging()
    servers = [serve_environment(_built(spec))] if spec else []
    anyio.run(serve_http, settings, _announce, servers)


def _announce(line: str) -> None:
    click.echo(line, err=True)


def _token(name: str) -> str:
    token = os.environ.get(name, "").strip()
    if not token:
        raise click.UsageError(f"the environment variable {name}, named by --token-env, holds no token")
    return token


@cli.command()
@click.argument("client", type=click.Choice(CLIENTS))
@click.option("--episode", type=_FILE, required=True, help="Episode file (JSON).")
@click.option("--session", "session_id", metavar="ID", required=True, help="A session of the episode.")
@click.option("--state", type=_FILE, help="State file, for a client that starts a process per call.")
@click.option("--name", default="atr", show_default=True, help="What the client calls the server.")
def config(client: str, episode: Path, session_id: str, state: Path | None, name: str) -> None:
    """Print the block that makes CLIENT start a session's server (JSON; TOML for codex)."""
    from atr_servers.hosts.environment_spec import episode_environment

    if not re.fullmatch(r"[A-Za-z0-9_-]{1,18}", name):
        raise click.UsageError(
            "--name must be 1 to 18 letters, digits, - and _: clients put it before each tool's name, and "
            "some cut what gets longer than 63"
        )
    episode_environment(episode, session_id)
    arguments = ["serve", "auto", "--episode", str(episode.absolute()), "--session", session_id]
    if state:
        arguments += ["--state", str(state.absolute())]
    command = [*server_command(), *arguments]
    click.echo(client_config(client, name, command))
    click.echo(f"{HINTS[client]}\ncommand line: {shlex.join(command)}", err=True)


@cli.command()
@click.argument("domain", type=click.Choice(DOMAINS), required=False)
@click.option("--json", "as_json", is_flag=True, help="Everything an agent sees of them, as JSON.")
def tools(domain: str | None, as_json: bool) -> None:
    """List the tools of all domains or of one; `get_user_confirmation` is in each."""
    ontology = load_ontology()
    groups = {"every domain": ontology.base_tools} | {
        name: ontology.domain(name).tools for name in DOMAINS if domain in (None, name)
    }
    if as_json:
        listed = [_described(group, tool) for group, members in groups.items() for tool in members]
        click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
        return
    for group, members in groups.items():
        click.echo(f"{group} ({len(members)})")
        for tool in members:
            click.echo(f"  {tool.name:<32} {tool.kind:<5}  {tool.title}")


def _described(group: str, tool: Tool) -> dict[str, Any]:
    return {
        "domain": group if group in DOMAINS else None,
        "name": tool.name,
        "title": tool.title,
        "kind": tool.kind,
        "description": tool.description,
        "inputSchema": input_schema(tool),
    }


@cli.command()
@click.option("--episode", type=_FILE, required=True, help="Episode file (JSON).")
def sessions(episode: Path) -> None:
    """List the sessions of an episode: id, type, domain."""
    from atr_servers.hosts.environment_spec import read_episode, sessions_of

    for session in sessions_of(read_episode(episode)):
        click.echo(f"{session.session_id}\t{session.session_type}\t{session.domain}")


def _configure_logging() -> None:
    """Everything to standard error: over stdio, standard output is the wire."""
    import logging

    import structlog

    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
    )
    renderer = structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
