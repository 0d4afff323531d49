"""Which learning sessions the personas have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random

from atr_data.constants import CONFIRMATION
from atr_datagen.plan.composition import DrawFailed
from atr_datagen.plan.model import Family, PlannedRule, PlannedSession, Role, families
from atr_datagen.plan.sides import INSIDE, deal_sides, neutral
from atr_ontology import DOMAINS, load_ontology

FAMILY_USES = 9
"""How often a family may be used in the whole set."""
DAY_GAPS = {1: 72, 2: 16, 3: 6, 4: 3, 5: 2, 6: 1}
"""Days between two sessions, with their weights in percent; the mean is 1.5."""
LONG_PATH, LONG_WEIGHT = 4, 0.6
FAMILIAR = 8.0
"""How much a family that was written before is preferred."""
_OFTEN = frozenset(
    {
        "return_order.resolution_type",
        "review_recurring_charges.focus",
        "book_flight.seat_preference",
        "set_reminder.cadence",
    }
)
"""Optional choices that a session makes as a rule; the others only now and then."""
_ORDERS = 20_000


@dataclass(slots=True)
class Usage:
    """What the sessions drawn so far have used."""

    families: Counter[str] = field(default_factory=Counter[str])
    paths: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])
    tools: Counter[str] = field(default_factory=Counter[str])

    def add(self, family: str, path: Iterable[str]) -> None:
        path = tuple(path)
        self.families[family] += 1
        self.paths[path] += 1
        self.tools.update(set(path))


def draw_learning(
    rng: Random,
    rules: Sequence[PlannedRule],
    near: int,
    far: int,
    usage: Usage,
    familiar: frozenset[tuple[str, int | None, str]] = frozenset(),
) -> list[PlannedSession]:
    """A direct session per rule, `near` and `far` others, in an order with days and drawn values.

    `familiar` are roles, rules and families that are taken where they can be. Raises DrawFailed when no
    family is left for a session.
    """
    picker = _Picker(rng, rules, usage, familiar)
    sessions: list[PlannedSession] = []
    sides_of = deal_sides(rng, rules)
    for rule in sorted(rules, key=lambda rule: (picker.choice_size(rule), rule.index)):
        sides = rng.sample(list(rule.tools), len(rule.tools))
        for place, tool in enumerate(sides):
            others = [side for side in sides if side != tool]
            session = picker.direct(rule, tool, others, "near" if place else "direct")
            sessions.append(replace(session, trigger=sides_of.get(rule.index, "")))
    near -= sum(len(rule.tools) - 1 for rule in rules)
    if near < 0:
        raise DrawFailed("near sessions")
    sessions += [picker.aside("near") for _ in range(near)]
    sessions += [picker.aside("far") for _ in range(far)]
    return _dated(rng, _ordered(rng, sessions), rules)


@dataclass(slots=True)
class _Picker:
    rng: Random
    rules: Sequence[PlannedRule]
    usage: Usage
    familiar: frozenset[tuple[str, int | None, str]]
    had: set[str] = field(default_factory=set[str])
    touched: set[str] = field(default_factory=set[str])
    asides: Counter[str] = field(default_factory=Counter[str])

    def choice_size(self, rule: PlannedRule) -> int:
        return sum(
            any({*rule.tools} & {*path} for path in family.paths) for family in families()[rule.domain]
        )

    def direct(self, rule: PlannedRule, tool: str, never: Sequence[str], role: Role) -> PlannedSession:
        """A session that uses the tool and none of `never`, nor the rivals of other rules if it can be."""
        rivals = self._rivals() - {tool}
        options = [
            (len(rivals & set(path)), family, path)
            for family in self._free(rule.domain)
            for path in family.paths
            if tool in path and len(path) > 1 and not set(never) & set(path)
        ]
        family, path = self._least_used(options, f"{role} for {tool}", role, rule.index)
        self.touched.update(path)
        return _session(role, family, path, rule.index)

    def aside(self, role: Role) -> PlannedSession:
        """A session whose tools no rule binds. A far one also stays off what the direct sessions do."""
        bound = {tool for rule in self.rules for tool in rule.tools}
        never = bound | self._rivals()
        related = {tool for row in load_ontology().rivals if bound & set(row) for tool in row} | self.touched
        options = [
            (self.asides[domain] + (len(set(path) & related) if role == "far" else 0), family, path)
            for domain in DOMAINS
            for family in self._free(domain)
            for path in family.paths
            if not never & set(path)
        ]
        family, path = self._least_used(options, role, role, None)
        self.asides[family.domain] += 1
        return _session(role, family, path, None)

    def _rivals(self) -> set[str]:
        return {tool for rule in self.rules if rule.type == "tool_identity" for tool in rule.tools}

    def _free(self, domain: str) -> list[Family]:
        return [
            family
            for family in families()[domain]
            if family.name not in self.had and self.usage.families[family.name] < FAMILY_USES
        ]

    def _least_used(
        self, options: Sequence[tuple[int, Family, Sequence[str]]], what: str, role: Role, rule: int | None
    ) -> tuple[Family, Sequence[str]]:
        if not options:
            raise DrawFailed(f"no family left: {what}")

        def cost(option: tuple[int, Family, Sequence[str]]) -> tuple[float, ...]:
            clash, family, path = option
            rarest = min(self.usage.tools[tool] for tool in path)
            long = LONG_WEIGHT if len(path) >= LONG_PATH else 0.0
            crowd = self.usage.families[family.name] / 2 + self.usage.paths[tuple(path)]
            known = FAMILIAR if (role, rule, family.name) in self.familiar else 0.0
            return (2 * clash + crowd + min(rarest, 3) - long - known + 2 * self.rng.random(),)

        _, family, path = min(options, key=cost)
        self.had.add(family.name)
        self.usage.add(family.name, path)
        return family, path


def _session(role: Role, family: Family, path: Sequence[str], rule: int | None) -> PlannedSession:
    return PlannedSession(0, role, family.domain, family.name, tuple(path), 0, rule)


def _ordered(rng: Random, sessions: Sequence[PlannedSession]) -> list[PlannedSession]:
    """No two direct sessions of one domain in a row; of a rule's two sessions the direct one first."""
    for _ in range(_ORDERS):
        order = rng.sample(sessions, len(sessions))
        place = {(s.rule, s.role): i for i, s in enumerate(order) if s.rule is not None}
        for (rule, role), late in place.items():
            early = place[rule, "direct"]
            if role == "near" and late < early:
                order[early], order[late] = order[late], order[early]
        if not any(a.role == b.role == "direct" and a.domain == b.domain for a, b in pairwise(order)):
            return order
    raise DrawFailed("order of sessions")


def _dated(
    rng: Random, sessions: Sequence[PlannedSession], rules: Sequence[PlannedRule]
) -> list[PlannedSession]:
    bound = {rule.slot for rule in rules if rule.type == "param_enum"}
    found: list[PlannedSession] = []
    day = 0
    for index, session in enumerate(sessions):
        drawn = _drawn(rng, session.path, bound)
        if session.trigger == INSIDE and session.rule is not None:
            drawn = neutral(rules[session.rule], drawn)
        found.append(replace(session, index=index, day=day, drawn=drawn))
        day += rng.choices(list(DAY_GAPS), list(DAY_GAPS.values()))[0]
    return found


def _drawn(rng: Random, path: Sequence[str], bound: set[str]) -> Mapping[str, str]:
    """Enum values for the calls of a path, drawn without a look at the golds."""
    values: dict[str, str] = {}
    for name in dict.fromkeys(path):
        tool = load_ontology().tool(name)
        if tool is None or name == CONFIRMATION:
            continue
        for parameter in tool.parameters:
            slot = f"{name}.{parameter.name}"
            wanted = (parameter.required and parameter.name != "field") or slot in bound or slot in _OFTEN
            if parameter.enum and (wanted or (parameter.name == "update_scope" and rng.random() < 0.7)):
                values[slot] = rng.choice(parameter.enum)
    return values
