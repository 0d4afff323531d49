"""The call log of a cell: one JSON line per MCP call, in the order in which they were made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter

from atr_data.errors import DataError


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
    wall time. `note` tells what the receiving side did beyond the call, such as an argument it dropped."""

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


LogRecord = SessionStart | SessionEnd | CallRecord
_ADAPTER: TypeAdapter[LogRecord] = TypeAdapter(LogRecord)


class CallSink(Protocol):
    """Where call records go."""

    def append(self, record: LogRecord) -> None: ...


class CallLog:
    """Appends records to a file, each flushed as it is written. A torn last line is cut off first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        _cut_torn_line(path)
        self._stream = path.open("a", encoding="utf-8")

    def append(self, record: LogRecord) -> None:
        self._stream.write(record.model_dump_json(exclude_none=True) + "\n")
        self._stream.flush()

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _cut_torn_line(path: Path) -> None:
    if path.exists() and (data := path.read_bytes()) and not data.endswith(b"\n"):
        with path.open("r+b") as stream:
            stream.truncate(data.rfind(b"\n") + 1)


def read_calls(path: Path) -> Iterator[LogRecord]:
    """The records of a log. A torn last line is ignored.

    Raises DataError for a bad line anywhere else.
    """
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            yield _ADAPTER.validate_python(json.loads(line.decode()))
        except ValueError as error:
            raise DataError(f"line {number} is no call record: {ascii(line[:80])[1:]}", path=path) from error
