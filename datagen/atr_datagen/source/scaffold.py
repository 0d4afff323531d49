"""The skeleton of a persona source: what the plan fixes is filled in, what it asks for stands in comments."""

from __future__ import annotations

from collections.abc import Iterator

from atr_data.errors import DataError
from atr_datagen.plan.model import Plan, PlannedPersona, PlannedRule, PlannedSession
from atr_datagen.plan.sides import INSIDE
from atr_datagen.source.document import UNWRITTEN as TO_WRITE
from atr_datagen.source.document import nearest
from atr_datagen.source.grammar import ASKED, NOT_ASKED, TERMS
from atr_datagen.source.scaffold_pools import DECIDING, outline

_HEADER = """\
# {sketch}
# Written to the plan; the grammar stands in README.md. Replace every TO WRITE, then drop the comments.
persona:
  id: {id}
  name: TO WRITE
  facts: {{age: 0, occupation: TO WRITE, city: TO WRITE, state: TO WRITE, zipcode: "00000", country: USA}}
  narrative: TO WRITE  # 120 to 220 words that state no preference
vocab: {{}}  # at least 12 contacts, 8 places and 6 projects or suppliers, none used over six times
rules:"""


_INSIDE = "with nothing to choose on the rule's dimension"
_INSIDE_BY_TOOL = "with every face's tool once over its sessions"


def scaffold(plan: Plan, persona_id: str) -> str:
    """The text of `data/sources/<persona_id>.yaml` to start from.

    Raises DataError when the plan has no such persona.
    """
    persona = plan.persona(persona_id)
    if persona is None:
        known = (planned.id for planned in plan.personas)
        raise DataError(f"the plan has no persona {persona_id!r}; {nearest(persona_id, known)}")
    lines = [_HEADER.format(sketch=persona.sketch, id=persona.id)]
    for rule in persona.rules:
        lines += _rule(persona, rule)
    lines.append("learning:")
    for session in persona.learning:
        lines += _session(persona, session)
    return "\n".join(lines) + "\n"


def _rule(persona: PlannedPersona, rule: PlannedRule) -> Iterator[str]:
    yield from (f"# {text}" for text in wishes(persona, rule))
    yield f"- key: {_key(rule)}"
    yield f"  domain: {rule.domain}"
    yield f"  type: {rule.type}"
    if rule.type != "tool_identity":
        yield f"  bind: {rule.slot}"
    if rule.blind:
        declared = rule.choices.index(rule.blind) + 1 if rule.blind in rule.choices else None
        yield f"  blind: {f'{{face: face_{declared}}}' if declared else rule.blind}"
    if rule.pinned:
        yield f"  pin: {{{TO_WRITE}: {TO_WRITE}}}"
    if rule.sibling is not None:
        yield f"  sibling: {_key(persona.rules[rule.sibling])}"
    if rule.pair:
        yield f"  pair: {rule.pair.replace('.', '_')}"
    yield "  test:"
    yield from (f"    {line}" for line in outline(rule))
    yield "  faces:"
    for number in range(1, rule.faces + 1):
        yield from (f"  {line}" for line in _face(rule, number))
    for name, count in (("asked", ASKED), ("not_asked", NOT_ASKED)):
        yield f"  {name}:"
        for hand in ("a", "b"):
            yield f"    {hand}:"
            yield from [f"    - {TO_WRITE}"] * count
    yield f"  about:  # {TERMS[0]} to {TERMS[1]} terms each"
    yield from (f"    {name}: [{TO_WRITE}]" for name in ("decision", "situation", "beside"))


def _face(rule: PlannedRule, number: int) -> Iterator[str]:
    yield f"- key: face_{number}"
    if rule.type == "param_id":
        yield f'  rule_is: ["{DECIDING} == {TO_WRITE}"]'
    elif rule.choices:
        yield f"  {'tool' if rule.type == 'tool_identity' else 'value'}: {rule.choices[number - 1]}"
    yield from (f"  {name}: {TO_WRITE}" for name in ("text", "answer", "default"))
    yield f"  evidence: [{{type: inferred, content: {TO_WRITE}}}]"


def wishes(persona: PlannedPersona, rule: PlannedRule) -> Iterator[str]:
    """What the plan wants of a rule, in sentences."""
    for pull in rule.pulls:
        places = ", ".join(map(str, pull.ranks))
        where = f"{rule.candidates} on {pull.field} ({pull.direction} draws)"
        yield f"the golds of the faces are {places} of {where}; the pull row is first"
    if rule.trigger:
        yield f"trigger: {rule.trigger}"
    if rule.pair:
        other = next(r for r in persona.rules if r.pair == rule.pair and r is not rule)
        yield f"scope pair with {_key(other)}: same slot, another trigger, the same face keys"
    if rule.type == "param_enum":
        yield "other values may do for the faces where these are no preference that one could hold"
    if rule.sibling is not None:
        sibling = _key(persona.rules[rule.sibling])
        yield f"fixes the same parameters as {sibling}, which is outside the trigger"


def _session(persona: PlannedPersona, session: PlannedSession) -> Iterator[str]:
    yield f"# {' > '.join(session.path)}"
    if session.drawn:
        yield f"# drawn: {', '.join(f'{slot} = {value}' for slot, value in session.drawn.items())}"
    if session.rule is not None and session.role == "near":
        yield "# another tool of its rule"
    rule = persona.rules[session.rule] if session.rule is not None else None
    if session.trigger == INSIDE and rule:
        how = _INSIDE_BY_TOOL if rule.type == "tool_identity" else _INSIDE
        yield f"# inside the trigger of its rule, {how}"
    where = f"where: {session.trigger}, " if session.trigger else ""
    subject = _key(rule) if rule else session.domain
    steps = ", ".join(f'"{tool}()"' for tool in session.path)
    yield f"- {{for: {subject}, role: {session.role}, {where}family: {session.family}, day: {session.day},"
    yield f"   open: {TO_WRITE}, know: {{}}, rows: [], steps: [{steps}]}}"


def _key(rule: PlannedRule) -> str:
    return f"rule_{rule.index + 1:02d}"
