"""Plays one ordered cell, and stops when it is no longer wanted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import anyio
import anyio.lowlevel
import anyio.to_thread

from atr_client.cell.isolation import outcome_of
from atr_client.logs import terminal_log
from atr_client.models.meter import Meter
from atr_client.outputs.cell_lock import is_busy
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.rows import CellName, failed_row
from atr_client.sweep.cell_order import CellOrder
from atr_client.sweep.commands import CommandPlayers
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.sweep_runner import row_of
from atr_client.sweep.worker_news import TellingProgress

LOOK_SECONDS = 0.5
"""Between two looks at whether the cell is wanted, and at what the rest of the sweep has cost."""

LET_GO_SECONDS = 120.0
"""Longer than what the lease of a lock lasts on NFS."""


async def play_order(
    order: CellOrder,
    progress: TellingProgress,
    shares: int,
    wanted: Callable[[], bool],
    elsewhere: Callable[[], float] | None,
    commands: CommandPlayers | None,
) -> None:
    """`shares` is into how many parts the limits on calls are divided. `elsewhere` tells the US dollars that
    all other cells have cost; it may block. What becomes of the cell is told to `progress`."""
    clients = ModelClients(order.config.limits)
    clients.take_share(shares)
    clients.notices.show = progress.model_waits
    clients.meter.limit = order.config.limits.cost_usd if elsewhere else None
    spending = _Elsewhere(elsewhere, clients.meter)

    async def play() -> None:
        with terminal_log(progress.line), ExitStack() as stack:
            await spending.look()
            cell = order.cell(stack, clients, commands)
            await _let_go(cell.folder)
            async with clients:
                await row_of(cell, progress)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_watch, tasks.cancel_scope, wanted, spending)
        outcome = await outcome_of(play)
        if isinstance(outcome, Exception):
            name = CellName(order.key, order.manifest.episode_path, order.manifest.privileged)
            progress.cell_done(order.key, failed_row(name, outcome, duration=0.0))
        tasks.cancel_scope.cancel()


class _Elsewhere:
    """Puts what other cells cost into the meter of this one."""

    def __init__(self, dollars: Callable[[], float] | None, meter: Meter) -> None:
        self._dollars, self._meter, self._known = dollars, meter, 0.0

    async def look(self) -> None:
        if self._dollars:
            now = await anyio.to_thread.run_sync(self._dollars)
            self._meter.dollars += now - self._known
            self._known = now


async def _let_go(folder: CellFolder) -> None:
    """Waits for another process to let go of the cell: a worker that lost the cluster had it before, or its
    machine went away and a network's file system has not noticed yet."""
    with anyio.move_on_after(LET_GO_SECONDS):
        while await anyio.to_thread.run_sync(is_busy, folder):
            await anyio.lowlevel.checkpoint()


async def _watch(scope: anyio.CancelScope, wanted: Callable[[], bool], spending: _Elsewhere) -> None:
    while wanted():
        await anyio.sleep(LOOK_SECONDS)
        await spending.look()
    scope.cancel()
