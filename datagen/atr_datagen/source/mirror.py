"""Two faces of one test: a rule with a `mirror` block may be replaced by another one over the same objects.

The sources are public and show both faces. Which one a compiled set shows is drawn per rule from a secret
salt, so that instructions are public and golds are not.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atr_data.errors import DataError
from atr_datagen.source.grammar import MirrorBlock, PoolBlock, RuleBlock, Source, TestBlock
from atr_datagen.source.predicates import Predicate, beats, holds, items, parse_predicate
from atr_datagen.source.world import attributes_of
from atr_ontology import load_ontology

MIN_SALT = 16
"""Characters. A short salt could be found by trying: the commitment tells when it is."""
_SAYS_GOLD = {"param_id": "rule_is", "param_enum": "value", "tool_identity": "tool"}


@dataclass(frozen=True, slots=True)
class Salt:
    """A secret that draws one face per rule. Raises DataError when it is too short to stay one."""

    text: str

    def __post_init__(self) -> None:
        if len(self.text) < MIN_SALT:
            raise DataError(
                f"the mirror salt has {len(self.text)} characters; it needs {MIN_SALT} or more to be no guess"
            )

    def draws_second(self, rule_id: str) -> bool:
        return bool(self._digest(f"face of {rule_id}")[0] & 1)

    def commitment(self, shown: Mapping[str, bool]) -> str:
        """Binds the maker of a set to its faces (rule id to whether the second is shown). It tells nothing
        without the salt; whoever is given that later can compile the set again and compare."""
        faces = ",".join(f"{rule_id}={int(second)}" for rule_id, second in sorted(shown.items()))
        return f"hmac-sha256:{self._digest(f'faces {faces}').hex()}"

    def _digest(self, message: str) -> bytes:
        return hmac.digest(self.text.encode(), message.encode(), hashlib.sha256)


def mirror_problems(rule: RuleBlock) -> Iterator[tuple[str, str]]:
    """What does not fit in the header of the other face: key below `mirror`, and why."""
    mirror = rule.mirror
    if mirror is None:
        return
    needed = _SAYS_GOLD.get(rule.type)
    if needed is None:
        yield "", f"does not belong to a {rule.type} rule"
        return
    for key in _SAYS_GOLD.values():
        given = bool(getattr(mirror, key))
        if given and key != needed:
            yield key, f"does not belong to a {rule.type} rule"
        elif key == needed and not given:
            yield key, f"is missing; the other face of a {rule.type} rule needs it"
    yield from _gold_problems(rule, mirror)


def _gold_problems(rule: RuleBlock, mirror: MirrorBlock) -> Iterator[tuple[str, str]]:
    tool = load_ontology().tool(mirror.tool or rule.tool)
    if mirror.tool and (tool is None or tool not in load_ontology().domain(rule.domain).tools):
        yield "tool", f"{rule.domain} has no tool {mirror.tool!r}"
        return
    parameter = tool.parameter(rule.parameter) if tool and rule.parameter else None
    if mirror.value and parameter and mirror.value not in parameter.enum:
        yield "value", f"{parameter.name} has no value {mirror.value!r}; one of: {', '.join(parameter.enum)}"
    first, second = _golds(rule, mirror)
    if second and second == first:
        yield _SAYS_GOLD[rule.type], f"is the gold of the first face, {first!r}"
    elif second and second == rule.blind and mirror.default is None:
        yield "default", "is missing; this face asks for what `blind` does, so it needs a default of its own"
    for name in mirror.target:
        if tool and tool.parameter(name) is None:
            yield "target", f"{tool.name} has no parameter {name!r}"


def _golds(rule: RuleBlock, mirror: MirrorBlock) -> tuple[str | None, str | None]:
    """Value or tool of either face; none for rules that bind an id."""
    return (rule.tool, mirror.tool) if rule.type == "tool_identity" else (rule.gold, mirror.value)


def with_second_faces(source: Source, rule_ids: Collection[str]) -> Source:
    """The source as if its author had written the second face of those rules alone."""
    rules = [
        second_face(rule) if rule_id in rule_ids else rule
        for rule, rule_id in zip(source.rules, source.rule_ids(), strict=True)
    ]
    return source.model_copy(update={"rules": rules})


def second_face(rule: RuleBlock) -> RuleBlock:
    """The rule that the mirror block states, over the same instruction and objects, and without a mirror.

    A choice between two has no third: where the second face asks for what a rule-blind agent does, `blind`
    becomes the gold of the first. The coin makes up for that, as neither side is right more often.
    """
    mirror = rule.mirror
    if mirror is None:
        return rule
    first, second = _golds(rule, mirror)
    changes: dict[str, Any] = {
        "text": mirror.text or mirror.answer,
        "answer": mirror.answer,
        "default": mirror.default or rule.default,
        "evidence": mirror.evidence or rule.evidence,
        "blind": first if second and second == rule.blind else rule.blind,
        "mirror": None,
    }
    if rule.type == "param_enum":
        changes["gold"] = mirror.value
    if rule.type == "tool_identity":
        changes["bind"] = mirror.tool
    changes["test"] = _second_test(rule, mirror)
    return rule.model_copy(update=changes)


def _second_test(rule: RuleBlock, mirror: MirrorBlock) -> TestBlock:
    test = rule.test
    tool = load_ontology().tool(mirror.tool or rule.tool)
    assert tool is not None, "the header was found to be sound"
    kept = {name: value for name, value in test.target.items() if tool.parameter(name)}
    changes: dict[str, Any] = {"target": {**kept, **mirror.target}}
    if mirror.rule_is:
        face = _Face(
            [parse_predicate(text) for text in test.must],
            [parse_predicate(text) for text in mirror.rule_is],
            test.pulls,
        )
        changes |= {
            "rule_is": mirror.rule_is,
            "rows": face.retagged(test),
            "also": [pool.model_copy(update={"rows": face.retagged(pool)}) for pool in test.also],
        }
    return test.model_copy(update=changes)


@dataclass(frozen=True, slots=True)
class _Face:
    """Limits and rule of a face, and the fields on which a pull beats its gold."""

    must: Sequence[Predicate]
    rule_is: Sequence[Predicate]
    pulls: Mapping[str, str]

    def retagged(self, pool: PoolBlock) -> list[list[Any]]:
        """The rows with the tags that follow from the predicates. Rows without tags stay as they are."""
        names = items(next(iter(pool.pools.values()), None))
        if "tag" not in names:
            return pool.rows
        cells = [dict(zip(names, row, strict=True)) for row in pool.rows]
        objects = [attributes_of(row, pool.shared) for row in cells]
        golds = [attributes for attributes in objects if holds((*self.must, *self.rule_is), attributes)]
        tags = [self._tag(attributes, golds) for attributes in objects]
        return [list((c | {"tag": tag}).values()) for c, tag in zip(cells, tags, strict=True)]

    def _tag(self, attributes: Mapping[str, Any], golds: Sequence[Mapping[str, Any]]) -> str:
        broken, meets = sum(not p(attributes) for p in self.must), holds(self.rule_is, attributes)
        match broken, meets:
            case 0, True:
                return "gold"
            case 0, False:
                ahead = (beats(attributes, gold, f, side) for gold in golds for f, side in self.pulls.items())
                return "pull" if all(ahead) else "near"
            case 1, True:
                return "limit"
            case _:
                return "off"
