"""Where the cells of a sweep are played: in this process, in forks of it, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial

import anyio

from atr_client.cell.definition import Cell
from atr_client.cell.progress import Progress
from atr_client.sweep.cell_order import CellOrder
from atr_client.sweep.cell_queue import CellQueue
from atr_client.sweep.commands import CommandPlayers
from atr_client.sweep.config import RunConfig
from atr_client.sweep.dask_sweep import ClusterSweep, connected
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.processes import Workers, process_count
from atr_client.sweep.stop_signals import until_told
from atr_client.sweep.sweep_runner import SweepReport, run_sweep

ONE_PROCESS = "processes: with results in a store one process plays; executor: dask has more"

Play = Callable[[Progress, SweepReport, Callable[[str], None]], None]
"""Plays the cells once; lines for a person go to the last argument. Raises KeyboardInterrupt when somebody
asks to stop."""


@contextmanager
def executor(
    config: RunConfig,
    cells: Sequence[Cell],
    clients: ModelClients,
    order_of: Callable[[Cell], CellOrder],
    commands: CommandPlayers,
) -> Generator[Play]:
    """What the configuration wants, ready to play. Raises ConfigError when its cluster is not there."""
    at_once = config.limits.cells
    queue = CellQueue(cells, at_once)
    if config.executor == "dask":
        earlier = None if clients.meter.limit is None else clients.meter.dollars
        shares = max(1, min(at_once, len(cells)))
        with connected(config.cluster or "") as cluster:
            yield ClusterSweep(cluster, cells, queue, order_of, shares, commands, earlier).play
        return
    in_a_store = any(cell.archive for cell in cells)
    processes = 1 if in_a_store else process_count(config.processes, at_once, len(cells))
    if processes > 1:
        workers = Workers(cells, queue)
        workers.start(processes, clients)
        yield workers.play
    else:
        yield partial(_in_this_process, cells, at_once, clients)


def _in_this_process(
    cells: Sequence[Cell],
    at_once: int,
    clients: ModelClients,
    progress: Progress,
    report: SweepReport,
    show: Callable[[str], None],
) -> None:
    anyio.run(_sweep, cells, at_once, progress, report, clients)


async def _sweep(
    cells: Sequence[Cell], at_once: int, progress: Progress, report: SweepReport, clients: ModelClients
) -> None:
    clients.notices.show = progress.model_waits

    async def run() -> None:
        async with clients:
            await run_sweep(cells, at_once=at_once, progress=progress, report=report)

    await until_told(run)
