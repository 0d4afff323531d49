"""The same work on many cells, on all cores."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import TypeVar

from atr_client.errors import CellError
from atr_client.outputs.layout import CellFolder

ResultT = TypeVar("ResultT")

RARELY = 100_000
"""Objects made, beyond those let go, before a search for cycles, of which cells leave next to none."""

CELLS_EACH = 100
"""How many there must be for each further process, which costs the processors a tenth more: not worth it
where one is done within a second."""


def in_processes(work: Callable[[CellFolder], ResultT], cells: Sequence[CellFolder]) -> list[ResultT]:
    """What the work gives for each cell, in their order.

    Cells of one persona stay together, since they share an episode. The processes are forks, which start
    without importing anything anew; where a fork is not safe there is only this one. Raises CellError when
    one of them dies, and what the work raises.
    """
    count = min(len(os.sched_getaffinity(0)), len(cells) // CELLS_EACH + 1) if _may_fork() else 1
    if count < 2:
        return [work(cell) for cell in cells]
    parts = [list(part) for _, part in groupby(cells, key=lambda cell: cell.path.parent.parent)]
    try:
        with ProcessPoolExecutor(count, multiprocessing.get_context("fork")) as pool:
            done = list(pool.map(partial(_each, work), parts))
    except BrokenProcessPool as error:
        raise CellError("a process died before it was done with its cells") from error
    return [result for part in done for result in part]


def _each(work: Callable[[CellFolder], ResultT], cells: Sequence[CellFolder]) -> list[ResultT]:
    return [work(cell) for cell in cells]


@contextmanager
def searching_rarely() -> Generator[None]:
    """Cycles are looked for rarely, and what stands now is not looked through, here or in forks: the search
    costs a command that makes many records a fifth of its time."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(RARELY, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _may_fork() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1
