"""Files that no reader can use, each a kind of damage."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

Damage = Callable[[Path], object]

_DEEP = b"[" * 100_000
_BOMB = b"a0: &a0 [xxxxxxxxxxxxxxxx, x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 10)
)


def _sparse(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(65 * 2**20)


def _written(content: bytes) -> Damage:
    return lambda path: path.write_bytes(content)


ANY: Mapping[str, Damage] = {
    "missing": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "binary": _written(b"\x7fELF\x00\xff\xfe\x80\n\x00"),
    "large": _sparse,
}
"""Whatever the format."""

JSON: Mapping[str, Damage] = {
    **ANY,
    "empty": _written(b""),
    "cut off": _written(b'{"a": "b'),
    "deep": _written(_DEEP),
    "150 levels": _written(b"[" * 150 + b"]" * 150),
    "5,000 digits": _written(b'{"a": ' + b"9" * 5000 + b"}"),
    "400 digits": _written(b'{"a": ' + b"9" * 400 + b"}"),
    "1e999": _written(b'{"a": 1e999}'),
    "NaN": _written(b'{"a": NaN}'),
    "lone surrogate": _written(b'{"a": "\\ud800"}'),
    "a list": _written(b"[1]"),
    "a number": _written(b"5"),
    "null": _written(b"null"),
}

YAML: Mapping[str, Damage] = {
    **ANY,
    "deep": _written(_DEEP),
    "deep blocks": _written(b"- " * 5000),
    "150 levels": _written(b"[" * 150 + b"]" * 150),
    "alias bomb": _written(_BOMB),
    "alias in itself": _written(b"a: &a [*a]\n"),
    "5,000 digits": _written(b"a: " + b"9" * 5000 + b"\n"),
    "no such date": _written(b"a: 2020-99-99\n"),
    "tag": _written(b"a: !!python/object:os.system x\n"),
    "wrong tag": _written(b"a: !!timestamp x\n"),
    "twice": _written(b"a: 1\na: 2\n"),
    "control": _written(b"a: \x07\n"),
    "a list": _written(b"- a\n"),
}
"""A source takes dates and long digits for text, and refuses what they stand in."""

LINES: Mapping[str, Damage] = {
    **ANY,
    "deep": _written(_DEEP + b"\n"),
    "5,000 digits": _written(b'{"a": ' + b"9" * 5000 + b"}\n"),
    "cut off": _written(b'{"a": "b\n'),
    "a list": _written(b"[1]\n"),
    "lone surrogate": _written(b'{"a": "\\ud800"}\n'),
}

TABLE: Mapping[str, Damage] = {
    **ANY,
    "empty": _written(b""),
    "other columns": _written(b"a,b\n1,2\n"),
    "long field": _written(b"kind persona,\n" + b"x" * 200_000),
}
