"""A process of a sweep: plays the cells that it is handed, and tells what comes of them."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection

import anyio

from atr_client.cell.definition import Cell
from atr_client.logs import terminal_log
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.stop_signals import Told, cancel_on_signal
from atr_client.sweep.sweep_runner import row_of
from atr_client.sweep.worker_news import TellingProgress

_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


def work(
    cells: Sequence[Cell],
    clients: ModelClients,
    shares: int,
    pipe: Connection,
    not_ours: Sequence[Connection],
    parent: int,
) -> None:
    """The life of the process. It ends when it is told so, and with its parent whatever befalls that."""
    for other in not_ours:
        other.close()
    _end_with(parent)
    # The parent gets a Ctrl-C too, and asks to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    clients.take_share(shares)
    progress = TellingProgress(pipe.send)
    clients.notices.show = progress.model_waits
    with terminal_log(progress.line):
        anyio.run(_serve, cells, clients, pipe, progress)
    pipe.close()


async def _serve(
    cells: Sequence[Cell], clients: ModelClients, pipe: Connection, progress: TellingProgress
) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancel_on_signal, tasks.cancel_scope, Told())
        async with clients, anyio.create_task_group() as playing:
            while True:
                await anyio.wait_readable(pipe.fileno())
                match pipe.recv():
                    case ("cell", int(number)):
                        playing.start_soon(row_of, cells[number], progress)
                    case ("spent", usage):
                        clients.meter.add(usage)
                    case _:
                        break
        tasks.cancel_scope.cancel()


def _end_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
