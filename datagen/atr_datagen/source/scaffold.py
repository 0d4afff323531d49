"""The skeleton of a persona source: what the plan fixes is filled in, what it asks for stands in comments."""

from __future__ import annotations

from collections.abc import Iterator

from atr_data.errors import DataError
from atr_datagen.plan.model import Plan, PlannedPersona, PlannedRule, PlannedSession
from atr_datagen.source.document import nearest

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
    yield f"  bind: {rule.slot}"
    if rule.type == "param_enum":
        yield f"  gold: {rule.gold}"
    if rule.blind:
        yield f"  blind: {rule.blind}"
    if rule.pinned:
        yield "  pin: {}"
    if rule.sibling is not None:
        yield f"  sibling: {_key(persona.rules[rule.sibling])}"
    if rule.pair:
        yield f"  pair: {rule.tool}"
    yield "  text: TO WRITE"
    yield "  answer: TO WRITE"
    yield "  default: TO WRITE"
    yield "  evidence: [{type: inferred, content: TO WRITE}]"
    yield "  test:"
    yield "    say: TO WRITE"
    if rule.type == "param_id":
        yield "    must: []"
        yield "    rule_is: []"
        yield f"    pulls: {{{', '.join(f'{pull.field}: {pull.direction}' for pull in rule.pulls)}}}"
    yield "    rows: []"


def wishes(persona: PlannedPersona, rule: PlannedRule) -> Iterator[str]:
    """What the plan wants of a rule, in sentences."""
    for pull in rule.pulls:
        place = f"{pull.rank} of {rule.candidates}"
        yield f"gold is {place} on {pull.field} ({pull.direction} draws); every pull row is ahead of it"
    if rule.trigger:
        yield f"trigger: {rule.trigger}"
    if rule.pair:
        other = next(r for r in persona.rules if r.pair == rule.pair and r is not rule)
        yield f"scope pair with {_key(other)}: same slot, another trigger, another gold"
    if rule.type == "tool_identity":
        yield f"gold {rule.gold}, and not {rule.blind}"
    if rule.mirrored:
        yield "with a mirror"


def _session(persona: PlannedPersona, session: PlannedSession) -> Iterator[str]:
    yield f"# {' > '.join(session.path)}"
    if session.drawn:
        yield f"# drawn: {', '.join(f'{slot} = {value}' for slot, value in session.drawn.items())}"
    if session.rule is not None and session.role == "near":
        yield f"# the other tool of {_key(persona.rules[session.rule])}"
    rule = persona.rules[session.rule] if session.rule is not None and session.role == "direct" else None
    subject = _key(rule) if rule else session.domain
    steps = ", ".join(f'"{tool}()"' for tool in session.path)
    yield f"- {{for: {subject}, role: {session.role}, family: {session.family}, day: {session.day},"
    yield f"   open: TO WRITE, know: {{}}, rows: [], steps: [{steps}]}}"


def _key(rule: PlannedRule) -> str:
    return f"rule_{rule.index + 1:02d}"
