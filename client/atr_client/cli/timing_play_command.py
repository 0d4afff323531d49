"""`atr-client timing play`: an agent from outside plays the timing track."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from atr_client.cli.failures import reported_errors
from atr_client.cli.served import HttpRequest, announce, http_settings, log_on_standard_error
from atr_client.cli.timing_run_command import generated_set
from atr_client.errors import CellBusy, ConfigError
from atr_client.gateway.gateway_host import serve_at_stdio, serve_over_http
from atr_client.gateway.timing_desk import TimingDesk
from atr_client.gateway.timing_seat import timing_doors
from atr_client.logs import route_structlog
from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.manifest import gate, read_manifest
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.folders import check_writable, outputs_root
from atr_client.timing.timing_config import TimingConfig, load_timing_config
from atr_client.timing.timing_plan import plan_timing
from atr_client.timing.timing_players import ExternalPlayer
from atr_client.timing.timing_set import TimingSet


@dataclass(frozen=True, slots=True)
class TimingPlay:
    """What the command line asked for. `config` and `changes` as `load_timing_config` takes them."""

    config: str
    users: Sequence[str]
    agent: str
    changes: Sequence[str]
    outputs: Path | None
    fresh: bool
    allow_stale_resume: bool


def timing_play_command(play: TimingPlay, http: HttpRequest | None) -> None:
    """Serves until the agent leaves, or over HTTP until it is stopped."""
    route_structlog()
    with reported_errors():
        config = load_timing_config(play.config, play.changes)
        users = list(dict.fromkeys(play.users))
        if http is None and len(users) > 1:
            raise ConfigError("standard input and output serve one user; more need --http")
        settings = http and http_settings(http)
        desks = [
            external_desk_of(config, user, play.agent, play.outputs, play.fresh, play.allow_stale_resume)
            for user in users
        ]
        doors = [door for desk in desks for door in timing_doors(desk)]
        with log_on_standard_error():
            if settings:
                anyio.run(serve_over_http, desks, doors, settings, announce)
            else:
                # A thread blocked on standard input cannot be interrupted; what is on disk is whole at any
                # instant.
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                anyio.run(serve_at_stdio, desks[0], doors[0][1])


def external_desk_of(
    config: TimingConfig, user: str, agent: str, outputs: Path | None, fresh: bool, allow_stale_resume: bool
) -> TimingDesk:
    """The desk of one user; of several memory modes or windows the first is played. Raises ConfigError,
    DataError, CellBusy, and ManifestMismatch when the folder holds sittings of another run."""
    root = outputs_root(config, outputs)
    check_writable(root)
    folder = config.set.folder or generated_set(config.set, root)
    assert folder, "written unless it was a dry run"
    one = config.model_copy(
        update={
            "set": config.set.model_copy(update={"users": [user]}),
            "memory": config.memory[:1],
            "history_window_s": config.history_window_s[:1],
        }
    )
    player = ExternalPlayer(agent)
    cells = plan_timing(
        one,
        TimingSet.load(folder),
        root,
        ModelClients(config.limits),
        fresh=fresh,
        allow_stale_resume=allow_stale_resume,
        players=[player],
    )
    cell = cells[0]
    if is_busy(cell.folder, patience=0):
        raise CellBusy(f"another process is writing to {cell.folder.path}")
    existing = None if fresh else read_manifest(cell.folder.manifest)
    if existing is not None:
        gate(existing, cell.manifest, allow_stale=allow_stale_resume)
    return TimingDesk(cell)
