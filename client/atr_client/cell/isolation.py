"""The one place where a failure of any kind is kept from reaching its neighbours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def outcome_of(work: Callable[[], Awaitable[T]]) -> T | Exception:
    """What the work returns, or the exception that ended it.

    A sweep promises that one failed cell stops no other, and a cell that test sessions under way run to
    their end; both hold only when an unforeseen error is caught as well. Callers log what they get.
    Cancellation is no exception in this sense and passes.
    """
    try:
        return await work()
    except Exception as error:  # noqa: BLE001
        return error
