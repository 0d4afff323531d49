"""JSON as files of ours hold it."""

from __future__ import annotations

import json
from collections import OrderedDict

import msgspec

from atr_data.episode import Episode

_KEPT = 4
_written: OrderedDict[int, tuple[Episode, bytes]] = OrderedDict()


def indented_json(value: object, indent: int = 2, *, ascii_only: bool = False) -> str:
    """The text that `json.dumps` gives with this indent, and a line's end; numbers must be finite. (The
    indenting encoder of the standard library is written in Python, and thirty times as slow.)

    Raises ValueError for what JSON cannot hold, and TypeError for what is no JSON value.
    """
    plain = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)
    return f"{msgspec.json.format(plain, indent=indent)}\n"


def episode_json(episode: Episode) -> bytes:
    """An episode as JSON in UTF-8, of which digests are made. Episodes do not change, so the texts of the
    last few are kept."""
    kept = _written.pop(id(episode), None) or (episode, episode.model_dump_json().encode())
    _written[id(episode)] = kept
    while len(_written) > _KEPT:
        _written.popitem(last=False)
    return kept[1]
