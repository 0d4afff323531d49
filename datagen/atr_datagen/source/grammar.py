"""A persona source as typed values. The grammar stands in `data/sources/README.md`."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from atr_data.episode import CheckType

ASKED, NOT_ASKED, TERMS = 3, 2, (10, 30)
"""Fewest question lines per hand, and fewest and most terms of a word list."""
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
    """What every face of a rule shares."""

    __test__ = False

    say: str
    must: list[str] = Field(default_factory=list[str])
    pulls: dict[str, Literal["high", "low"]] = Field(default_factory=dict)
    target: dict[str, Any] = Field(default_factory=dict)


class EvidenceBlock(Block):
    type: Literal["direct", "inferred"]
    content: str


class FaceBlock(Block):
    """One preference over the test of a rule. `target` is what its gold call needs beside the test's."""

    key: str = Field(pattern=_PLAIN_ID)
    text: str
    answer: str
    default: str
    evidence: list[EvidenceBlock] = Field(min_length=1)
    rule_is: list[str] = Field(default_factory=list[str])
    value: str | None = None
    tool: str | None = None
    target: dict[str, Any] = Field(default_factory=dict)


class BlindFace(Block):
    """Declares that a rule-blind agent does what one of the faces asks for."""

    face: str


class HandsBlock(Block):
    """Questions by either of two hands; of what a rule answers, the first is the plain one."""

    a: list[str] = Field(default_factory=list[str])
    b: list[str] = Field(default_factory=list[str])


class AboutBlock(Block):
    """Terms for what is decided, when it holds, where it holds only in a part, and what lies beside it."""

    decision: list[str] = Field(default_factory=list[str])
    situation: list[str] = Field(default_factory=list[str])
    narrow: list[str] = Field(default_factory=list[str])
    beside: list[str] = Field(default_factory=list[str])


class RuleBlock(Block):
    key: str
    domain: str
    type: CheckType
    bind: str | None = None
    blind: str | BlindFace | None = None
    pin: dict[str, Any] | None = None
    sibling: str | None = None
    pair: str | None = None
    test: TestBlock
    faces: list[FaceBlock] = Field(min_length=1)
    asked: HandsBlock = Field(default_factory=HandsBlock)
    not_asked: HandsBlock = Field(default_factory=HandsBlock)
    about: AboutBlock = Field(default_factory=AboutBlock)

    @property
    def parameter(self) -> str | None:
        return (self.bind or "").partition(".")[2] or None

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools of the faces: one, but for tool_identity. For confirm the tool to be confirmed."""
        if self.type == "tool_identity":
            return tuple(face.tool or "" for face in self.faces)
        return ((self.bind or "").partition(".")[0],)

    @property
    def slot(self) -> str:
        """What the rule decides: `tool.parameter`, a tool to be confirmed, or rivals with blanks between."""
        return self.bind or " ".join(self.tools)

    def face(self, key: str) -> FaceBlock | None:
        return next((face for face in self.faces if face.key == key), None)

    def choice(self, face: FaceBlock) -> str | None:
        """The value or tool that a face of a closed choice asks for."""
        return face.tool if self.type == "tool_identity" else face.value

    @property
    def blind_choice(self) -> str | None:
        """The value or tool that a rule-blind agent takes."""
        if isinstance(self.blind, BlindFace):
            face = self.face(self.blind.face)
            return self.choice(face) if face else None
        return self.blind


class LearningBlock(ScenarioBlock):
    """`where` says on which side of its rule's trigger a session lies; it is left out where the rule always
    holds, and where the session is no rule's."""

    subject: str = Field(alias="for")
    role: Literal["direct", "near", "far"]
    where: Literal["inside", "outside"] | None = None
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
    vocab: dict[str, str] = Field(min_length=1)
    rules: list[RuleBlock] = Field(min_length=1)
    learning: list[LearningBlock]

    def rule(self, key: str | None) -> RuleBlock | None:
        return next((rule for rule in self.rules if rule.key == key), None)

    def rule_ids(self) -> list[str]:
        """In file order."""
        return numbered(self.persona.id, [rule.domain for rule in self.rules])


def numbered(persona: str, domains: list[str]) -> list[str]:
    """Rule ids `<persona>_<domain>_<NN>`, NN counted per domain from 01."""
    counts: Counter[str] = Counter()
    ids: list[str] = []
    for domain in domains:
        counts[domain] += 1
        ids.append(f"{persona}_{domain}_{counts[domain]:02d}")
    return ids


def keys_of(model: type[BaseModel]) -> list[str]:
    """The keys of a block as they stand in the file."""
    return [info.alias or name for name, info in model.model_fields.items()]
