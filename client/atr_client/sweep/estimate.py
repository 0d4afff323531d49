"""What a sweep will need, before any money is spent: model calls, tokens and cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from atr_client.models.catalogue import RemoteModel
from atr_client.models.pricing import cost_of
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.spending import on_disk
from atr_client.outputs.stored_cells import CellRecord
from atr_client.sweep.config import Role
from atr_client.sweep.endpoints import RemoteSpec
from atr_data.episode import Episode
from atr_data.usage import Usage
from atr_data.variants import VARIANTS

ROLE_USAGE: Mapping[Role, str] = {"router": "router", "classifier": "classifier", "simulator": "user_sim"}
"""The name under which trajectories count each role of the user."""


def _default(calls: int, prompt: int, completion: int) -> Usage:
    return Usage(prompt_tokens=prompt, completion_tokens=completion, calls=calls)


DEFAULTS: Mapping[tuple[str, str], Usage] = {
    ("learning", "agent"): _default(8, 90_000, 2_500),
    ("test", "agent"): _default(6, 120_000, 2_000),
    ("oracle", "agent"): _default(6, 25_000, 2_000),
    ("learning", "router"): _default(3, 4_500, 150),
    ("learning", "classifier"): _default(1, 2_000, 100),
    ("learning", "user_sim"): _default(4, 8_000, 300),
}
"""A session's usage where nothing was measured. Round guesses: tools of 3,500 tokens, a memory that grows to
16,000 over some thirty sessions. `oracle` is a test session without memory."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of one model and variant; `usage.cost_usd` None: a price is unknown. `sources` says where the averages
    of each part come from: of the agent in learning and in test sessions, and of each role of the user."""

    model_id: str
    variant: str
    sessions: int
    usage: Usage
    sources: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Like:
    """Sessions that are alike; None: whatever model, or whatever variant."""

    model: str | None
    variant: str | None
    kind: str
    role: str


@dataclass(slots=True)
class Measured:
    """Number and usage of earlier sessions, by what they have in common."""

    sums: dict[Like, tuple[int, Usage]] = field(default_factory=dict[Like, tuple[int, Usage]])

    @classmethod
    def under(cls, root: Path) -> Measured:
        """Of every cell below an outputs folder. Sessions without a model call count for nothing, and neither
        do those in which a call did not report what it took."""
        measured = cls()
        for path in sorted(root.rglob("cell_manifest.json")):
            record = CellRecord.of(CellFolder(path.parent))
            model, variant = record.model, record.variant
            for trajectory in on_disk([CellFolder(path.parent)]):
                for role, usage in trajectory.token_usage.items():
                    if usage.calls_without_usage:
                        continue
                    for model_, variant_ in ((model, variant), (model, None), (None, variant)):
                        measured._add(Like(model_, variant_, trajectory.session_type, role), usage)
        return measured

    def _add(self, key: Like, usage: Usage) -> None:
        count, total = self.sums.get(key, (0, Usage()))
        self.sums[key] = (count + 1, total + usage)

    def usage(self, model: str, variant: str, kind: str, role: str, sessions: int) -> tuple[Usage, str]:
        """The usage to be expected of so many sessions, and what the expectation rests on: sessions of this
        model, of others, or the defaults."""
        for like, source in (
            (Like(model, variant, kind, role), "earlier sessions of the same model and variant"),
            (Like(model, None, kind, role), "earlier sessions of the same model"),
            (Like(None, variant, kind, role), "earlier sessions of other models"),
        ):
            if found := self.sums.get(like):
                count, total = found
                return scaled(total, sessions / count), source
        name = "oracle" if kind == "test" and VARIANTS[variant].is_oracle else kind
        return scaled(DEFAULTS[name, role], sessions), "defaults"


@dataclass(frozen=True, slots=True)
class CellOutlook:
    """A cell to come. `spec` is how its model is reached; None for one that is offline and costs nothing."""

    episode: Episode
    model_id: str
    variant: str
    spec: RemoteSpec | None


def estimate(
    cells: Sequence[CellOutlook], roles: Mapping[Role, RemoteSpec], measured: Measured
) -> list[Estimate]:
    """One line per model and variant, whole cells from the start."""
    alike: dict[tuple[str, str], list[CellOutlook]] = {}
    for cell in cells:
        alike.setdefault((cell.model_id, cell.variant), []).append(cell)
    return [_estimate(some, roles, measured) for some in alike.values()]


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a limit on cost would end a run: in which cell, counted from 1, and after how many sessions."""

    cell: int
    cells: int
    episode_id: str
    model_id: str
    variant: str
    sessions_done: int
    sessions: int


def budget_stop(
    cells: Sequence[CellOutlook], roles: Mapping[Role, RemoteSpec], measured: Measured, *, limit: float
) -> Stop | None:
    """Where the costs to be expected reach the limit, cell by cell in the order of a sweep; None when they do
    not. Cells of an unknown price count for nothing."""
    lines = [_estimate([cell], roles, measured) for cell in cells]
    sessions = sum(line.sessions for line in lines)
    spent, done = 0.0, 0
    for number, (cell, line) in enumerate(zip(cells, lines, strict=True), start=1):
        cost = line.usage.cost_usd or 0.0
        if cost and spent + cost >= limit:
            begun = min(line.sessions, math.ceil((limit - spent) / cost * line.sessions))
            if done + begun == sessions:
                return None
            place = (cell.episode.episode_id, line.model_id, line.variant)
            return Stop(number, len(cells), *place, done + begun, sessions)
        spent, done = spent + cost, done + line.sessions
    return None


def _estimate(cells: Sequence[CellOutlook], roles: Mapping[Role, RemoteSpec], measured: Measured) -> Estimate:
    """Of cells with one model in one variant."""
    model_id, variant, spec = cells[0].model_id, cells[0].variant, cells[0].spec
    episodes = [cell.episode for cell in cells]
    learning = 0 if VARIANTS[variant].is_oracle else sum(len(e.learning_sessions) for e in episodes)
    tests = sum(len(e.test_sessions) for e in episodes)
    parts: list[tuple[RemoteModel, str, str, int]] = []
    if spec:
        parts += [(spec.model, "learning", "agent", learning), (spec.model, "test", "agent", tests)]
    parts += [(s.model, "learning", ROLE_USAGE[role], learning) for role, s in roles.items()]
    usages: list[Usage] = []
    sources: dict[str, str] = {}
    for model, kind, role, sessions in parts:
        if sessions:
            usage, source = measured.usage(model_id, variant, kind, role, sessions)
            usages.append(priced(usage, model))
            sources[f"{kind} {role}" if role == "agent" else role] = source
    total = sum(usages, Usage())
    return Estimate(model_id, variant, learning + tests, total, sources)


def scaled(usage: Usage, factor: float) -> Usage:
    """So many times the counts, without a cost."""
    return Usage(**{name: round(count * factor) for name, count in usage.counters().items()})


def priced(usage: Usage, model: RemoteModel) -> Usage:
    """The same counts at the model's price; at none where that is unknown."""
    return Usage(**usage.counters(), cost_usd=cost_of(usage, model))
