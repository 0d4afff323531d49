"""An attack on the timing track of our own, stronger than the choosers of the gates.

It knows no value of any wording and no gold but where scenes lie, their kind, and which wordings exist. Which
wordings mean the same it finds out by itself, from when help was sought: expectation maximisation over the
value of each wording and the face of each user, kind and period. `alone` sees one user's past, as an agent in
a run does; `together` sees the past of all users of the set, as an agent would that carried its memory from
user to user; `after others` also sees the evaluation days of half of the users to their ends, and plays the
other half; `echo` offers help just after it was sought without a sign, for the half that is worth.

    python tests/benchmarks/attack_timing.py [--users 40] [--salts 10] [--draw attack]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import numpy as np

from atr_client.timing.choosers.chooser import Chooser, Seen, User
from atr_client.timing.choosers.granted import granted_content
from atr_client.timing.choosers.reader import CHANGE_DAY, IF_FACE, OTHERWISE
from atr_client.timing.direct import play_directly
from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting
from atr_datagen.timing.base import Base, compile_base
from atr_datagen.timing.generate import decide
from atr_datagen.timing.lexicon import load_lexicon
from atr_datagen.timing.settings import Settings
from atr_evaluator.timing import TimingRules, score_sittings
from atr_evaluator.timing.utility import guess_bound, utility

VALUES, ROUNDS, RESTARTS = 18, 60, 6


@dataclass(frozen=True)
class Told:
    """One scene: its cell (user, kind, period), its two wordings, and whether help was sought."""

    scene_id: str
    cue: str
    cell: tuple[str, str, bool]
    words: tuple[int, int]
    wanted: bool
    at: float


def told_scenes(user: User, base: Base, settings: Settings, wordings: dict[object, int]) -> list[Told]:
    """The scenes of a user. `wordings` numbers the texts that were met, by their place in a chronicle."""
    found: list[Told] = []
    for scene in user.gold.scenes:
        plot, job = base.staged[scene.scene_id].plot, base.walk.chronicle.job
        texts = [
            (job, plot.number, *pair, scene.day > settings.history_days) for pair in scene.attributes.items()
        ]
        first, second = (wordings.setdefault(text, len(wordings)) for text in texts)
        cell = (user.user_id, scene.kind, scene.day >= CHANGE_DAY)
        found.append(
            Told(
                scene.scene_id,
                scene.event_ids[-1],
                cell,
                (first, second),
                scene.need_id is not None,
                scene.t_onset.timestamp(),
            )
        )
    return found


class Clusters:
    """What each wording means, up to a name, and each cell's face."""

    def __init__(self, scenes: Sequence[Told], number: int, seed: int) -> None:
        self.cells = {cell: n for n, cell in enumerate(dict.fromkeys(s.cell for s in scenes))}
        self.cell = np.array([self.cells[s.cell] for s in scenes])
        self.words = np.array([s.words for s in scenes])
        self.wanted = np.array([s.wanted for s in scenes])
        chance = np.random.default_rng(seed)
        self.means = chance.dirichlet(np.full(VALUES, 0.5), size=number)
        self.faces = np.full((len(self.cells), VALUES), 1 / VALUES)
        self.score = -np.inf

    def fit(self) -> Clusters:
        for turn in range(ROUNDS):
            heat = min(1.0, 0.2 + turn / 20)
            first, second = self.means[self.words[:, 0]], self.means[self.words[:, 1]]
            rate = OTHERWISE + (IF_FACE - OTHERWISE) * (1 - (1 - first) * (1 - second))
            likely = np.log(np.where(self.wanted[:, None], rate, 1 - rate))
            logs = np.zeros_like(self.faces)
            np.add.at(logs, self.cell, likely)
            self.score = float(np.logaddexp.reduce(logs, axis=1).sum())
            self.faces = _softmax(heat * logs)
            face = self.faces[self.cell]
            logs = np.zeros_like(self.means)
            for mine, other in ((0, 1), (1, 0)):
                rest = OTHERWISE + (IF_FACE - OTHERWISE) * self.means[self.words[:, other]]
                without = np.log(np.where(self.wanted[:, None], rest, 1 - rest))
                within = np.log(np.where(self.wanted, IF_FACE, 1 - IF_FACE))[:, None]
                gain = face * (within - without) + (face * without).sum(axis=1, keepdims=True)
                np.add.at(logs, self.words[:, mine], gain)
            self.means = _softmax(heat * logs)
        return self

    def chance(self, scene: Told) -> float:
        """How likely a scene leads to a need. A cell that was never seen has any face."""
        place = self.cells.get(scene.cell)
        face = self.faces[place] if place is not None else np.full(VALUES, 1 / VALUES)
        first, second = self.means[scene.words[0]], self.means[scene.words[1]]
        holds = 1 - (1 - first) * (1 - second)
        return float((face * (OTHERWISE + (IF_FACE - OTHERWISE) * holds)).sum())


def _softmax(logs: np.ndarray) -> np.ndarray:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def best_of(scenes: Sequence[Told], number: int) -> Clusters:
    return max((Clusters(scenes, number, seed).fit() for seed in range(RESTARTS)), key=lambda c: c.score)


class Clustered:
    """Offers the right help, granted, where the clusters pass a third."""

    def __init__(self, clusters: Clusters, scenes: Sequence[Told]) -> None:
        self.offers = {s.cue for s in scenes if clusters.chance(s) >= 1 / 3}

    def begin(self, user: User, sitting: Sitting) -> None:
        self.content = granted_content(user)

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        return self.content(event, seen) if event.event_id in self.offers else None


class Echo:
    """Help within fifteen seconds after help was sought about something that was not on the screen."""

    def begin(self, user: User, sitting: Sitting) -> None:
        self.content = granted_content(user)

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        asked = seen[-1] if seen and seen[-1].self_help else None
        if asked is None or event.at - asked.at > 15:
            return None
        names = {word for word in asked.summary.split() if word[:1].isupper()}
        before = " ".join(f"{one.title} {one.summary} {one.text}" for one in seen[-13:-1])
        fresh = names and not any(name.strip("?,.") in before for name in names)
        return self.content(event, seen) if fresh else None


def after_others(
    users: Sequence[User],
    scenes: Mapping[str, Sequence[Told]],
    past: Mapping[str, Sequence[Told]],
    number: int,
) -> dict[str, Chooser]:
    """Each half is played with all that can be seen of the other half and the past of its own."""
    names = [user.user_id for user in users]
    found: dict[str, Chooser] = {}
    for half in (0, 1):
        played, others = names[half::2], names[1 - half :: 2]
        known = [s for name in others for s in scenes[name]] + [s for name in played for s in past[name]]
        clusters = best_of(known, number)
        found |= {name: Clustered(clusters, scenes[name]) for name in played}
    return found


def reached(users: Sequence[User], choosers: Mapping[str, Chooser]) -> float:
    rules = TimingRules()
    plays = [play_directly(choosers[user.user_id], user) for user in users]
    return utility([one.gain for one in score_sittings(plays, rules)], rules.false_alarm_cost)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--salts", type=int, default=10)
    parser.add_argument("--draw", default="attack")
    given = parser.parse_args()
    lexicon, settings = load_lexicon(), Settings()
    bases = [compile_base(settings, lexicon, number) for number in range(given.users)]
    rows: dict[str, list[float]] = {"alone": [], "together": [], "after others": [], "echo": []}
    bounds: list[float] = []
    for number in range(given.salts):
        started = time.monotonic()
        made = (decide(base, replace(settings, salt=f"{given.draw}-{number}"), lexicon) for base in bases)
        users = [User(one.stream, one.gold) for one in made]
        wordings: dict[object, int] = {}
        scenes = {
            user.user_id: told_scenes(user, base, settings, wordings)
            for user, base in zip(users, bases, strict=True)
        }
        past = {u.user_id: [s for s in scenes[u.user_id] if s.at < u.evaluation_start] for u in users}
        together = best_of([s for known in past.values() for s in known], len(wordings))
        alone = {name: best_of(known, len(wordings)) for name, known in past.items()}
        rows["together"].append(reached(users, {n: Clustered(together, s) for n, s in scenes.items()}))
        rows["alone"].append(reached(users, {n: Clustered(alone[n], s) for n, s in scenes.items()}))
        rows["after others"].append(reached(users, after_others(users, scenes, past, len(wordings))))
        bounds.append(guess_bound([user.gold for user in users], TimingRules().false_alarm_cost))
        rows["echo"].append(reached(users, {name: Echo() for name in scenes}))
        told = ", ".join(f"{name} {values[-1]:.3f}" for name, values in rows.items())
        print(f"salt {number}: {told} ({time.monotonic() - started:.0f} s)", flush=True)
    for name, values in rows.items():
        spread = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
        print(f"{name}: {fmean(values):.3f} (standard error {spread:.3f})")
    print(f"guess bound: {fmean(bounds):.3f}")


if __name__ == "__main__":
    main()
