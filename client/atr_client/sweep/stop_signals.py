"""A request to stop that is not Ctrl-C: from a batch system, a shutdown, a terminal that went away."""

from __future__ import annotations

import signal
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import anyio

from atr_client.cell.isolation import outcome_of

STOPPING = (signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Told:
    """The signal that asked to stop, None as long as none has."""

    signal: signal.Signals | None = None


async def cancel_on_signal(scope: anyio.CancelScope, told: Told) -> None:
    """Cancels a scope at the first SIGTERM or SIGHUP. One that `nohup` made ignored stays ignored."""
    wanted = [one for one in STOPPING if signal.getsignal(one) is not signal.SIG_IGN]
    if not wanted or threading.current_thread() is not threading.main_thread():
        return
    with anyio.open_signal_receiver(*wanted) as signals:
        async for received in signals:
            told.signal = received
            scope.cancel()
            return


async def until_told(run: Callable[[], Awaitable[None]]) -> None:
    """Runs, and raises what that raised; KeyboardInterrupt when a signal asked to stop before."""
    told, outcome = Told(), None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancel_on_signal, tasks.cancel_scope, told)
        outcome = await outcome_of(run)
        tasks.cancel_scope.cancel()
    if told.signal is not None:
        raise KeyboardInterrupt
    if isinstance(outcome, Exception):
        raise outcome


@contextmanager
def asked_to_stop() -> Generator[None]:
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
