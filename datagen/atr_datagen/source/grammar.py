"""A persona source as typed values. The grammar stands in `data/sources/README.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from atr_data.episode import CheckType
from atr_datagen.source.document import Document, Path, Problem, SourceError, nearest, parse_document

_PLAIN_ID = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"


class Block(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PersonaBlock(Block):
    id: str = Field(pattern=_PLAIN_ID)
    name: str
    facts: dict[str, Any]
    narrative: str


class PoolBlock(Block):
    """Rows of one reference type. The type is the one key that is not a field; it holds the columns."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    rows: list[list[Any]] = Field(default_factory=list[list[Any]])
    shared: dict[str, Any] = Field(default_factory=dict, alias="all")

    @property
    def pools(self) -> dict[str, Any]:
        return self.model_extra or {}


class ScenarioBlock(PoolBlock):
    also: list[PoolBlock] = Field(default_factory=list[PoolBlock])


class TestBlock(ScenarioBlock):
    __test__ = False

    say: str
    must: list[str] = Field(default_factory=list[str])
    rule_is: list[str] = Field(default_factory=list[str])
    pulls: dict[str, Literal["high", "low"]] = Field(default_factory=dict)
    target: dict[str, Any] = Field(default_factory=dict)


class EvidenceBlock(Block):
    type: Literal["direct", "inferred"]
    content: str


class MirrorBlock(Block):
    """The other face of a rule: another preference over the same test. Without a `text` the answer is it."""

    answer: str
    text: str | None = None
    default: str | None = None
    evidence: list[EvidenceBlock] = Field(default_factory=list[EvidenceBlock])
    rule_is: list[str] = Field(default_factory=list[str])
    value: str | None = None
    tool: str | None = None
    target: dict[str, Any] = Field(default_factory=dict)


class RuleBlock(Block):
    key: str
    domain: str
    type: CheckType
    bind: str
    gold: str | None = None
    blind: str | None = None
    pin: dict[str, Any] | None = None
    sibling: str | None = None
    pair: str | None = None
    text: str
    answer: str
    default: str
    evidence: list[EvidenceBlock] = Field(min_length=1)
    test: TestBlock
    mirror: MirrorBlock | None = None

    @property
    def tool(self) -> str:
        """The tool that the rule is about; for confirm the one to be confirmed."""
        return self.bind.partition(".")[0]

    @property
    def parameter(self) -> str | None:
        return self.bind.partition(".")[2] or None


class LearningBlock(ScenarioBlock):
    subject: str = Field(alias="for")
    role: Literal["direct", "near", "far"]
    family: str
    day: int = Field(ge=0)
    open: str
    know: dict[str, Any]
    steps: list[str] = Field(min_length=1)

    @property
    def domain(self) -> str:
        return self.family.partition(".")[0]


class Source(Block):
    persona: PersonaBlock
    vocab: dict[str, str] = Field(default_factory=dict)
    rules: list[RuleBlock] = Field(min_length=1)
    learning: list[LearningBlock]

    def rule(self, key: str | None) -> RuleBlock | None:
        return next((rule for rule in self.rules if rule.key == key), None)

    def rule_ids(self) -> list[str]:
        """In file order: `<persona>_<domain>_<NN>`, NN counted per domain from 01."""
        counts: Counter[str] = Counter()
        ids: list[str] = []
        for rule in self.rules:
            counts[rule.domain] += 1
            ids.append(f"{self.persona.id}_{rule.domain}_{counts[rule.domain]:02d}")
        return ids


@dataclass(slots=True)
class Problems:
    """Collects what is wrong with one document."""

    document: Document
    found: list[Problem] = field(default_factory=list[Problem])

    def add(self, path: Path, reason: str) -> None:
        self.found.append(self.document.problem(path, reason))

    def raise_any(self) -> None:
        if self.found:
            raise SourceError(self.found)


@dataclass(frozen=True, slots=True)
class SourceFile:
    document: Document
    source: Source

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Raises SourceError: every key that is unknown, missing or of the wrong kind, with its line."""
        document = parse_document(path)
        try:
            return cls(document, Source.model_validate(document.data))
        except ValidationError as error:
            problems = [_problem(document, detail) for detail in error.errors(include_url=False)]
            raise SourceError(problems) from error


_KINDS = {
    "string_type": "text; put it in quotes",
    "int_type": "a whole number",
    "list_type": "a list, [...]",
    "dict_type": "a mapping, {key: value}",
    "model_type": "a mapping, {key: value}",
}


def _problem(document: Document, detail: ErrorDetails) -> Problem:
    loc, kind, context = tuple(detail["loc"]), detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return document.problem(loc, "is missing")
    path = max((loc[:size] for size in range(len(loc) + 1) if loc[:size] in document.lines), key=len)
    if kind == "extra_forbidden":
        reason = f"is no key here; {nearest(str(loc[-1]), _known(loc[:-1]))}"
    elif kind in _KINDS:
        reason = f"should be {_KINDS[kind]}; is {_short(detail['input'])}"
    elif kind == "literal_error":
        reason = f"should be {context['expected']}; is {_short(detail['input'])}"
    elif kind == "string_pattern_mismatch":
        reason = f"should be lower-case words joined by _; is {_short(detail['input'])}"
    else:
        reason = f"{detail['msg'][0].lower()}{detail['msg'][1:]}; is {_short(detail['input'])}"
    return document.problem(path, reason)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_BLOCKS: dict[str, type[BaseModel]] = {
    "": Source,
    "persona": PersonaBlock,
    "rules": RuleBlock,
    "rules.evidence": EvidenceBlock,
    "rules.test": TestBlock,
    "rules.mirror": MirrorBlock,
    "learning": LearningBlock,
}


def _known(loc: Iterable[str | int]) -> list[str]:
    model = _BLOCKS.get(".".join(step for step in loc if isinstance(step, str)), Source)
    return keys_of(model)


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys of a block as they stand in the file."""
    return [info.alias or name for name, info in model.model_fields.items()]
