"""The call log of a cell: one JSON line per MCP call, in the order in which they were made."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter

from atr_data.files import naming, open_for_append
from atr_data.reading import StrPath, read_records

_BLOCK = 2**16


class SessionRecord(BaseModel):
    """`attempt` counts the starts of one session over all runs of the cell, from 1."""

    model_config = ConfigDict(extra="ignore")

    attempt: int
    session_id: str
    session_type: Literal["learning", "test"]
    variant: str


class SessionStart(SessionRecord):
    record: Literal["session_start"] = "session_start"


class SessionEnd(SessionRecord):
    """Written after the session's trajectory is on disk."""

    record: Literal["session_end"] = "session_end"


class CallRecord(SessionRecord):
    """One call. `turn_idx` is the assistant message that made it (for the harness: the message index it
    was made at), `arguments` are those that were sent, `result` is the text that came back, `seconds` the
    wall time. `note` tells what the receiving side did beyond the call, such as an argument it dropped.
    `raw_arguments` is the text of arguments that could not be used: `arguments` are {} then."""

    record: Literal["call"] = "call"
    turn_idx: int
    call_id: str
    caller: Literal["agent", "harness"]
    server: str
    tool: str
    arguments: dict[str, Any]
    result: str
    is_error: bool
    seconds: float
    note: str | None = None
    raw_arguments: str | None = None


LogRecord = SessionStart | SessionEnd | CallRecord
_ADAPTER: TypeAdapter[LogRecord] = TypeAdapter(LogRecord)


class CallSink(Protocol):
    """Where call records go."""

    def append(self, record: LogRecord, /) -> None: ...


class CallLog:
    """Appends records to a file, each written through at once. A torn last line is cut off first.

    Raises DataError when the path is no file, and OSError with the path as the file system does; a record
    that could not be written whole is taken back.
    """

    def __init__(self, path: StrPath) -> None:
        self._path = Path(path)
        self._stream = open_for_append(self._path)
        _cut_torn_line(self._stream)

    def append(self, record: LogRecord) -> None:
        line = record.model_dump_json(exclude_none=True).encode() + b"\n"
        before = self._stream.seek(0, os.SEEK_END)
        with naming(self._path):
            try:
                while line:
                    line = line[self._stream.write(line) :]
            except OSError:
                with suppress(OSError):
                    self._stream.truncate(before)
                raise

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _cut_torn_line(stream: BinaryIO) -> None:
    """Looks for the last line's end from the end: what is behind it was not written whole."""
    position = stream.seek(0, os.SEEK_END)
    while position:
        start = max(0, position - _BLOCK)
        stream.seek(start)
        found = stream.read(position - start).rfind(b"\n")
        if found >= 0:
            stream.truncate(start + found + 1)
            return
        position = start
    stream.truncate(0)


def read_calls(path: StrPath) -> Iterator[LogRecord]:
    """The records of a log. A torn last line is ignored.

    Raises DataError when the file cannot be read, and for a bad line anywhere else.
    """
    return read_records(path, _ADAPTER.validate_python, "call record", torn_end=True)
