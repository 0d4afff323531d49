"""A sweep in several processes. Each is a fork of this one, and so has the planned cells already; this one
hands out the cells, shows the progress and keeps the report."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Literal

from atr_client.cell.definition import Cell
from atr_client.cell.progress import Progress
from atr_client.sweep.cell_queue import CellQueue
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.stop_signals import asked_to_stop
from atr_client.sweep.sweep_runner import SweepReport
from atr_client.sweep.worker import work
from atr_client.sweep.worker_news import News

_GRACE = 30.0
"""Seconds that a process has to end after it was asked to."""


def process_count(wanted: int | Literal["auto"], at_once: int, cells: int) -> int:
    """How many processes play: no more than there are cells to be played at once. 1 where a fork is not safe,
    which is on other systems than Linux, and beside other threads."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return max(1, min(len(os.sched_getaffinity(0)) if wanted == "auto" else wanted, at_once, cells))


@dataclass(eq=False, slots=True)
class _Process:
    process: ForkProcess
    pipe: Connection
    cells: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class Workers:
    """Started before anything else runs in this process; `play` once."""

    cells: Sequence[Cell]
    queue: CellQueue
    running: list[_Process] = field(default_factory=list[_Process])

    def start(self, count: int, clients: ModelClients) -> None:
        context = multiprocessing.get_context("fork")
        gc.freeze()  # what stands now is shared, and not looked through again in each process
        for _ in range(count):
            ours, theirs = context.Pipe()
            not_theirs = [ours, *(one.pipe for one in self.running)]
            arguments = (self.cells, clients, count, theirs, not_theirs, os.getpid())
            process = context.Process(target=work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self.running.append(_Process(process, ours))
        gc.unfreeze()

    def play(self, progress: Progress, report: SweepReport, show: Callable[[str], None]) -> None:
        """Raises KeyboardInterrupt when somebody asks to stop: what was played then is on disk."""
        news = News(self.queue, {cell.key.cell_id: cell for cell in self.cells}, progress, report, show)
        with asked_to_stop():
            try:
                self._hand_out()
                while self.running and (self.queue.waits or any(one.cells for one in self.running)):
                    self._listen(news)
                    self._hand_out()
            except KeyboardInterrupt:
                self._stop(news)
                raise
        self._end(news)

    def _hand_out(self) -> None:
        while self.running and (cell := self.queue.take()):
            idlest = min(self.running, key=lambda one: len(one.cells))
            idlest.cells.add(cell.key.cell_id)
            number = next(n for n, one in enumerate(self.cells) if one is cell)
            with suppress(OSError):  # its death is heard of in time
                idlest.pipe.send(("cell", number))

    def _listen(self, news: News, timeout: float | None = None) -> None:
        by_pipe = {one.pipe: one for one in self.running}
        for pipe in wait(list(by_pipe), timeout):
            one = by_pipe[pipe]  # pyright: ignore[reportArgumentType]
            try:
                message = one.pipe.recv()
            except (EOFError, OSError):
                self._lost(one, news)
                continue
            ended, spent = news.take(message)
            one.cells -= {ended.cell_id} if ended else set()
            for other in self.running:
                if spent and other is not one:
                    with suppress(OSError):
                        other.pipe.send(("spent", spent))

    def _lost(self, one: _Process, news: News) -> None:
        self.running.remove(one)
        one.process.join()
        for cell_id in sorted(one.cells):
            news.lost(cell_id, f"its process died (exit code {one.process.exitcode})")

    def _stop(self, news: News) -> None:
        """A second request to stop does not wait."""
        for one in self.running:
            one.process.terminate()
            one.cells.clear()
        deadline = time.monotonic() + _GRACE
        try:
            while self.running and time.monotonic() < deadline:
                self._listen(news, timeout=1.0)
        finally:
            for one in self.running:
                one.process.kill()

    def _end(self, news: News) -> None:
        for one in self.running:
            with suppress(OSError):
                one.pipe.send(("end",))
        while self.running:
            self._listen(news)
