"""Trajectories and call logs for readers that need little of them, such as the score.

What is read here is checked as the full readers check it. Whatever does not fit is read again by the full
reader, which decides and says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta, Struct, field

from atr_data.calls import LogRecord, read_calls
from atr_data.errors import DataError
from atr_data.limits import check_arguments
from atr_data.load import trajectory_in
from atr_data.reading import StrPath, read_bytes
from atr_data.shared_memory import SharedMemory
from atr_data.trajectory import EventKind, Trajectory, spoken
from atr_data.usage import Usage

_LARGEST = 2**63 - 1
_SHORT = 2**16
"""Bytes of a file, or characters of arguments, that are below the limit on the bytes of arguments however
they are written."""

Int = Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)]
"""A larger one is left to the full reader."""

_Plain = None | bool | float | str | Int
_Shallow = _Plain | list[_Plain] | dict[str, _Plain]
_Value = _Plain | list[_Shallow] | dict[str, _Shallow]
"""Of an argument. Deeper ones, which are rare, are left to the full reader too."""

Arguments = dict[str, _Value]


class _Call(Struct, gc=False):
    id: str
    name: str
    arguments: Arguments = {}
    requestor: Literal["assistant", "user"] = "assistant"
    parse_error: str | None = None
    raw_arguments: str | None = None

    @property
    def sent(self) -> dict[str, Any]:
        """All of them: those that are unfit for the wire are left to the full reader."""
        return self.arguments

    def text(self, argument: str) -> str:
        return spoken(self.arguments.get(argument))


class _Message(Struct, gc=False):
    role: Literal["system", "user", "assistant", "tool"]
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None
    tool_error: bool | None = None
    turn_idx: Int = 0
    content: str | None = None


class _Event(Struct, gc=False):
    kind: EventKind
    turn_idx: Int
    was_hook_rescued: bool = False
    route: Literal["rule", "task"] | None = None
    is_strict_rule_question: bool | None = None
    rule_id: str | None = None
    cls_status: Literal["hit", "miss", "error"] | None = None
    attempt_idx: Int | None = None
    duplicate_count: Int | None = None
    cls_error: bool = False


class _Usage(Struct, gc=False):
    prompt_tokens: Int | None = 0
    completion_tokens: Int | None = 0
    total_tokens: Int | None = 0
    cached_tokens: Int | None = 0
    prompt_cache_hit_tokens: Int | None = 0
    reasoning_tokens: Int | None = 0
    calls: Int | None = 0
    calls_without_usage: Int | None = 0
    cost_usd: float | None = None
    estimated_usd: float | None = None


_COUNTS = _Usage.__struct_fields__[:8]


class _Retention(Struct, gc=False):
    stored: bool | None = None
    findable: bool | None = None


class _MemoryUse(Struct, gc=False):
    pushed_characters: Int = 0
    tool_calls: Int = 0
    returned_characters: Int = 0
    seconds: float = 0.0
    stored_bytes: Int = 0
    discarded_writes: Int = 0


class _Trajectory(Struct, gc=False):
    session_id: str
    session_type: Literal["learning", "test"]
    agent_variant: str
    messages: list[_Message] = []
    termination_reason: str = "agent_stop"
    termination_subreason: str | None = None
    step_count: Int = 0
    duration_seconds: float = 0.0
    interaction_events: list[_Event] = []
    reply_faults: dict[str, Int] = {}
    context_sha256: str | None = None
    rule_readable: bool | None = None
    retention: _Retention | None = None
    memory_use: _MemoryUse | None = None
    written_usage: dict[str, _Usage] = field(default_factory=dict[str, _Usage], name="token_usage")

    @property
    def token_usage(self) -> dict[str, Usage]:
        return {role: _usage(counted) for role, counted in self.written_usage.items()}


class _Record(Struct, gc=False, tag_field="record"):
    attempt: Int
    session_id: str
    session_type: Literal["learning", "test"]
    variant: str


class _Start(_Record, tag="session_start", gc=False):
    record = "session_start"


class _End(_Record, tag="session_end", gc=False):
    record = "session_end"


class _Logged(_Record, tag="call", gc=False, kw_only=True):
    record = "call"

    turn_idx: Int
    call_id: str
    caller: Literal["agent", "harness"]
    server: str
    tool: str
    arguments: Arguments
    result: str
    is_error: bool
    seconds: float
    note: str | None = None
    raw_arguments: str | None = None


_TRAJECTORY = msgspec.json.Decoder(_Trajectory)
_RECORD = msgspec.json.Decoder(_Start | _End | _Logged)


def skim_trajectory(path: StrPath, content: bytes, memory: SharedMemory | None = None) -> Trajectory:
    """The transcript in the content of a file, to be read from and not to be changed or written: it has what
    a score reads of a Trajectory under the same names, and nothing else. With `memory`, which goes from one
    file of a cell to the next, the system message may lack the memory text. Raises DataError as
    load_trajectory does."""
    read = memory.left_out(content) if memory else content
    try:
        _check_text(read)
        skimmed = _TRAJECTORY.decode(read)
    except (ValueError, RecursionError):
        return trajectory_in(content, Path(path))
    if read is not content and (not skimmed.messages or skimmed.messages[0].role != "system"):
        return trajectory_in(content, Path(path))
    if len(read) >= _SHORT and not all(map(_is_fit, skimmed.messages)):
        return trajectory_in(content, Path(path))
    return cast(Trajectory, skimmed)


def skim_calls(path: StrPath) -> Iterable[LogRecord]:
    """The records of a call log, to be read from and not to be changed or written. Raises DataError as
    read_calls does."""
    try:
        content = read_bytes(path)
        _check_text(content)
        found = _RECORD.decode_lines(content[: content.rfind(b"\n") + 1])
    except (DataError, ValueError, RecursionError):
        return read_calls(path)
    return cast("list[LogRecord]", found)


def _check_text(content: bytes) -> None:
    """Raises UnicodeDecodeError. ASCII, which most of it is, takes a tenth of the time."""
    if not content.isascii():
        content.decode()


def _is_fit(message: _Message) -> bool:
    return all(_is_short(c.arguments) or not check_arguments(c.arguments) for c in message.tool_calls or ())


def _is_short(arguments: dict[str, Any]) -> bool:
    """Below every limit on arguments: texts, numbers and truth values alone, and few of them."""
    length = 8 * len(arguments)
    for name, value in arguments.items():
        if isinstance(value, (list, dict)):
            return False
        length += len(name) + (len(value) if isinstance(value, str) else 0)
    return length < _SHORT


def _usage(counted: _Usage) -> Usage:
    counts = {name: getattr(counted, name) or 0 for name in _COUNTS}
    return Usage(**counts, cost_usd=counted.cost_usd, estimated_usd=counted.estimated_usd)
