"""Structured logs: JSON lines in the cell's `run.log`, readable lines on a terminal.

Where lines go is held in context variables, so cells and sessions that run at once never mix, and a program
that embeds the benchmark keeps its own logging. Prompts and keys are never put into a line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

from atr_data.files import naming, open_for_append

_CELL_FILE: ContextVar[_RunLog | None] = ContextVar("atr_cell_file", default=None)
_TERMINAL: ContextVar[Callable[[str], None] | None] = ContextVar("atr_terminal", default=None)
_SHOWN_LEVELS = ("warning", "error", "critical")
_RENDER_HUMAN = structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0)


class _RunLog:
    """Lines in a file, each written through at once; a line that was cut off is ended first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream = open_for_append(path)
        if self._stream.seek(0, os.SEEK_END):
            self._stream.seek(-1, os.SEEK_END)
            if self._stream.read(1) != b"\n":
                self._stream.write(b"\n")

    def write(self, line: str) -> None:
        with naming(self._path):
            self._stream.write(f"{line}\n".encode("utf-8", "replace"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()


def get_logger() -> FilteringBoundLogger:
    """A logger whose lines go to the cell and the terminal in whose context it is called."""
    return structlog.wrap_logger(None, processors=_processors())


def route_structlog() -> None:
    """Sends what other packages log through structlog the same way. For programs, not for libraries."""
    structlog.configure(processors=_processors(), logger_factory=lambda *_: None)


@contextmanager
def cell_log(path: Path, cell_id: str) -> Generator[None]:
    """Appends this context's lines to `path`, with the cell's id bound; a failure inside is logged last."""
    with _RunLog(path) as stream:
        token = _CELL_FILE.set(stream)
        try:
            with structlog.contextvars.bound_contextvars(cell=cell_id):
                try:
                    yield
                except Exception:
                    get_logger().info("cell failed", exc_info=True)
                    raise
        finally:
            _CELL_FILE.reset(token)


@contextmanager
def terminal_log(show: Callable[[str], None]) -> Generator[None]:
    """Also hands warnings and errors of this context to `show`, one readable line each."""
    token = _TERMINAL.set(show)
    try:
        yield
    finally:
        _TERMINAL.reset(token)


def _processors() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _deliver,
    ]


def _deliver(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    if stream := _CELL_FILE.get():
        formatted = structlog.processors.format_exc_info(logger, method, dict(event))
        stream.write(json.dumps(formatted, ensure_ascii=False, default=repr))
    show = _TERMINAL.get()
    if show and event["level"] in _SHOWN_LEVELS:
        brief: dict[str, Any] = {key: value for key, value in event.items() if key != "exc_info"}
        show(str(_RENDER_HUMAN(logger, method, brief)))
    raise structlog.DropEvent
