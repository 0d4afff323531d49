"""One retry policy for all providers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from atr_client.errors import WireError
from atr_client.logs import get_logger
from atr_client.models.waits import WaitNotices, span

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts` in all; waits grow exponentially with jitter between `first` and `longest` seconds, and are
    never shorter than what the provider asks for in Retry-After. One that asks for more than `longest_asked`
    seconds is not waited for at all."""

    attempts: int = 10
    first: float = 2.0
    longest: float = 90.0
    longest_asked: float = 300.0

    def asks_too_much(self, error: WireError) -> bool:
        return error.retryable and (error.retry_after or 0.0) > self.longest_asked


Sleep = Callable[[float], Awaitable[None]]


async def with_retries(
    call: Callable[[], Awaitable[Result]],
    policy: RetryPolicy,
    *,
    model: str,
    sleep: Sleep | None = None,
    notices: WaitNotices | None = None,
) -> Result:
    """The result of the first attempt that succeeds. Each failed attempt is logged with its wait, and told
    of when it is long.

    Raises the last WireError when the attempts are spent, and at once one that is not retryable, or that asks
    for too long a wait: it is final then, and its text names the time.
    """
    log = get_logger()
    notices = notices or WaitNotices()
    backoff = wait_random_exponential(multiplier=policy.first, min=policy.first, max=policy.longest)

    def wait(state: RetryCallState) -> float:
        return max(_error(state).retry_after or 0.0, backoff(state))

    def tell(state: RetryCallState) -> None:
        error = _error(state)
        log.warning(
            "model call failed, trying again",
            model=model,
            attempt=state.attempt_number,
            status=error.status,
            reason=str(error),
            wait_seconds=round(state.upcoming_sleep, 2),
        )
        notices.tell(model, state.upcoming_sleep, _told(error))

    retrying = AsyncRetrying(
        stop=stop_after_attempt(policy.attempts),
        wait=wait,
        retry=retry_if_exception(lambda error: isinstance(error, WireError) and error.retryable),
        before_sleep=tell,
        sleep=sleep or anyio.sleep,
        reraise=True,
    )

    async def attempt() -> Result:
        """tenacity awaits what it can see to be a coroutine function, which `call` need not be."""
        try:
            return await call()
        except WireError as error:
            if policy.asks_too_much(error):
                raise _too_long(error) from error
            raise

    return await retrying(attempt)


def _too_long(error: WireError) -> WireError:
    seconds = error.retry_after or 0.0
    again = datetime.now(UTC) + timedelta(seconds=min(seconds, 10 * 365 * 86_400))
    reason = f"{error}; it asks to wait {span(seconds)}, until {again:%Y-%m-%d %H:%M} UTC"
    return WireError(reason, retryable=False, final=True, status=error.status, retry_after=seconds)


def _told(error: WireError) -> str:
    return f"HTTP {error.status}: {error}" if error.status else str(error)


def _error(state: RetryCallState) -> WireError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, WireError)
    return error
