"""Prints what generated days are like: `python tests/benchmarks/days_timing.py [--users 40] [--salts 5]`.

Events, scenes and hours of a day; how often a need's target is the file last in focus; and how far the
application in which a scene ends betrays the intent among the users of a role.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from atr_data.timing.gold import Need
from atr_datagen.timing.base import Base, compile_base
from atr_datagen.timing.lexicon import load_lexicon
from atr_datagen.timing.needs import decide_needs
from atr_datagen.timing.settings import Settings


def spread(name: str, values: Sequence[float]) -> str:
    return f"{name}: {fmean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def describe(bases: Sequence[Base], days: int) -> None:
    ends: list[float] = []
    for base in bases:
        last = {
            day: base.events[end - 1].t_release for day, (_, end) in zip(base.days, base.blocks, strict=True)
        }
        ends.extend(at.hour + at.minute / 60 for at in last.values())
    print(f"{len({base.walk.chronicle.job for base in bases})} jobs, {len(bases)} users")
    print(spread("events a day, by user", [len(base.events) / days for base in bases]))
    print(spread("scenes a user", [len(base.scenes) for base in bases]))
    print(spread("events a block, by user", [len(base.events) / len(base.blocks) for base in bases]))
    print(spread("hour at which a day ends", ends))


def target_last(base: Base, needs: Sequence[Need]) -> list[bool]:
    shown = [(event.t_release, event.target) for event in base.events if event.target]
    wanted = [need for need in needs if need.target is not None]
    return [[name for at, name in shown if at < need.t_onset][-1] == need.target for need in wanted]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--salts", type=int, default=5)
    given = parser.parse_args()
    lexicon, settings = load_lexicon(), Settings()
    bases = [compile_base(settings, lexicon, number) for number in range(given.users)]
    describe(bases, settings.days)
    last: list[bool] = []
    told: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for base in bases:
        category = {event.event_id: event.app_category for event in base.events}
        cues = {scene.scene_id: category[scene.event_ids[-1]] for scene in base.scenes}
        for salt in range(given.salts):
            _, needs = decide_needs(base, replace(settings, salt=f"days-{salt}"), lexicon)
            told[base.desk.role].update((cues[n.scene_id], n.intent or "") for n in needs if n.scene_id)
            if salt == 0:
                last.extend(target_last(base, needs))
    print(f"target last in focus: {fmean(last):.3f} of {len(last)} needs")
    for role, counts in sorted(told.items()):
        intents, best = Counter[str](), Counter[str]()
        for (name, intent), number in counts.items():
            intents[intent] += number
            best[name] = max(best[name], number)
        guessed, constant = best.total() / counts.total(), max(intents.values()) / counts.total()
        print(f"{role}: intent guessed from the category {guessed:.3f}, by the commonest {constant:.3f}")


if __name__ == "__main__":
    main()
