"""A sweep in several processes. Each is a fork of this one, and so has the planned cells already; this one
hands out the cells, shows the progress and keeps the report."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from types import FrameType
from typing import Any, Literal

from atr_client.cell.definition import Cell
from atr_client.cell.progress import Progress
from atr_client.errors import CellError
from atr_client.outputs.layout import CellKey
from atr_client.outputs.rows import failed_row
from atr_client.sweep.cell_queue import CellQueue
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.stop_signals import STOPPING
from atr_client.sweep.sweep_runner import SweepReport
from atr_client.sweep.worker import work
from atr_data.usage import Usage

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
        news = _News(self.queue, {cell.key.cell_id: cell for cell in self.cells}, progress, report, show)
        with _asked_to_stop():
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

    def _listen(self, news: _News, timeout: float | None = None) -> None:
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

    def _lost(self, one: _Process, news: _News) -> None:
        self.running.remove(one)
        one.process.join()
        for cell_id in sorted(one.cells):
            news.died(cell_id, one.process.exitcode)

    def _stop(self, news: _News) -> None:
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

    def _end(self, news: _News) -> None:
        for one in self.running:
            with suppress(OSError):
                one.pipe.send(("end",))
        while self.running:
            self._listen(news)


@dataclass(slots=True)
class _News:
    """What the processes tell, put where it belongs."""

    queue: CellQueue
    cells: dict[str, Cell]
    progress: Progress
    report: SweepReport
    show: Callable[[str], None]

    def take(self, message: tuple[Any, ...]) -> tuple[CellKey | None, Usage | None]:
        """The cell that ended, and what a session took."""
        match message:
            case ("cell_started", CellKey() as key, int(sessions)):
                self.progress.cell_started(key, sessions)
            case ("session_done", CellKey() as key, trajectory, bool(reused)):
                self.progress.session_done(key, trajectory, reused=reused)
                return None, None if reused else sum(trajectory.token_usage.values(), Usage())
            case ("cell_done", CellKey() as key, row):
                self.queue.ended(key)
                self.report.note(key, row)
                self.progress.cell_done(key, row)
                return key, None
            case ("model_waits", model_id, seconds, reason):
                self.progress.model_waits(model_id, seconds, reason)
            case _:
                self.show(message[1])
        return None, None

    def died(self, cell_id: str, code: int | None) -> None:
        cell = self.cells[cell_id]
        error = CellError(f"its process died (exit code {code}); run the same command to go on")
        row = failed_row(cell.name, error, duration=0.0)
        self.queue.ended(cell.key)
        self.report.note(cell.key, row)
        self.progress.cell_done(cell.key, row)


@contextmanager
def _asked_to_stop() -> Generator[None]:
    """SIGTERM and SIGHUP mean what a Ctrl-C does. One that is ignored stays ignored."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {one: signal.getsignal(one) for one in STOPPING}
    for one, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(one, stop)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
