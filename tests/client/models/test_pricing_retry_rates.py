"""What stands around every provider: prices, retries, ceilings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import anyio
import pytest
from genai_prices import Usage as PricedUsage
from genai_prices import calc_price

from atr_client.errors import WireError
from atr_client.models.catalogue import Catalogue, packaged_catalogue
from atr_client.models.pricing import cost_of
from atr_client.models.rates import RateCeiling
from atr_client.models.retry import RetryPolicy, with_retries
from atr_client.models.waits import WaitNotices
from atr_data.usage import Usage

MILLION = 1_000_000


def test_a_price_in_the_registry_wins_and_counts_cached_tokens() -> None:
    entry = {"wire": "openai_chat", "price": {"input": 2.0, "cached_input": 0.5, "output": 10.0}}
    mine = Catalogue.model_validate({"models": {"openai/gpt-5.4": entry}})
    usage = Usage(prompt_tokens=MILLION, cached_tokens=MILLION // 2, completion_tokens=MILLION // 10)
    model = packaged_catalogue().extended(mine).find("openai/gpt-5.4")
    assert cost_of(usage, model) == pytest.approx(1.0 + 0.25 + 1.0)


@pytest.mark.parametrize("price", [{"input": 2.0, "cached_input": 0.5, "output": 10.0}, None])
@pytest.mark.parametrize("counter", ["cached_tokens", "prompt_cache_hit_tokens"])
def test_no_more_of_a_prompt_is_cached_than_there_is(counter: str, price: dict[str, float] | None) -> None:
    mine = Catalogue.model_validate({"models": {"openai/gpt-5.4": {"price": price}}})
    model = packaged_catalogue().extended(mine).find("openai/gpt-5.4")
    said = Usage(prompt_tokens=MILLION, completion_tokens=0, **{counter: 5 * MILLION})
    cost = cost_of(said, model)
    assert cost == cost_of(Usage(prompt_tokens=MILLION, cached_tokens=MILLION), model)
    assert price is None or cost == 0.5
    assert cost is not None and cost > 0


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("gpt-5.4", ("gpt-5.4", "openai")),
        ("anthropic/claude-opus-4-7", ("claude-opus-4-7", "anthropic")),
        ("openrouter/openai/gpt-5.4", ("openai/gpt-5.4", "openrouter")),
        ("qwen/gpt-5.4", ("gpt-5.4", None)),
    ],
)
def test_without_one_the_public_price_list_is_asked(name: str, listed: tuple[str, str | None]) -> None:
    """A provider that the list does not have is left out of the question."""
    usage = Usage(prompt_tokens=MILLION, completion_tokens=MILLION, cached_tokens=MILLION // 2)
    priced = PricedUsage(input_tokens=MILLION, output_tokens=MILLION, cache_read_tokens=MILLION // 2)
    expected = calc_price(priced, listed[0], provider_id=listed[1]).total_price
    assert cost_of(usage, packaged_catalogue().find(name)) == float(expected) > 0


def test_without_a_price_for_cached_tokens_they_cost_what_others_do() -> None:
    mine = Catalogue.model_validate({"models": {"openai/gpt-5.4": {"price": {"input": 2.0, "output": 10.0}}}})
    usage = Usage(prompt_tokens=MILLION, prompt_cache_hit_tokens=MILLION // 4, cached_tokens=MILLION // 4)
    assert cost_of(usage, packaged_catalogue().extended(mine).find("gpt-5.4")) == 2.0


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    model = packaged_catalogue().find("openrouter/nobody/has-heard-of-it")
    assert cost_of(Usage(prompt_tokens=10), model) is None
    assert cost_of(Usage(prompt_tokens=10), packaged_catalogue().find("local/m")) == 0.0


class Flaky:
    """Fails with the given errors, one a call, then succeeds."""

    def __init__(self, *errors: WireError) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "fine"


async def attempt(flaky: Flaky, policy: RetryPolicy) -> tuple[str, list[float]]:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return await with_retries(flaky, policy, model="m", sleep=sleep), waits


async def test_retryable_failures_are_tried_again_with_growing_waits() -> None:
    flaky = Flaky(*[WireError("busy", retryable=True, status=503) for _ in range(4)])
    result, waits = await attempt(flaky, RetryPolicy(attempts=10, first=2.0, longest=5.0))
    assert (result, flaky.calls, len(waits)) == ("fine", 5, 4)
    assert all(2.0 <= wait <= 5.0 for wait in waits)


async def test_a_short_policy_waits_as_short_as_it_says() -> None:
    errors = [WireError("busy", retryable=True, retry_after=after) for after in (None, 0.0, 0.5)]
    _, waits = await attempt(Flaky(*errors), RetryPolicy(first=0.001, longest=0.002))
    assert all(0.001 <= wait <= 0.002 for wait in waits[:2]) and waits[2] == 0.5


async def test_retry_after_is_honoured() -> None:
    errors = [WireError("slow", retryable=True, status=429, retry_after=after) for after in (30.0, 60.0)]
    _, waits = await attempt(Flaky(*errors), RetryPolicy(longest=5.0, longest_asked=60.0))
    assert waits == [30.0, 60.0]


@pytest.mark.parametrize("attempts", [1, 10])
async def test_who_asks_for_more_than_five_minutes_is_not_waited_for_and_the_time_is_named(
    attempts: int,
) -> None:
    patient = Flaky(WireError("slow down", retryable=True, status=429, retry_after=300.0))
    if attempts > 1:
        assert await attempt(patient, RetryPolicy(attempts=attempts)) == ("fine", [300.0])
    flaky = Flaky(WireError("slow down", retryable=True, status=429, retry_after=300.5))
    with pytest.raises(
        WireError, match=r"slow down; it asks to wait 6 min, until \d{4}-\d\d-\d\d \d\d:\d\d UTC"
    ) as caught:
        await attempt(flaky, RetryPolicy(attempts=attempts))
    assert (caught.value.final, caught.value.retryable, flaky.calls) == (True, False, 1)


async def test_a_refusal_asks_for_no_wait() -> None:
    flaky = Flaky(WireError("no", retryable=False, status=400, retry_after=9999.0))
    with pytest.raises(WireError) as caught:
        await attempt(flaky, RetryPolicy())
    assert not caught.value.final


@pytest.mark.parametrize(
    ("asked", "waited"), [(3600.0, 3600.0), (1e9, 315_360_000.0), (1e300, 315_360_000.0)]
)
async def test_the_time_until_which_a_provider_refuses_is_named_ten_years_at_most(
    asked: float, waited: float
) -> None:
    before = datetime.now(UTC)
    with pytest.raises(WireError) as caught:
        await attempt(Flaky(WireError("no", retryable=True, status=429, retry_after=asked)), RetryPolicy())
    text = str(caught.value).rpartition("until ")[2].removesuffix(" UTC")
    until = datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
    earliest = before + timedelta(seconds=waited - 60)
    assert earliest <= until <= datetime.now(UTC) + timedelta(seconds=waited)
    assert (caught.value.status, caught.value.retry_after) == (429, asked)


async def test_who_is_told_of_waits_hears_status_and_reason() -> None:
    told: list[tuple[str, float, str]] = []
    errors = [
        WireError("busy", retryable=True, status=503, retry_after=30.0),
        WireError("no answer", retryable=True, retry_after=20.0),
    ]

    async def sleep(seconds: float) -> None: ...

    notices = WaitNotices(lambda *wait: told.append(wait))
    policy = RetryPolicy(longest=5.0)
    await with_retries(Flaky(*errors), policy, model="lab/m", sleep=sleep, notices=notices)
    assert told == [("lab/m", 30.0, "HTTP 503: busy"), ("lab/m", 20.0, "no answer")]


@pytest.mark.parametrize(("retryable", "calls"), [(False, 1), (True, 3)])
async def test_the_last_failure_comes_out(retryable: bool, calls: int) -> None:
    flaky = Flaky(*[WireError(f"no {n}", retryable=retryable) for n in range(9)])
    with pytest.raises(WireError, match=f"no {calls - 1}"):
        await attempt(flaky, RetryPolicy(attempts=3))
    assert flaky.calls == calls


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that sleeping moves forward."""
    clock = Clock()

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    monkeypatch.setattr(anyio, "sleep", sleep)
    return clock


async def test_requests_beyond_the_ceiling_wait_for_the_minute_to_pass(clock: Clock) -> None:
    ceiling = RateCeiling(requests_per_minute=2, clock=clock)
    moments: list[float] = []
    for _ in range(5):
        await ceiling.admit()
        moments.append(clock.now)
    assert moments == [100.0, 100.0, 160.0, 160.0, 220.0]


async def test_tokens_spent_hold_the_next_call_back(clock: Clock) -> None:
    ceiling = RateCeiling(tokens_per_minute=1000, clock=clock)
    for tokens, after in ((600, 10.0), (600, 20.0)):
        await ceiling.admit()
        clock.now += after
        ceiling.spent(tokens)
    assert clock.now == 130.0
    await ceiling.admit()
    assert clock.now == 170.0, "the first 600 leave the window 60 s after they were spent"


@pytest.mark.parametrize(
    ("spent", "waits"),
    [
        ([999], 0.0),
        ([1000], 60.0),
        ([400, 600], 60.0),
        ([1000, 1], 60.0),
        ([1, 1000], 61.0),
        ([1, 999, 1], 61.0),
        ([1, 1, 999], 61.0),
        ([600, 600, 600], 61.0),
        ([2000], 60.0),
    ],
)
async def test_a_call_begins_when_less_than_the_ceiling_is_spent(
    spent: list[int], waits: float, clock: Clock
) -> None:
    """Tokens are spent a second apart, beginning now; each leaves the window after a minute."""
    ceiling = RateCeiling(tokens_per_minute=1000, clock=clock)
    for second, tokens in enumerate(spent):
        clock.now = 100.0 + second
        ceiling.spent(tokens)
    clock.now = 100.0
    await ceiling.admit()
    assert clock.now - 100.0 == waits


@pytest.mark.parametrize("left", [0.25, 1.0, 59.75])
async def test_a_wait_of_less_than_a_second_is_waited_too(left: float, clock: Clock) -> None:
    ceiling = RateCeiling(requests_per_minute=1, clock=clock)
    await ceiling.admit()
    clock.now = 160.0 - left
    await ceiling.admit()
    assert clock.now == 160.0


async def test_every_wait_is_told(clock: Clock) -> None:
    ceiling = RateCeiling(requests_per_minute=1, clock=clock)
    told: list[float] = []
    for _ in range(3):
        await ceiling.admit(told.append)
    assert told == [60.0, 60.0]


async def test_tokens_that_come_in_while_a_call_waits_hold_it_back_further(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ceiling = RateCeiling(requests_per_minute=1, tokens_per_minute=100, clock=clock)
    await ceiling.admit()

    async def sleep(seconds: float) -> None:
        if clock.now == 100.0:
            clock.now += 30.0
            ceiling.spent(500)
            clock.now -= 30.0
        clock.now += seconds

    monkeypatch.setattr(anyio, "sleep", sleep)
    await ceiling.admit()
    assert clock.now == 190.0


@pytest.mark.parametrize(("shares", "at_once"), [(1, 5), (2, 2), (5, 1), (99, 1)])
async def test_of_a_share_of_a_ceiling_something_is_left(shares: int, at_once: int, clock: Clock) -> None:
    by_requests = RateCeiling(requests_per_minute=5, clock=clock)
    by_tokens = RateCeiling(tokens_per_minute=5, clock=clock)
    for ceiling in (by_requests, by_tokens):
        ceiling.take_share(shares)
        began, passed = clock.now, 0
        while clock.now == began:
            await ceiling.admit()
            ceiling.spent(1)
            passed += clock.now == began
        assert passed == at_once


@pytest.mark.parametrize("make", [RateCeiling, lambda: RateCeiling(None, None)])
async def test_without_a_ceiling_nothing_waits(make: Callable[[], RateCeiling], clock: Clock) -> None:
    ceiling = make()
    ceiling.take_share(2)
    for _ in range(50):
        await ceiling.admit()
        ceiling.spent(10_000)
    assert clock.now == 100.0
