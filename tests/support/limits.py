"""Waiting for programs and threads with a limit: what takes longer fails, and says what it was."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread, Timer
from typing import IO

PATIENCE = 60.0
"""Seconds."""


@contextmanager
def killed_when_late(process: subprocess.Popen[str], what: str, seconds: float = PATIENCE) -> Generator[None]:
    """Kills the program when the block takes longer, so that reading from it comes to an end."""
    late = Event()

    def kill() -> None:
        late.set()
        process.kill()

    timer = Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    assert not late.is_set(), f"{what} took longer than {seconds:.0f} s"


def first_lines(process: subprocess.Popen[str], stream: IO[str] | None, count: int, what: str) -> list[str]:
    """The next lines that a program writes; those behind its end are empty."""
    assert stream
    with killed_when_late(process, what):
        return [stream.readline() for _ in range(count)]


def exit_code(process: subprocess.Popen[str], what: str, seconds: float = PATIENCE) -> int:
    """How a program ends; one that does not is killed."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        process.kill()
        raise AssertionError(f"{what} did not end within {seconds:.0f} s") from error


def started(thread: Thread) -> Thread:
    """A thread that keeps no process alive."""
    thread.daemon = True
    thread.start()
    return thread


def join(thread: Thread, what: str, seconds: float = 2 * PATIENCE) -> None:
    thread.join(seconds)
    assert not thread.is_alive(), f"{what} did not end within {seconds:.0f} s"
