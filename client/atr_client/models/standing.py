"""Whether it makes sense to call a model: its provider may have refused it for good."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from atr_client.errors import ModelStopped

Result = TypeVar("Result")


@dataclass(slots=True)
class Standing:
    """Of one model in a sweep, shared by all who call it."""

    refused: str | None = None
    _under_way: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])

    def stop(self, reason: str) -> None:
        """Ends all calls that are under way or wait for their turn, and every one to come, with this reason;
        a second reason changes nothing."""
        if self.refused is None:
            self.refused = reason
            for scope in self._under_way:
                scope.cancel()

    async def guarded(self, call: Callable[[], Awaitable[Result]]) -> Result:
        """The result of a call, unless the model is stopped before it comes. Raises ModelStopped then."""
        if self.refused is None:
            with anyio.CancelScope() as scope:
                self._under_way.add(scope)
                try:
                    return await call()
                finally:
                    self._under_way.discard(scope)
        raise ModelStopped(self.refused or "stopped")
