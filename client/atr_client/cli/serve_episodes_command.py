"""The `serve-episodes` command."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from atr_client.cli.failures import reported_errors
from atr_client.cli.served import announce, log_on_standard_error, token_from
from atr_client.errors import ConfigError
from atr_client.gateway.step_app import step_app
from atr_client.gateway.step_host import StepHost
from atr_client.gateway.timing_stepper import timing_steppers
from atr_client.logs import route_structlog
from atr_data import load_episode, packaged_episodes_dir, select_episodes
from atr_servers.hosts.serve_http import HttpSettings, admin_token, serve_app


@dataclass(frozen=True, slots=True)
class ServeEpisodesRequest:
    """What the command line asked for. `ttl` in seconds, `cap` is how many episodes may be open at once;
    `timing` is a folder with a set of the timing track, whose users are served as well;
    `without` selects episodes whose personas are left out."""

    episodes: Sequence[str]
    folder: Path | None
    address: str
    port: int
    token_env: str | None
    token_file: Path | None
    allow_host: tuple[str, ...]
    ttl: float
    cap: int
    timing: Path | None = None
    without: Sequence[str] = ()


def serve_episodes_command(request: ServeEpisodesRequest) -> None:
    """Serves until it is stopped."""
    route_structlog()
    with reported_errors(), log_on_standard_error(), _token(request) as token:
        episodes = served_episodes(request)
        others = timing_steppers(request.timing) if request.timing else {}
        host = StepHost(episodes, ttl=request.ttl, cap=request.cap, others=others)
        settings = HttpSettings(
            request.address, request.port, request.ttl, request.cap, allowed_hosts=request.allow_host
        )

        async def ready(base_url: str) -> None:
            announce(f"url: {base_url}/episodes")

        app = step_app(host, token=token, allowed_hosts=settings.names)
        anyio.run(serve_app, settings, app, ready, host.close_all)


def served_episodes(request: ServeEpisodesRequest) -> dict[str, Path]:
    """The episodes by id. A persona is known by what stands in a file, not by the file's name.

    Raises DataError for a selector that means none, and ConfigError when none is left.
    """
    paths = select_episodes(request.episodes, request.folder or packaged_episodes_dir())
    apart = select_episodes(request.without, packaged_episodes_dir()) if request.without else []
    kept_out = {load_episode(path).persona_id for path in apart}
    served = {p.stem: p for p in paths if not kept_out or load_episode(p).persona_id not in kept_out}
    if not served:
        raise ConfigError("--without leaves no episode to be served")
    return served


@contextmanager
def _token(request: ServeEpisodesRequest) -> Generator[str]:
    if token := token_from(request.token_env, request.address):
        yield token
        return
    with admin_token(request.token_file) as fresh:
        announce(f"token file: {fresh.path}")
        yield fresh.token
