"""The one way in for files from outside: bounded in size, depth and numbers, and refused in one line.

Whatever a file holds, a reader here gives its content or raises Unreadable: it never waits for a pipe, never
fills the memory, and never fails in another way.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar, cast

import msgspec

from atr_data.errors import DataError

MAX_BYTES = 64 * 2**20
"""Size of a file that is read as a whole."""

MAX_LINE_BYTES = 64 * 2**20
"""Length of one line of a file of records; such a file may have any number of lines."""

MAX_NESTING = 100
"""Levels of objects and lists in a file."""

LONGEST_INTEGER = 309
"""Digits of an integer in the range of a double."""

TOO_DEEP = f"nested too deeply: more than {MAX_NESTING} levels"

StrPath = str | os.PathLike[str]
T = TypeVar("T")

_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER = b"0" * (LONGEST_INTEGER + 1)
"""With all digits as zeros: found in a fraction of the time that a pattern takes."""

_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class Unreadable(DataError):
    """A file that cannot be taken in at all. `line` counts from 1 and is None where there is none to name;
    `problem` is the reason without it."""

    def __init__(self, problem: str, *, path: Path | None = None, line: int | None = None) -> None:
        self.line, self.problem = line, problem
        super().__init__(problem if line is None else f"line {line} {problem}", path=path)


class Missing(Unreadable):
    """There is no such file."""

    def __init__(self, path: Path, problem: str = "cannot be read: no such file") -> None:
        super().__init__(problem, path=path)


def path_problem(path: StrPath) -> str | None:
    """What keeps a text from naming any file, or None."""
    text = os.fspath(path)
    if "\0" in text:
        return f"no path can hold a NUL: {text!a:.80}"
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return f"no path can hold a lone surrogate: {text!a:.80}"
    return None


def read_bytes(path: StrPath, *, limit: int = MAX_BYTES) -> bytes:
    """The content of a regular file. Raises Unreadable."""
    descriptor, size = _opened(path)
    parts: list[bytes] = []
    length, wanted = 0, min(size, limit) + 1
    try:
        while part := os.read(descriptor, wanted):
            parts.append(part)
            length += len(part)
            if length == size or length > limit:
                break  # more was asked for than the size: this is all, or too much
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", path=Path(path)) from error
    finally:
        os.close(descriptor)
    content = parts[0] if len(parts) == 1 else b"".join(parts)
    if length > limit:
        raise Unreadable(f"is larger than {limit:,} bytes", path=Path(path))
    return content


def read_text(path: StrPath, *, limit: int = MAX_BYTES) -> str:
    """UTF-8 text. Raises Unreadable."""
    return _decoded(read_bytes(path, limit=limit), Path(path))


def read_json(path: StrPath) -> Any:
    """Strict JSON: no NaN, no number beyond a double, no text that cannot be written again. Raises
    Unreadable."""
    try:
        text = read_text(path)
    except Missing as error:
        raise Missing(Path(path), "no such file") from error
    return _parsed(text, Path(path))


def parse_json(content: bytes, path: Path) -> Any:
    """What `read_json` makes of a file with this content. Raises Unreadable."""
    return _parsed(_decoded(content, path), path)


def read_records(
    path: StrPath, validate: Callable[[Any], T], what: str, *, torn_end: bool = False
) -> Iterator[T]:
    """The JSON lines of a file, each made into a record by `validate`; blank lines are passed over.

    `torn_end`: a last line without its end was cut off while it was written, and does not count. Raises
    Unreadable, in which `what` names the records.
    """
    place = Path(path)
    with os.fdopen(_opened(path)[0], "rb") as stream:
        for number, line in enumerate(_lines(stream, place), start=1):
            if (torn_end and not line.endswith(b"\n")) or not line.strip():
                continue
            try:
                record = validate(_parsed(_decoded(line, place), place))
            except Unreadable as error:
                raise Unreadable(f"is no {what}: {error.problem}", path=place, line=number) from error
            except ValueError as error:
                excerpt = ascii(line[:80])[1:]
                raise Unreadable(f"is no {what}: {excerpt}", path=place, line=number) from error
            yield record


def _opened(path: StrPath) -> tuple[int, int]:
    """Descriptor and size. Opens without waiting: a pipe without a writer would block."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise Missing(Path(path)) from error
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", path=Path(path)) from error
    except ValueError as error:
        raise Unreadable(path_problem(path) or str(error)) from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "no regular file")
        raise Unreadable(f"cannot be read: it is {kind}", path=Path(path))
    return descriptor, status.st_size


def _lines(stream: BinaryIO, path: Path) -> Iterator[bytes]:
    try:
        while line := stream.readline(MAX_LINE_BYTES + 1):
            if len(line) > MAX_LINE_BYTES:
                raise Unreadable(f"a line is longer than {MAX_LINE_BYTES:,} bytes", path=path)
            yield line
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror}", path=path) from error


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 text (byte {error.start})", path=path) from error


def _parsed(text: str, path: Path) -> Any:
    """A fast reader takes what is sound; what it refuses goes to one that can say what is wrong."""
    written = text.encode()
    try:
        data = msgspec.json.decode(written)
        sound = _LONG_INTEGER not in written.translate(_DIGITS_AS_ZERO)
    except (ValueError, RecursionError):
        data, sound = None, False
    if not sound:
        data = _slowly_parsed(text, path)
    if written.count(b"{") + written.count(b"[") > MAX_NESTING and _is_deep(data):
        raise Unreadable(TOO_DEEP, path=path)
    return data


def _slowly_parsed(text: str, path: Path) -> Any:
    try:
        data = json.loads(text, parse_constant=_no_constant, parse_int=_integer, parse_float=_float)
        if _ESCAPED_SURROGATE.search(text):
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Unreadable("holds a lone surrogate, which no text can hold", path=path) from error
    except json.JSONDecodeError as error:
        open_end = error.msg.startswith("Unterminated") or error.pos >= len(text.rstrip()) - 1
        cut = "; the file seems cut off" if open_end else ""
        reason = f"not JSON: {error.msg} at line {error.lineno} column {error.colno}{cut}"
        raise Unreadable(reason, path=path) from error
    except RecursionError as error:
        raise Unreadable(TOO_DEEP, path=path) from error
    except ValueError as error:
        raise Unreadable(f"not JSON: {error}", path=path) from error
    return data


def _is_deep(data: object) -> bool:
    """Goes down level by level, over what can hold something alone."""
    level: list[Any] = [data] if isinstance(data, dict | list) else []
    for _ in range(MAX_NESTING):
        if not level:
            return False
        below: list[Any] = []
        for value in level:
            below += cast(Any, value).values() if type(value) is dict else value
        level = [one for one in below if type(one) is dict or type(one) is list]
    return bool(level)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_INTEGER:
        raise ValueError(f"a number of {len(digits):,} digits is out of range")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is out of range")
    return number
