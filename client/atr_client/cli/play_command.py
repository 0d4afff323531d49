"""The `play` command."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from atr_client.cli.failures import reported_errors
from atr_client.cli.served import HttpRequest, announce, http_settings, log_on_standard_error
from atr_client.errors import CellBusy, ConfigError
from atr_client.gateway.desk import Desk, Mode
from atr_client.gateway.external_cell import EXTERNAL, ExternalPlay, external_desk
from atr_client.gateway.gateway_host import doors, serve_at_stdio, serve_over_http
from atr_client.gateway.human_places import HUMAN, UserAt, human_places, play_at_pages
from atr_client.logs import route_structlog
from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.provenance import collect_provenance
from atr_client.session.turns import SessionSettings
from atr_client.sweep.config import LimitConfig, ModelChoice, RunConfig
from atr_client.sweep.config_file import load_config
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.folders import episodes_folder, outputs_root
from atr_client.sweep.registry import role_specs
from atr_data import select_episodes


@dataclass(frozen=True, slots=True)
class PlayRequest:
    """What the command line asked for. `http` None: over standard input and output. `config` says who plays
    the user; the limits left out are the configuration's. `all_tools` None: as the client needs."""

    episodes: Sequence[str]
    variants: Sequence[str]
    layer: str
    agent: str
    human_user: bool
    user_at: UserAt
    mode: Mode
    all_tools: bool | None
    folder: Path | None
    outputs: Path | None
    config: str | None
    max_steps: int | None
    timeout: float | None
    fresh: bool
    allow_stale_resume: bool
    http: HttpRequest | None


def play_command(request: PlayRequest) -> None:
    """Serves until the agent leaves, or over HTTP until it is stopped."""
    route_structlog()
    with reported_errors():
        config = load_config(request.config) if request.config else _plain_config()
        clients = ModelClients(config.limits)
        clients.check(list(role_specs(config).values()))
        desks = _desks(request, config, clients)
        settings = request.http and http_settings(request.http)
        _check_places(request, len(desks))

        async def serve() -> None:
            async with clients, human_places(desks, request.agent, request.user_at, announce):
                if request.agent == HUMAN:
                    await play_at_pages(desks)
                elif settings:
                    open_doors = [d for desk in desks for d in doors(desk, all_tools=request.all_tools)]
                    await serve_over_http(desks, open_doors, settings, announce)
                else:
                    _, server = next(doors(desks[0], all_tools=request.all_tools))
                    await serve_at_stdio(desks[0], server)

        # A thread blocked on standard input cannot be interrupted; what is on disk is whole at any instant.
        if settings is None or request.user_at == "terminal":
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        with log_on_standard_error():
            anyio.run(serve)


def _check_places(request: PlayRequest, desks: int) -> None:
    """Raises ConfigError for a place that would be taken twice, or that is not there."""
    takes_stdin = request.http is None and request.agent != HUMAN
    if takes_stdin and desks > 1:
        raise ConfigError("standard input and output serve one episode in one variant; more need --http")
    if not request.human_user:
        return
    if request.user_at == "client" and request.agent == HUMAN:
        raise ConfigError("--user-at client: a human agent has no client; page or terminal")
    if request.user_at == "terminal" and (takes_stdin or desks > 1):
        raise ConfigError("--user-at terminal: one episode in one variant, and --http for the agent")


def _plain_config() -> RunConfig:
    """The offline user and the usual limits."""
    return RunConfig(name="play", variants=["atr"], models=[ModelChoice(id=EXTERNAL)])


def _desks(request: PlayRequest, config: RunConfig, clients: ModelClients) -> list[Desk]:
    outputs = outputs_root(config, request.outputs)
    play = ExternalPlay(
        episode=Path(),
        variant="",
        outputs=outputs,
        layer=request.layer,
        agent=request.agent,
        human_user=request.human_user,
        mode=request.mode,
        settings=_settings(request, config.limits),
        fresh=request.fresh,
        allow_stale_resume=request.allow_stale_resume,
    )
    paths = select_episodes(request.episodes, episodes_folder(config, request.folder))
    provenance = collect_provenance()
    desks = [
        external_desk(replace(play, episode=path, variant=variant), config, clients, provenance)
        for path in paths
        for variant in dict.fromkeys(request.variants)
    ]
    for desk in desks:
        if is_busy(desk.cell.folder):
            raise CellBusy(f"another process is writing to {desk.cell.folder.path}")
    return desks


def _settings(request: PlayRequest, limits: LimitConfig) -> SessionSettings:
    return SessionSettings(
        limits.max_steps if request.max_steps is None else request.max_steps,
        limits.timeout if request.timeout is None else request.timeout,
    )
