"""One retry policy for all providers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from atr_client.errors import WireError
from atr_client.logs import get_logger

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts` in all; waits grow exponentially with jitter between `first` and `longest` seconds, and are
    never shorter than what the provider asks for in Retry-After (up to `longest_asked` seconds)."""

    attempts: int = 10
    first: float = 2.0
    longest: float = 90.0
    longest_asked: float = 600.0


Sleep = Callable[[float], Awaitable[None]]


async def with_retries(
    call: Callable[[], Awaitable[Result]], policy: RetryPolicy, *, model: str, sleep: Sleep = anyio.sleep
) -> Result:
    """The result of the first attempt that succeeds. Each failed attempt is logged with its wait.

    Raises the last WireError when the attempts are spent, and at once one that is not retryable.
    """
    log = get_logger()
    backoff = wait_random_exponential(multiplier=policy.first, min=policy.first, max=policy.longest)

    def wait(state: RetryCallState) -> float:
        error = _error(state)
        asked = min(error.retry_after or 0.0, policy.longest_asked)
        return max(asked, backoff(state))

    def tell(state: RetryCallState) -> None:
        error = _error(state)
        log.warning(
            "model call failed, trying again",
            model=model,
            attempt=state.attempt_number,
            status=error.status,
            wait_seconds=round(state.upcoming_sleep, 2),
        )

    retrying = AsyncRetrying(
        stop=stop_after_attempt(policy.attempts),
        wait=wait,
        retry=retry_if_exception(lambda error: isinstance(error, WireError) and error.retryable),
        before_sleep=tell,
        sleep=sleep,
        reraise=True,
    )

    async def attempt() -> Result:
        """tenacity awaits what it can see to be a coroutine function, which `call` need not be."""
        return await call()

    return await retrying(attempt)


def _error(state: RetryCallState) -> WireError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, WireError)
    return error
