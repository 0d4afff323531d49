"""`atr-server`: serve environments, write client configurations, list tools and sessions.

What costs time to import (the MCP SDK, pydantic) is imported by the command that needs it, so that `--help`
answers at once.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atr_data import named_episode
from atr_data.errors import DataError
from atr_data.reading import path_problem
from atr_ontology import DOMAINS
from atr_servers.cli.client_config import CLIENTS
from atr_servers.cli.episode_options import episode_option, session_option
from atr_servers.cli.workstream_command import workstream

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
@episode_option("Serves the environment of --session.")
@session_option
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
    episode: str | None,
    session_id: str | None,
    references: Path | None,
    state: Path | None,
    http: bool,
    **http_options: Any,
) -> None:
    """Serve an environment over stdio, or many over HTTP.

    DOMAIN is one of the six domains, or `auto` (the default): that of the session. The options from --host
    on are for --http. With --http an environment named by --episode and --session is open from the start, and
    one line of JSON on standard output tells url, token_file and environments once requests are served.
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
    domain: str, episode: str | None, session_id: str | None, references: Path | None
) -> tuple[EnvironmentSpec, Binding]:
    from atr_servers.hosts.environment_spec import episode_environment, references_environment

    match episode, session_id, references:
        case str(), str(), None:
            path = named_episode(episode)
            return episode_environment(path, session_id, None if domain == "auto" else domain)
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
    anyio.run(serve_http, settings, _announce, [_built(spec)] if spec else [])


def _announce(ready: dict[str, Any]) -> None:
    click.echo(json.dumps(ready, ensure_ascii=False))


def _token(name: str) -> str:
    token = os.environ.get(name, "").strip()
    if not token:
        raise click.UsageError(f"the environment variable {name}, named by --token-env, holds no token")
    return token


@cli.command()
@click.argument("client", type=click.Choice(CLIENTS))
@episode_option()
@session_option
@click.option("--state", type=_FILE, help="State file, for a client that starts a process per call.")
@click.option("--url", metavar="URL", help="An environment of `serve --http`, in place of a session.")
@click.option("--token-env", metavar="NAME", help="Variable with the token for /env, when --url needs one.")
@click.option("--name", default="atr", show_default=True, help="What the client calls the server.")
def config(
    client: str,
    episode: str | None,
    session_id: str | None,
    state: Path | None,
    url: str | None,
    token_env: str | None,
    name: str,
) -> None:
    """Print the block that makes CLIENT use a session's server (JSON; TOML for codex).

    The block for a server that the client starts goes to standard output; how the same client is told of a
    server that runs already follows on standard error. With --url that form is the one printed.
    """
    from atr_servers.cli.config_command import BlockRequest, config_command

    config_command(BlockRequest(client, name, episode, session_id, state, url, token_env))


@cli.command()
@click.argument("domain", type=click.Choice(DOMAINS), required=False)
@click.option("--json", "as_json", is_flag=True, help="Everything an agent sees of them, as JSON.")
def tools(domain: str | None, as_json: bool) -> None:
    """List the tools of all domains or of one; `get_user_confirmation` is in each."""
    from atr_servers.cli.listing_commands import tools_command

    tools_command(domain, as_json=as_json)


@cli.command()
@episode_option("Also split:NAME or all.", required=True)
@click.option("--json", "as_json", is_flag=True, help="A JSON list, with the tools of each session.")
def sessions(episode: str, as_json: bool) -> None:
    """List the sessions of an episode: id, type, domain, task.

    The task of a learning session is what the user calls about; the facts that the user tells when asked
    stand in the JSON list. Rules and what passes a test are in neither.
    """
    from atr_servers.cli.listing_commands import sessions_command

    sessions_command(episode, as_json=as_json)


cli.add_command(workstream)


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
