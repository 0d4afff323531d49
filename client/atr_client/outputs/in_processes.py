"""The same work on many cells, on all cores."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from signal import SIGTERM
from typing import BinaryIO, Generic, NoReturn, TypeVar, cast

from atr_client.errors import CellError, ClientError
from atr_client.outputs.layout import CellFolder
from atr_data import DataError

ResultT = TypeVar("ResultT")

RARELY = 100_000
"""Objects made, beyond those let go, before a search for cycles, of which cells leave next to none."""

CELLS_EACH = 100
"""How many there must be for each further process, which costs the processors a tenth more: not worth it
where one is done within a second."""

_TICKET, _MOST_TICKETS = 4, 2**12
"""Bytes of one, and how many a pipe takes without anybody reading it."""


def in_processes(work: Callable[[CellFolder], ResultT], cells: Sequence[CellFolder]) -> list[ResultT]:
    """What the work gives for each cell, in their order.

    Cells of one persona stay together, since they share an episode. The other processes are forks of this
    one, which start without importing anything anew; where a fork is not safe there are none. Raises
    CellError when one of them dies, and what the work raises.
    """
    count = min(len(os.sched_getaffinity(0)), len(cells) // CELLS_EACH + 1) if _may_fork() else 1
    if count < 2:
        return [work(cell) for cell in cells]
    parts = [list(part) for _, part in groupby(cells, key=lambda cell: cell.path.parent.parent)]
    return [result for part in _Shared(work, parts).done(count) for result in part]


class _Shared(Generic[ResultT]):
    """Parts of some work, each done by the process that draws its ticket from a pipe."""

    def __init__(self, work: Callable[[CellFolder], ResultT], parts: Sequence[Sequence[CellFolder]]) -> None:
        self._work = work
        each = -(-len(parts) // _MOST_TICKETS)
        self._parts = [
            [cell for part in parts[n : n + each] for cell in part] for n in range(0, len(parts), each)
        ]
        self._tickets, entry = os.pipe()
        os.write(entry, b"".join(n.to_bytes(_TICKET, "big") for n in range(len(self._parts))))
        os.close(entry)

    def done(self, processes: int) -> list[list[ResultT]]:
        """The results of each part. This process works too, and hears the others when nothing is left."""
        helpers: dict[int, BinaryIO] = {}
        try:
            for _ in range(processes - 1):
                helpers.update([self._helper()])
            found = dict(self._drawn())
            for pid, answer in list(helpers.items()):
                content = answer.read()
                status = os.waitpid(pid, 0)[1]
                helpers.pop(pid).close()
                found |= self._told(status, content)
            return [found[n] for n in range(len(self._parts))]
        finally:
            os.close(self._tickets)
            for pid, answer in helpers.items():
                answer.close()
                with suppress(ProcessLookupError):
                    os.kill(pid, SIGTERM)
                os.waitpid(pid, 0)

    def _drawn(self) -> Iterator[tuple[int, list[ResultT]]]:
        while ticket := os.read(self._tickets, _TICKET):
            number = int.from_bytes(ticket, "big")
            yield number, [self._work(cell) for cell in self._parts[number]]

    def _helper(self) -> tuple[int, BinaryIO]:
        """A process that works beside this one, and where it answers at the end."""
        answer, entry = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._help(entry)
        os.close(entry)
        return pid, os.fdopen(answer, "rb")

    def _help(self, entry: int) -> NoReturn:
        try:
            try:
                found = dict(self._drawn())
            except (ClientError, DataError, OSError) as error:
                found = error
            with os.fdopen(entry, "wb") as stream:
                pickle.dump(found, stream, pickle.HIGHEST_PROTOCOL)
            os._exit(0)
        except Exception:
            traceback.print_exc()
            raise
        finally:
            os._exit(1)

    def _told(self, status: int, content: bytes) -> dict[int, list[ResultT]]:
        if status:
            raise CellError("a process died before it was done with its cells")
        found = pickle.loads(content)
        if isinstance(found, Exception):
            raise found
        return cast(dict[int, list[ResultT]], found)


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
