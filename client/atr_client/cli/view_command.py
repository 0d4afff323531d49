"""The `view` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import click

from atr_client.cli.failures import reported_errors
from atr_client.cli.report_command import report_title
from atr_client.cli.served import log_on_standard_error
from atr_client.cli.view_app import view_app
from atr_client.logs import route_structlog
from atr_client.outputs.live_report import LiveReport
from atr_servers.hosts.serve_http import HttpSettings, serve_app


def view_command(folders: Sequence[Path], *, episodes: Path | None, port: int) -> None:
    """Serves the report on loopback until it is stopped."""
    route_structlog()
    with reported_errors(), log_on_standard_error():
        report = LiveReport(folders, episodes)
        report.step(seconds=0)
        report.fragment()

        async def ready(base_url: str) -> None:
            click.echo(f"url: {base_url}/")

        async def nothing() -> None: ...

        settings = HttpSettings("127.0.0.1", port, ttl=0, cap=0)
        anyio.run(serve_app, settings, view_app(report, report_title(folders)), ready, nothing)
