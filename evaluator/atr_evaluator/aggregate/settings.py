"""Cells as tables see them, and what keeps cells apart: only the personas and variants of one setting are
ever put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from atr_data.variants import variant_rank


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """What a cell was played with, persona and variant apart. `seed` is the composition seed of its episode,
    `trial` counts repetitions from 1, `user` says who played the user."""

    model: str
    dataset: str = ""
    layer: str = "context"
    seed: str = ""
    trial: int = 1
    user: str = ""
    reasoning: str = ""
    hook: bool = False
    smoke: bool = False

    def label(self, varying: Collection[str] = ()) -> str:
        """The model, where it is known, and of the rest what varies among the settings that are shown
        together."""
        return ", ".join(filter(None, [self.model, *(self.dimension(name) for name in varying)]))

    def dimension(self, name: str) -> str:
        """A field in words."""
        value = getattr(self, name)
        if isinstance(value, bool):
            return name if value else f"no {name}"
        return f"{name} {value}" if name in ("layer", "seed", "trial", "reasoning") else f"{name}: {value}"


def varying(settings: Iterable[Setting]) -> list[str]:
    """The fields, the model apart, in which some settings differ."""
    seen = list(settings)
    names = [one.name for one in fields(Setting) if one.name != "model"]
    return [name for name in names if len({getattr(setting, name) for setting in seen}) > 1]


@dataclass(frozen=True, slots=True)
class ScoredCell:
    """`document` is the cell's `eval.json`, None where it has no score; `problem` says why it has none, or
    what is missing of it. `cost_usd` in US dollars: None where a price is unknown, 0 where no model was
    called; `paid` tells whether one was. `privileged`: the model was shown the answers. `blind`: it never
    learns a rule. `episode_digest` tells apart what was changed under one episode id."""

    cell_id: str
    persona: str
    variant: str
    setting: Setting
    document: Mapping[str, Any] | None = None
    problem: str | None = None
    cost_usd: float | None = None
    paid: bool = False
    privileged: bool = False
    blind: bool = False
    episode_digest: str = ""
    folder: str = ""

    @property
    def metrics(self) -> Mapping[str, Any]:
        return (self.document or {}).get("metrics") or {}

    @property
    def results(self) -> Sequence[Mapping[str, Any]]:
        return self.document["session_results"] if self.document else ()

    @property
    def losses(self) -> Sequence[Mapping[str, Any]]:
        """As many as there are results; none in a score of an older scorer."""
        return (self.document or {}).get("losses") or ()

    @property
    def missing(self) -> Sequence[str]:
        metrics = self.metrics
        return [*metrics.get("missing_learning_sessions", ()), *metrics.get("missing_test_sessions", ())]

    @property
    def rules(self) -> int:
        """How many rules the episode has."""
        coverage: Mapping[str, int] = self.metrics.get("rule_coverage") or {}
        return coverage.get("total", 0)

    @property
    def complete(self) -> bool:
        return self.document is not None and not self.missing and self.problem is None

    @property
    def passed(self) -> Mapping[str, bool]:
        """By session id, of the tests that were played; of several results the last counts."""
        return {r["session_id"]: r["task_success"] for r in self.results if not r.get("missing")}


@dataclass(frozen=True, slots=True)
class Group:
    """The cells of one setting and variant, those without a score among them."""

    setting: Setting
    variant: str
    cells: Sequence[ScoredCell]

    @property
    def scored(self) -> list[ScoredCell]:
        return [cell for cell in self.cells if cell.document is not None]


def groups(cells: Iterable[ScoredCell]) -> list[Group]:
    """By setting, then in the order of variants; cells within by persona."""
    found: dict[tuple[Setting, str], list[ScoredCell]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.persona, cell.cell_id)):
        found.setdefault((cell.setting, cell.variant), []).append(cell)
    ordered = sorted(found, key=lambda key: (key[0], variant_rank(key[1]), key[1]))
    return [Group(*key, found[key]) for key in ordered]


def unlike_personas(found: Sequence[Group]) -> list[str]:
    """A line for each setting whose variants hold different personas: their figures compare different
    people."""
    lines: list[str] = []
    together = Counter(group.setting for group in found)
    names = varying(together)
    for setting, count in together.items():
        sets = {
            group.variant: {c.persona for c in group.scored} for group in found if group.setting == setting
        }
        if count > 1 and len({frozenset(personas) for personas in sets.values()}) > 1:
            told = ", ".join(f"{variant} {len(personas)}" for variant, personas in sets.items())
            lines.append(f"{setting.label(names)}: the variants hold different personas ({told})")
    return lines
