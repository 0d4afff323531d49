"""Gateways in this process: desks, doors over ASGI, and what came of a play."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as StarletteMessage

from atr_client import play_episode
from atr_client.agents import OFFLINE_MODELS
from atr_client.gateway.desk import Desk
from atr_client.gateway.external_cell import ExternalPlay, external_desk
from atr_client.gateway.gateway_host import doors, gateway_app
from atr_client.gateway.gateway_server import build_gateway_server
from atr_client.gateway.seat import Seat
from atr_client.models.base import AgentModel
from atr_client.outputs.provenance import Provenance, collect_provenance
from atr_client.sweep.config import ModelChoice, RunConfig
from atr_data import load_trajectory
from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_servers.hosts.environment_host import Host
from tests.conftest import ROOT

EPISODE = ROOT / "data" / "episodes" / "odalys_renner_seed000.json"
OFFLINE_USER = RunConfig(name="play", variants=["atr"], models=[ModelChoice(id="external")])
BASE = "http://127.0.0.1:8766"


def asker() -> AgentModel:
    agent: Any = OFFLINE_MODELS["offline/asker"].model()
    return agent


def desk_of(outputs: Path, variant: str = "atr", episode: Path = EPISODE, **play: Any) -> Desk:
    return external_desk(
        ExternalPlay(episode, variant, outputs, **play), OFFLINE_USER, provenance=_provenance()
    )


@cache
def _provenance() -> Provenance:
    return collect_provenance()


def write_episode(folder: Path, episode: Episode) -> Path:
    path = folder / f"{episode.episode_id}.json"
    path.write_text(episode.model_dump_json(), encoding="utf-8")
    return path


@asynccontextmanager
async def running(desk: Desk) -> AsyncGenerator[Seat]:
    """The desk at work, and a seat at it, until the block ends as a process does: in the midst of it."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.run)
        yield Seat(desk)
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def connected(seat: Seat, era: Any = "auto", **server: Any) -> AsyncGenerator[Client]:
    async with Client(build_gateway_server(seat, **server), mode=era) as client:
        yield client


@asynccontextmanager
async def hosting(
    desks: Sequence[Desk], token: str | None = None, said: bytearray | None = None
) -> AsyncGenerator[tuple[httpx2.AsyncClient, list[dict[str, str]]]]:
    """A gateway over ASGI: an HTTP client, and per desk the address of each door by name; "" is that of the
    whole episode. `said` takes every byte that leaves the application."""
    host = Host(ttl=3600, cap=4096)
    app = gateway_app(host, desks, token=token)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.ASGITransport(app=_tapped(app, bytearray() if said is None else said))
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url=BASE, headers=headers, timeout=60) as http,
    ):
        addresses: list[dict[str, str]] = []
        for desk in desks:
            (whole, *tests) = list(doors(desk))
            named = [("", whole[1]), *((name.strip(), server) for name, server in tests)]
            addresses.append(
                {n: f"{BASE}/play/{await host.open_server(s, expires=False)}/mcp" for n, s in named}
            )
        yield http, addresses


def over_http(http: httpx2.AsyncClient, url: str, era: Any = "auto") -> Client:
    return Client(streamable_http_client(url, http_client=http), mode=era)


def passes(evaluation: dict[str, Any]) -> dict[str, bool]:
    return {r["session_id"]: bool(r["task_success"]) for r in evaluation["session_results"]}


def scored(desk: Desk) -> dict[str, Any]:
    return json.loads(desk.cell.folder.evaluation.read_text(encoding="utf-8"))


def played(desk: Desk) -> list[Trajectory]:
    """The sessions that have a result, as they are on disk."""
    files = (desk.cell.folder.trajectory(name) for name in desk.sessions)
    return [load_trajectory(path) for path in files if path.exists()]


def manifest_of(desk: Desk) -> dict[str, Any]:
    return json.loads(desk.cell.folder.manifest.read_text(encoding="utf-8"))


_in_process: dict[str, dict[str, bool]] = {}
"""Of the episode that ships, by variant."""


async def in_process(variant: str) -> dict[str, bool]:
    """What the asker passes without a gateway: the same each time, and so played once."""
    if variant not in _in_process:
        _in_process[variant] = passes((await play_episode(str(EPISODE), variant, asker())).evaluation)
    return _in_process[variant]


def _tapped(app: ASGIApp, said: bytearray) -> ASGIApp:
    async def tapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def tell(message: StarletteMessage) -> None:
            said.extend(message.get("body", b""))
            said.extend(repr(message.get("headers", ())).encode())
            await send(message)

        await app(scope, receive, tell)

    return tapped
