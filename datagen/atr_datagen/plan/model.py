"""The plan as typed values, and the catalogues that it is drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, cast

import yaml

from atr_data.episode import CheckType

Direction = Literal["high", "low"]
Role = Literal["direct", "near", "far"]


@dataclass(frozen=True, slots=True)
class Pull:
    """A field on which decoys draw a rule-blind chooser. `ranks` are the places of the faces' golds, in the
    order of the faces, 1 the most drawing."""

    field: str
    direction: Direction
    ranks: Sequence[int]


@dataclass(frozen=True, slots=True)
class PlannedRule:
    """`slot` is `tool.parameter`, a tool to be confirmed, or rivals with blanks between.

    `choices` are the values or tools of the faces, empty where those are objects; `blind` is what a
    rule-blind agent takes. `limits` says for each row that fails a limit whose deciding values it repeats: a
    face's number from 1, or `pull`. `sibling` is the index of the rule on the same tool outside the trigger
    (confirm); `trigger` is empty where the rule always holds.
    """

    index: int
    domain: str
    type: CheckType
    slot: str
    faces: int = 1
    choices: Sequence[str] = ()
    blind: str = ""
    candidates: int = 0
    pulls: Sequence[Pull] = ()
    limits: Sequence[str] = ()
    pair: str = ""
    trigger: str = ""
    sibling: int | None = None
    pinned: bool = False

    @property
    def tools(self) -> Sequence[str]:
        """What the golds of the faces call, or ask to have confirmed."""
        return self.choices if self.type == "tool_identity" else (self.slot.partition(".")[0],)

    @property
    def parameter(self) -> str:
        return self.slot.partition(".")[2]


@dataclass(frozen=True, slots=True)
class PlannedSession:
    """`rule` is the index of the rule the session belongs to: always for direct, for near when it shows
    another tool of a tool_identity rule. `trigger` says of a direct session whether it lies inside the
    trigger of its rule or outside. `drawn` maps `tool.parameter` to the enum value to use.
    """

    index: int
    role: Role
    domain: str
    family: str
    path: Sequence[str]
    day: int
    rule: int | None = None
    trigger: str = ""
    drawn: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class PlannedPersona:
    id: str
    sketch: str
    rules: Sequence[PlannedRule]
    learning: Sequence[PlannedSession]


@dataclass(frozen=True, slots=True)
class Plan:
    """`mini` are the personas of the mini split."""

    seed: int
    personas: Sequence[PlannedPersona]
    mini: Sequence[str]

    def persona(self, persona_id: str) -> PlannedPersona | None:
        return next((persona for persona in self.personas if persona.id == persona_id), None)

    def rules(self) -> Iterator[tuple[PlannedPersona, PlannedRule]]:
        for persona in self.personas:
            yield from ((persona, rule) for rule in persona.rules)

    def sessions(self) -> Iterator[tuple[PlannedPersona, PlannedSession]]:
        for persona in self.personas:
            yield from ((persona, session) for session in persona.learning)


@dataclass(frozen=True, slots=True)
class Character:
    """A persona of the roster before anything is drawn for it. `written` are the rules of one that was
    written before the plan, and `familiar` its learning sessions, as role, index of the rule, family."""

    id: str
    sketch: str
    rules: int = 14
    languages: bool = False
    written: Sequence[PlannedRule] = ()
    familiar: frozenset[tuple[str, int | None, str]] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """What a rule may bind. `tools` are rivals (tool_identity). `count` is how many rules take it; `reading`
    marks a filter of a search, of which a persona has one at most."""

    name: str
    count: int
    pulls: Mapping[str, Direction]
    stock: str = ""
    bilingual: bool = False
    reading: bool = False
    tools: Sequence[str] = ()
    values: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of learning session: `name` is `domain.what_happens`."""

    name: str
    domain: str
    paths: Sequence[Sequence[str]]


@cache
def roster() -> tuple[Character, ...]:
    written = _read("written.yaml")
    return tuple(_character(raw, written.get(raw["id"])) for raw in _read("roster.yaml")["personas"])


def _character(raw: dict[str, Any], written: dict[str, Any] | None) -> Character:
    if written is None:
        return Character(**raw)
    rules = tuple(_written_rule(index, rule) for index, rule in enumerate(written["rules"]))
    familiar = frozenset((role, rule, family) for role, rule, family in written["sessions"])
    return Character(**raw, written=rules, familiar=familiar)


def _written_rule(index: int, raw: dict[str, Any]) -> PlannedRule:
    """What a rule binds; its faces and places are dealt like those of the others."""
    choices = tuple(raw.get("tools", ()))
    return PlannedRule(
        index=index,
        domain=raw["domain"],
        type=raw["type"],
        slot=raw.get("slot") or " ".join(choices),
        choices=choices or tuple(raw.get("among", ())),
        pair=raw.get("pair", ""),
        trigger="as written",
        sibling=raw.get("sibling"),
        pinned=raw.get("pinned", False),
    )


@cache
def mini_split() -> tuple[str, ...]:
    return tuple(character.id for character in roster()[: _read("roster.yaml")["mini"]])


@cache
def slots() -> Mapping[tuple[str, CheckType], tuple[Slot, ...]]:
    """Domain and check type to what rules of that kind may bind; confirm rules have no slots of their own."""
    raw = _read("slots.yaml")
    kinds: tuple[CheckType, ...] = ("param_id", "param_enum", "tool_identity")
    return {
        (domain, kind): tuple(map(_slot, entries)) for kind in kinds for domain, entries in raw[kind].items()
    }


def _slot(raw: dict[str, Any]) -> Slot:
    tools = tuple(raw.get("tools", ()))
    return Slot(
        name=raw.get("slot") or " ".join(tools),
        count=raw["count"],
        pulls=raw.get("pulls", {}),
        stock=raw.get("stock", ""),
        bilingual=raw.get("bilingual", False),
        reading=raw.get("reading", False),
        tools=tools,
        values=tuple(raw.get("values", ())),
    )


@cache
def confirm_targets() -> Mapping[str, tuple[str, ...]]:
    return {domain: tuple(tools) for domain, tools in _read("slots.yaml")["confirm"].items()}


@cache
def triggers() -> tuple[str, ...]:
    return tuple(_read("slots.yaml")["triggers"])


@cache
def families() -> Mapping[str, tuple[Family, ...]]:
    """What may happen in a learning session, per domain."""
    return {
        domain: tuple(
            Family(f"{domain}.{name}", domain, tuple(tuple(path.split()) for path in paths))
            for name, paths in entries.items()
        )
        for domain, entries in _read("families.yaml").items()
    }


def _read(name: str) -> dict[str, Any]:
    text = files("atr_datagen.plan").joinpath(name).read_text(encoding="utf-8")
    return cast(dict[str, Any], yaml.safe_load(text))
