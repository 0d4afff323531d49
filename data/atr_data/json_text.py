"""JSON as files of ours hold it."""

from __future__ import annotations

import json

import msgspec


def indented_json(value: object, indent: int = 2, *, ascii_only: bool = False) -> str:
    """The text that `json.dumps` gives with this indent, and a line's end; numbers must be finite. (The
    indenting encoder of the standard library is written in Python, and thirty times as slow.)

    Raises ValueError for what JSON cannot hold, and TypeError for what is no JSON value.
    """
    plain = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)
    return f"{msgspec.json.format(plain, indent=indent)}\n"
