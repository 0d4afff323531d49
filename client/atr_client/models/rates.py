"""Ceilings on requests and tokens per minute, for providers that count them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import anyio

WINDOW = 60.0


class RateCeiling:
    """Lets a call begin when the last minute holds fewer than so many requests and tokens.

    Tokens are known only afterwards, so calls under way may overshoot; the next ones then wait it out.
    """

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._requests_per_minute = requests_per_minute
        self._tokens_per_minute = tokens_per_minute
        self._clock = clock
        self._requests: deque[float] = deque()
        self._tokens: deque[tuple[float, int]] = deque()
        self._lock = anyio.Lock()

    def take_share(self, shares: int) -> None:
        """From now on this is one of so many ceilings over the same provider."""
        if self._requests_per_minute is not None:
            self._requests_per_minute = max(1, self._requests_per_minute // shares)
        if self._tokens_per_minute is not None:
            self._tokens_per_minute = max(1, self._tokens_per_minute // shares)

    async def admit(self, tell: Callable[[float], None] = lambda seconds: None) -> None:
        """Returns when a call may begin. `tell` is given the seconds of every wait before it."""
        async with self._lock:
            while (wait := self._seconds_to_wait()) > 0:
                tell(wait)
                await anyio.sleep(wait)
            self._requests.append(self._clock())

    def spent(self, tokens: int) -> None:
        self._tokens.append((self._clock(), tokens))

    def _seconds_to_wait(self) -> float:
        horizon = self._clock() - WINDOW
        while self._requests and self._requests[0] <= horizon:
            self._requests.popleft()
        while self._tokens and self._tokens[0][0] <= horizon:
            self._tokens.popleft()
        waits = [0.0]
        if self._requests_per_minute is not None and len(self._requests) >= self._requests_per_minute:
            waits.append(self._requests[0] - horizon)
        if self._tokens_per_minute is not None:
            excess = sum(tokens for _, tokens in self._tokens) - self._tokens_per_minute
            for moment, tokens in self._tokens:
                if excess < 0:
                    break
                waits.append(moment - horizon)
                excess -= tokens
        return max(waits)
