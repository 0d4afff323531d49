"""How the numbers of a reply are read. They come from outside, so each is checked before it is counted."""

from __future__ import annotations

from typing import Annotated, TypeVar, cast

from pydantic import BaseModel, BeforeValidator

from atr_client.models.wires._reading import Part
from atr_data.usage import Usage

MOST_TOKENS = 100_000_000
"""Of one call. No model has such a context: a larger number is a fault of the provider."""

IMPOSSIBLE = -1
"""Stands for a count that cannot be true."""


def _count(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return IMPOSSIBLE
    return int(value)


Tokens = Annotated[int | None, BeforeValidator(_count)]
"""Null when it was left out."""

Section = TypeVar("Section", bound=BaseModel)


def _section(value: object) -> object:
    return cast("object", value) if isinstance(value, dict | Part) else None


IfObject = Annotated[Section | None, BeforeValidator(_section)]
"""A part of a reply that holds numbers; what is no object counts as left out."""


def total_of(count: int | None, *parts: int | None) -> int | None:
    """A count with what a provider counts beside it; parts that were left out are none."""
    if count is None or IMPOSSIBLE in (count, *parts):
        return IMPOSSIBLE if IMPOSSIBLE in (count, *parts) else None
    return count + sum(part or 0 for part in parts)


def counted(
    *,
    prompt: int | None,
    completion: int | None,
    total: int | None = None,
    cached: int | None = None,
    cache_hit: int | None = None,
    reasoning: int | None = None,
) -> Usage | None:
    """The usage of one call; None when it is not known what the call took, because the prompt was not counted
    or a count cannot be true. Of the details what cannot be true counts as 0."""
    if prompt is None or IMPOSSIBLE in (prompt, completion):
        return None
    completion = completion or 0
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=max(total or 0, 0) or prompt + completion,
        cached_tokens=max(cached or 0, 0),
        prompt_cache_hit_tokens=max(cache_hit or 0, 0),
        reasoning_tokens=max(reasoning or 0, 0),
        calls=1,
    )
