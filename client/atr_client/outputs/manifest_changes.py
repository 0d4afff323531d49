"""What differs between two manifests, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

_SHOWN = 60


def explained(existing: Mapping[str, Any], now: Mapping[str, Any], fields: Sequence[str]) -> str:
    """Why a cell cannot go on: what differs in these fields of two manifests, and what can be done."""
    if "model_settings" in fields:
        fields = [name for name in fields if name != "model_sha256"]
    changes = "; ".join(change for name in fields for change in _changes(name, existing.get(name), now[name]))
    return (
        f"the cell was made by a different run: {changes}. "
        "Start it over with --fresh, write to another --outputs folder, or go on with --allow-stale-resume"
    )


def _changes(name: str, was: Any, now: Any) -> Iterator[str]:
    """Old and new value of what differs, down to the single field; a digest says less than what stands beside
    it, and is told alone only."""
    if not isinstance(was, dict) or not isinstance(now, dict):
        yield f"{name} was {_short(was)}, is {_short(now)}"
        return
    old, new = cast(dict[str, Any], was), cast(dict[str, Any], now)
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    told = [] if name == "prompt_hashes" else [key for key in keys if key != "sha256"] or keys
    details = [change for key in told for change in _changes(f"{name}.{key}", old.get(key), new.get(key))]
    if "." in name:
        yield from details
    else:
        yield ": ".join(filter(None, (f"{name} differs in {', '.join(keys)}", ", ".join(details))))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
