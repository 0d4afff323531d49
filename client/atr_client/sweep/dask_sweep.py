"""A sweep on a Dask cluster. Dask holds the cells that are under way, and hands one whose worker died to
another; this process chooses which begins next, shows the progress and keeps the report."""

from __future__ import annotations

import pickle
import queue
import time
import uuid
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio

from atr_client.cell.definition import Cell
from atr_client.cell.progress import Progress
from atr_client.errors import ConfigError
from atr_client.sweep.cell_order import CellOrder
from atr_client.sweep.cell_queue import CellQueue
from atr_client.sweep.commands import CommandPlayers
from atr_client.sweep.ordered_play import play_order
from atr_client.sweep.stop_signals import asked_to_stop
from atr_client.sweep.sweep_runner import SweepReport
from atr_client.sweep.worker_news import Message, News, TellingProgress
from atr_data.usage import Usage

CONNECT_SECONDS = 10.0

_GRACE = 30.0
"""Seconds in which workers leave their cells after they were asked to."""

_UNDER_WAY = ("executing", "long-running")
_LEAVING = ("closing", "closed", "closing_gracefully", "failed")


@contextmanager
def connected(address: str) -> Generator[Any]:
    """A client of the cluster whose scheduler is at an address. Raises ConfigError when there is none, or the
    package that it takes is not installed."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(
            "executor: dask needs the package distributed: pip install 'atrbench[dask]'"
        ) from error
    try:
        client: Any = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ConfigError(f"cluster: no Dask scheduler answers at {address}: {reason}") from error
    with client:
        yield client


def described(client: Any) -> str:
    """What a cluster has, in a line."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    threads = sum(worker["nthreads"] for worker in workers.values())
    if not workers:
        return "a cluster without a worker; cells begin as soon as one comes"
    return f"a cluster of {len(workers)} workers with {threads} threads in all"


@dataclass(slots=True)
class ClusterSweep:
    """`order_of` describes a cell to a worker; `earlier_usd` is what the sweep has cost before, None when its
    cost has no limit. `play` once."""

    client: Any
    cells: Sequence[Cell]
    queue: CellQueue
    order_of: Callable[[Cell], CellOrder]
    shares: int
    commands: CommandPlayers | None = None
    earlier_usd: float | None = None
    channel: str = field(default_factory=lambda: f"atr-{uuid.uuid4().hex}")
    futures: dict[str, Any] = field(default_factory=dict[str, Any])
    left: set[str] = field(default_factory=set[str])
    inbox: queue.Queue[Message] = field(default_factory=lambda: queue.Queue[Message]())
    gone: str | None = None

    def play(self, progress: Progress, report: SweepReport, show: Callable[[str], None]) -> None:
        """Raises KeyboardInterrupt when somebody asks to stop: workers have let go of their cells then."""
        news = News(self.queue, {cell.key.cell_id: cell for cell in self.cells}, progress, report, show)
        self.client.subscribe_topic(self.channel, self._hear)
        show(described(self.client))
        spent = _Spent(self.client, self.channel, self.earlier_usd)
        with asked_to_stop():
            try:
                self._hand_out()
                while self.futures and self.gone is None:
                    self._take(self.inbox.get(), news, spent)
                    self._hand_out()
            except KeyboardInterrupt:
                self._stop(news, spent)
                raise
            finally:
                spent.close()
        for cell_id in list(self.futures):
            news.lost(cell_id, self.gone or "")

    def _hear(self, event: tuple[float, bytes]) -> None:
        self.inbox.put(pickle.loads(event[1]))

    def _hand_out(self) -> None:
        while self.gone is None and (cell := self.queue.take()):
            cell_id = cell.key.cell_id
            future = self.client.submit(
                _played,
                self.order_of(cell),
                self.channel,
                self.shares,
                self.commands,
                self.earlier_usd is not None,
                key=f"{self.channel}/{cell_id}",
                pure=False,
            )
            self.futures[cell_id] = future
            future.add_done_callback(partial(self._ended, cell_id))

    def _ended(self, cell_id: str, future: Any) -> None:
        reason = ""
        if future.status == "error":
            reason = f"the cluster gave it up: {' '.join(str(future.exception()).split())}"
        elif future.status != "finished":
            reason = "the connection to the cluster's scheduler is lost"
        self.inbox.put(("future", cell_id, future.status, reason))

    def _take(self, message: Message, news: News, spent: _Spent) -> None:
        match message:
            case ("future", cell_id, status, reason) if cell_id in self.futures:
                if status not in ("finished", "error"):
                    self.gone = reason
                    return
                self.futures.pop(cell_id).release()
                if cell_id not in news.ended:
                    news.lost(cell_id, reason or "its worker did not tell what became of it")
            case ("future", *_):
                return
            case ("left", cell_id):
                self.left.add(cell_id)
            case ("cell_done", key, _) if key.cell_id in news.ended:
                return
            case _:
                _, usage = news.take(message)
                if usage:
                    spent.add(message[1].cell_id, usage)

    def _stop(self, news: News, spent: _Spent) -> None:
        """A second request to stop does not wait."""
        self.client.cancel(list(self.futures.values()), force=True)
        deadline = time.monotonic() + _GRACE
        while news.begun - news.ended - self.left and time.monotonic() < deadline:
            try:
                self._take(self.inbox.get(timeout=1.0), news, spent)
            except queue.Empty:
                continue


class _Spent:
    """What the sweep has cost so far, by cell, where every worker can read it."""

    def __init__(self, client: Any, channel: str, earlier: float | None) -> None:
        self._dollars: dict[str, float] = {"": earlier or 0.0}
        self._variable: Any = None
        if earlier is not None:
            from distributed import Variable

            self._variable = Variable(channel, client=client)
            self._variable.set(self._dollars)

    def add(self, cell_id: str, usage: Usage) -> None:
        if self._variable is not None:
            self._dollars[cell_id] = self._dollars.get(cell_id, 0.0) + (usage.metered_usd or 0.0)
            self._variable.set(self._dollars)

    def close(self) -> None:
        if self._variable is not None:
            self._variable.delete()


def _played(
    order: CellOrder, channel: str, shares: int, commands: CommandPlayers | None, has_limit: bool
) -> None:
    """What a worker does, in a thread of its own. A task that was cancelled, or whose client went away, is no
    longer under way for the worker, which is how the cell hears of it."""
    import distributed

    dask: Any = distributed
    worker: Any = dask.get_worker()
    name, cell_id = worker.get_current_task(), order.key.cell_id
    spent: Any = dask.Variable(channel, client=dask.get_client()) if has_limit else None

    def send(message: Message) -> None:
        worker.log_event(channel, pickle.dumps(message))

    def wanted() -> bool:
        task = worker.state.tasks.get(name)
        return task is not None and task.state in _UNDER_WAY and worker.status.name not in _LEAVING

    def elsewhere() -> float:
        told: Mapping[str, float] = spent.get(timeout="5s")
        return sum(dollars for other, dollars in told.items() if other != cell_id)

    progress = TellingProgress(send)
    try:
        anyio.run(play_order, order, progress, shares, wanted, elsewhere if has_limit else None, commands)
    finally:
        send(("left", cell_id))
