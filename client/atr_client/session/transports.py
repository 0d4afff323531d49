"""How the domain server of a session is reached; the turn loop cannot tell."""

from __future__ import annotations

import secrets
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import StdioServerParameters

from atr_client.session.transport_names import TransportName
from atr_data.episode import Episode, LearningSession, TestSession
from atr_servers.connections import Target
from atr_servers.environment import Environment
from atr_servers.hosts.environment_host import Host
from atr_servers.hosts.http_app import create_app, environment_url
from atr_servers.hosts.serve_http import serving


@asynccontextmanager
async def served(
    episode: Episode, session: LearningSession | TestSession, transport: TransportName
) -> AsyncGenerator[Target | None]:
    """What holds the session's environment while the block runs: a process of its own (stdio), a host on
    loopback (http), or None, which leaves it to `open_environment` to make one in this process.

    Raises ValueError when the session names a domain or a tool that does not exist, OSError when no port or
    no temporary folder can be had.
    """
    match transport:
        case "stdio":
            with tempfile.TemporaryDirectory(prefix="atr-stdio-") as folder:
                yield _process(episode, session, Path(folder))
        case "http":
            async with _hosted(episode, session) as url:
                yield url
        case _:
            yield None


def _process(episode: Episode, session: LearningSession | TestSession, folder: Path) -> StdioServerParameters:
    """The episode is written anew, since its objects may stand in another order than on file."""
    path = folder / "episode_seed000.json"
    path.write_text(episode.model_dump_json(), encoding="utf-8")
    arguments = ["serve", "--episode", str(path), "--session", session.session_id]
    return StdioServerParameters(command=sys.executable, args=["-m", "atr_servers.cli", *arguments])


@asynccontextmanager
async def _hosted(episode: Episode, session: LearningSession | TestSession) -> AsyncGenerator[str]:
    env = session.local_env
    environment = Environment.build(session.domain, env.references, episode.profile, env.tools)
    host = Host(ttl=3600.0, cap=1)
    async with serving(create_app(host, admin_token=secrets.token_urlsafe(32))) as base_url:
        try:
            yield environment_url(base_url, await host.open(environment, expires=False))
        finally:
            await host.close_all()
