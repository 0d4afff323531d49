"""A source file block by block, so that all that is wrong in any of them is told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any, Generic, Self, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from atr_datagen.source.document import Document, Path, Problem, SourceError, nearest, parse_document
from atr_datagen.source.grammar import LearningBlock, PersonaBlock, RuleBlock, Source, numbered
from atr_datagen.source.spelling import respelt

BlockT = TypeVar("BlockT", bound=BaseModel)


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
class Placed(Generic[BlockT]):
    """A sound block with its place in the list of its kind."""

    index: int
    block: BlockT


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What could be read of a file, and what is wrong with the rest.

    `rule_ids` are those of all rules of the file by place; `unread` are the keys of rules that could not be
    read or were not asked for.
    """

    document: Document
    persona: PersonaBlock | None
    rules: Sequence[Placed[RuleBlock]]
    learning: Sequence[Placed[LearningBlock]]
    rule_ids: Sequence[str]
    unread: frozenset[str]
    problems: Sequence[Problem]
    rule: str | None = None

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Raises SourceError: every key that is unknown, missing or of the wrong kind, with its line."""
        file = cls.scan(path)
        if file.problems:
            raise SourceError(file.problems)
        return file

    @classmethod
    def scan(cls, path: FilePath, rule: str | None = None) -> Self:
        """As `read`, but keeps going. With the key of a rule, it is read with its pair, its sibling and the
        learning sessions, and only what concerns it is told.

        Raises SourceError for a file that is no source at all, and for a key that no rule has.
        """
        document = parse_document(path)
        data = document.data
        raw_rules, raw_learning = _list(data.get("rules")), _list(data.get("learning"))
        keys = [str(_get(raw, "key")) for raw in raw_rules]
        if rule is not None and rule not in keys:
            raise SourceError([document.problem(("rules",), f"no rule {rule!r}; {nearest(rule, keys)}")])
        wanted = [rule is None or key in _held_against(rule, raw_rules) for key in keys]
        problems = Problems(document)
        persona = _read(PersonaBlock, data.get("persona"), ("persona",), problems)
        rules = list(_blocks(RuleBlock, raw_rules, "rules", wanted, problems))
        learning = list(
            _blocks(LearningBlock, raw_learning, "learning", [True] * len(raw_learning), problems)
        )
        if rule is None:
            _top_level(data, problems)
        for where, reason in document.faults:
            problems.add(where, reason)
        read = {placed.block.key for placed in rules}
        return cls(
            document=document,
            persona=persona,
            rules=rules,
            learning=learning,
            rule_ids=numbered(path.stem, [str(_get(raw, "domain")) for raw in raw_rules]),
            unread=frozenset(keys) - read,
            problems=problems.found,
            rule=rule,
        ).told_in_part()

    def told_in_part(self) -> Self:
        """Without the problems of rules that were not asked for."""
        return replace(self, problems=[p for p in self.problems if self.concerns(str(p))])

    def concerns(self, failure: str) -> bool:
        """Whether a failure lies in what was asked for: everything, or one rule with its sessions."""
        if self.rule is None:
            return True
        sessions = enumerate(_list(self.document.data.get("learning")))
        own = [f"learning[{index}]" for index, raw in sessions if _get(raw, "for") == self.rule]
        named = (f": rules[{self.rule}]", f"rule {self.rule}", *(f": {name}" for name in own))
        return any(name in failure for name in named)

    @property
    def keys(self) -> list[str]:
        """The keys of all rules of the file, those that could not be read among them."""
        return [str(_get(raw, "key")) for raw in _list(self.document.data.get("rules"))]

    @property
    def source(self) -> Source:
        """Of a file that was read without a problem, or of the part that was asked for."""
        nobody = PersonaBlock(id=FilePath(self.document.file).stem, name="", facts={}, narrative="")
        return Source.model_construct(
            persona=self.persona or nobody,
            vocab=self.document.data.get("vocab") or {},
            rules=[placed.block for placed in self.rules],
            learning=[placed.block for placed in self.learning],
        )


def _held_against(rule: str, raw_rules: Sequence[Any]) -> set[str]:
    """The keys of a rule, of the other one of its scope pair, and of its sibling."""
    mine = next((raw for raw in raw_rules if _get(raw, "key") == rule), None)
    pair, sibling = _get(mine, "pair"), _get(mine, "sibling")
    mates = {str(_get(raw, "key")) for raw in raw_rules if pair and _get(raw, "pair") == pair}
    return {rule, *mates, *([str(sibling)] if sibling else [])}


def _get(raw: Any, key: str) -> Any:
    return cast(dict[str, Any], raw).get(key) if isinstance(raw, dict) else None


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _top_level(data: Mapping[str, Any], problems: Problems) -> None:
    known = list(Source.model_fields)
    for key in data:
        if key not in known:
            problems.add((key,), f"is no key here; {nearest(key, known)}")
    for key in ("rules", "learning"):
        if key not in data:
            problems.add((key,), "is missing")
        elif not isinstance(data[key], list):
            problems.add((key,), f"should be a list, [...]; is {_short(data[key])}")
        elif key == "rules" and not data[key]:
            problems.add((key,), "is empty")
    vocab = data.get("vocab")
    if not vocab:
        problems.add(("vocab",), "is empty; people, places and projects of the persona belong in it")
        return
    try:
        TypeAdapter(dict[str, str]).validate_python(vocab, strict=True)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            problems.found.append(_problem(problems.document, ("vocab",), detail))


def _blocks(
    model: type[BlockT], raw: Sequence[Any], name: str, wanted: Sequence[bool], problems: Problems
) -> Iterator[Placed[BlockT]]:
    for index, (item, kept) in enumerate(zip(raw, wanted, strict=True)):
        block = _read(model, item, (name, index), problems) if kept else None
        if block is not None:
            yield Placed(index, block)


def _read(model: type[BlockT], raw: Any, path: Path, problems: Problems) -> BlockT | None:
    if raw is None:
        problems.add(path, "is missing")
        return None
    mended = respelt(model, raw, path, problems.add)
    try:
        return model.model_validate(mended)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            problems.found.append(_problem(problems.document, path, detail))
        return None


_KINDS = {
    "string_type": "text; put it in quotes",
    "int_type": "a whole number",
    "list_type": "a list, [...]",
    "dict_type": "a mapping, {key: value}",
    "model_type": "a mapping, {key: value}",
}


def _problem(document: Document, above: Path, detail: ErrorDetails) -> Problem:
    loc = (*above, *(step for step in detail["loc"] if step not in ("str", "BlindFace")))
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return document.problem(loc, "is missing")
    path = max((loc[:size] for size in range(len(loc) + 1) if loc[:size] in document.lines), key=len)
    if kind in _KINDS:
        reason = f"should be {_KINDS[kind]}; is {_short(detail['input'])}"
    elif kind == "literal_error":
        reason = f"should be {context['expected']}; is {_short(detail['input'])}"
    elif kind == "string_pattern_mismatch":
        reason = f"should be lower-case words joined by _; is {_short(detail['input'])}"
    elif kind == "too_short":
        reason = "is empty"
    else:
        reason = f"{detail['msg'][0].lower()}{detail['msg'][1:]}; is {_short(detail['input'])}"
    return document.problem(path, reason)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
