"""Prints how long the timing track takes without a model: `python tests/benchmarks/bench_timing.py`.

First the whole `lite` split with every player through `atr-client run`, as a person would start it; then the
seconds per event of one player, per user and per event, for sets of one to eight users and for sittings of
growing length: both should stay flat.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import anyio

from atr_client.timing.choosers.chooser import User
from atr_client.timing.choosers.reader import Reader
from atr_client.timing.direct import play_directly
from atr_client.timing.playing import play_user
from atr_data.timing.events import Sitting
from atr_datagen.timing.generate import generate
from atr_datagen.timing.settings import Settings
from atr_evaluator.timing import score_timing

LENGTHS = (250, 500, 1000, 2000, 4000)


def whole_run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "atr_client.cli", "run", "--config", "timing", "--outputs", folder]
        for what in ("the set written, all played", "all kept"):
            started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(
                f"lite with every player, {what}: {time.perf_counter() - started:.1f} s, {spent:.1f} s of CPU"
            )


def long_sitting(user: User, length: int) -> User:
    """The user with one sitting of that many events of the past."""
    events = [event for event in user.stream.events if not event.self_help][:length]
    sitting = Sitting(
        sitting_id="long",
        first_event=events[0].event_id,
        last_event=events[-1].event_id,
        t_end=events[-1].t_release,
    )
    header = user.stream.header.model_copy(update={"sittings": (sitting,)})
    return replace(user, stream=user.stream.model_copy(update={"header": header}))


def per_event(user: User) -> None:
    for length in LENGTHS:
        one = long_sitting(user, length)
        started = time.perf_counter()
        play = anyio.run(play_user, Reader(), one)
        served = time.perf_counter() - started
        started = time.perf_counter()
        score_timing([play])
        scored = time.perf_counter() - started
        events = len(one.stream.events_of(one.stream.header.sittings[0]))
        print(
            f"{events:5} events: served in {1e3 * served / events:.2f} ms each, "
            f"scored in {1e6 * scored / events:.0f} us each"
        )


def per_user() -> None:
    for number in (1, 2, 4, 8):
        started = time.perf_counter()
        users = [User(one.stream, one.gold) for one in generate(Settings(split="lite"), users=number)]
        made = time.perf_counter() - started
        started = time.perf_counter()
        score_timing([play_directly(Reader(), user) for user in users])
        events = sum(len(user.stream.events) for user in users)
        print(
            f"{number} users, {events} events: generated in {1e6 * made / events:.0f} us each, "
            f"played and scored in {1e6 * (time.perf_counter() - started) / events:.0f} us each"
        )


def main() -> None:
    whole_run()
    user = next(User(one.stream, one.gold) for one in generate(Settings(split="lite"), users=1))
    per_event(user)
    per_user()


if __name__ == "__main__":
    main()
