"""Files that are there whole or not at all, and failures that say which file they are about."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from atr_data.reading import StrPath, Unreadable, read_bytes


def write_atomic(path: StrPath, text: str, *, durable: bool = True) -> None:
    """Writes UTF-8 text so that a crash at any instant leaves the old file or the new one. Without `durable`
    that holds for a crash of the program; one of the machine may leave an empty file.

    Raises OSError with the path as the file system does; the temporary file is then gone.
    """
    path = Path(path)
    _replace(path, text, durable=durable)
    if durable:
        with naming(path):
            _sync_folder(path.parent)


def write_if_new(path: StrPath, text: str) -> None:
    """As write_atomic does without `durable`. A file that holds this text already is dated anew and no more,
    which takes a tenth of the time."""
    try:
        same = read_bytes(path) == text.encode()
    except Unreadable:
        same = False
    if same:
        os.utime(path)
    else:
        write_atomic(path, text, durable=False)


def write_all_atomic(files: Sequence[tuple[Path, str]]) -> list[OSError | None]:
    """Writes each file as write_atomic does, and syncs each folder once at the end. Gives what went wrong
    with each."""
    problems: list[OSError | None] = [_problem(path, text) for path, text in files]
    for folder in dict.fromkeys(path.parent for path, _ in files):
        try:
            with naming(folder):
                _sync_folder(folder)
        except OSError as error:
            problems = [
                problem or (error if path.parent == folder else None)
                for problem, (path, _) in zip(problems, files, strict=True)
            ]
    return problems


def _problem(path: Path, text: str) -> OSError | None:
    try:
        _replace(path, text, durable=True)
    except OSError as error:
        return error
    return None


def _replace(path: Path, text: str, *, durable: bool) -> None:
    temporary = path.with_name(path.name + ".tmp")
    with naming(path):
        try:
            with temporary.open("w", encoding="utf-8") as stream:
                stream.write(text)
                if durable:
                    stream.flush()
                    os.fsync(stream.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_for_append(path: Path) -> BinaryIO:
    """A file, made if need be, that is written without a buffer; seeking and truncating are allowed.

    Raises Unreadable when the path is a folder, a pipe or a device, and OSError as the file system does.
    """
    with naming(path):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK, 0o666)
        except IsADirectoryError as error:
            raise Unreadable("cannot be written: it is a folder", path=path) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Unreadable("cannot be written: it is no regular file", path=path)
    return os.fdopen(descriptor, "r+b", buffering=0)


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Puts the file's name into a failure that has none: "no space left" alone helps nobody."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise
