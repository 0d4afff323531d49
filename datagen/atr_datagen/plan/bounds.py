"""What a plan must hold by itself, before anything is written to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from atr_data.constants import CONFIRMATION
from atr_datagen.drawn_tools import drawn_tools
from atr_datagen.gates.report import GateResult
from atr_datagen.plan.composition import COMPOSITION
from atr_datagen.plan.learning import FAMILY_USES
from atr_datagen.plan.model import Plan, PlannedPersona, PlannedRule, slots
from atr_datagen.plan.sides import INSIDE, OUTSIDE, fits_inside, uneven
from atr_datagen.validity.corpus import CHECK_TYPES
from atr_evaluator.guess_bound import LIMIT, LIMIT_CONFIRMING, GuessBound
from atr_ontology import DOMAINS

RULES_PER_PERSONA = {14: 16, 15: 4}
SLOTS, SCOPE_PAIRS, BINDING_SHARE = 42, 30, 0.035
CONFIRM_TARGETS, CONFIRM_PINNED = 16, 12
PAIR_FACES = 3
FEWEST = {"param_id": 3, "param_enum": 2, "tool_identity": 2, "confirm": 1}
FAMILIES, FAMILIES_PER_DOMAIN = 84, 14
PATHS, PATH_SHARE, SHORT_SHARE, LONG_SHARE = 120, 0.05, 0.05, 0.20
TOOL_SESSIONS, SIGNAL_SHARE, TWO_SIGNALS_SHARE = 3, 0.97, 0.30

Failures = Iterator[str]


def check_plan(plan: Plan) -> list[GateResult]:
    """The counts and bounds that can be read off a plan."""
    gates: dict[str, Callable[[Plan], Failures]] = {
        "plan counts": _counts,
        "plan composition": _composition,
        "plan tools": _tools,
        "plan slots": _slots,
        "plan scope pairs": _pairs,
        "plan faces": _faces,
        "plan guess bound": _guess,
        "plan reading": _reading,
        "plan ranks": _ranks,
        "plan confirm": _confirm,
        "plan roles": _roles,
        "plan rivals shown": _rivals_shown,
        "plan sides": _sides,
        "plan families": _families,
        "plan paths": _paths,
        "plan signal": _signal,
        "plan order": _order,
    }
    notes = {
        "plan counts": _sizes(plan),
        "plan composition": _table(plan),
        "plan tools": f"{len({tool for _, session in plan.sessions() for tool in session.path})} tools used",
        "plan slots": f"{len(_distinct_slots(plan))} slots",
        "plan scope pairs": f"{sum(len(names) for names in _pair_names(plan))} pairs",
        "plan guess bound": str(_bound(plan)),
    }
    results: list[GateResult] = []
    for name, check in gates.items():
        failures = tuple(f"plan.csv: {line}" for line in check(plan))
        results.append(GateResult(name, int(not failures), 1, failures, notes.get(name)))
    return results


def _sizes(plan: Plan) -> str:
    rules, sessions = sum(1 for _ in plan.rules()), sum(1 for _ in plan.sessions())
    return f"{len(plan.personas)} personas, {rules} rules and tests, {sessions} learning sessions"


def _table(plan: Plan) -> str:
    """Rules per type, in the order of the domains."""
    found = Counter((rule.type, rule.domain) for _, rule in plan.rules())
    rows = (f"{kind} {'/'.join(str(found[kind, domain]) for domain in DOMAINS)}" for kind in CHECK_TYPES)
    return f"{'/'.join(DOMAINS)}: {', '.join(rows)}"


def _distinct_slots(plan: Plan) -> set[tuple[str, str]]:
    return {(rule.slot, rule.type) for _, rule in plan.rules()}


def _pair_names(plan: Plan) -> Iterator[set[str]]:
    yield from ({rule.pair for rule in persona.rules if rule.pair} for persona in plan.personas)


def _bound(plan: Plan, personas: Sequence[str] | None = None) -> GuessBound:
    rules = [rule for p in plan.personas if personas is None or p.id in personas for rule in p.rules]
    return GuessBound.of((rule.type, rule.faces) for rule in rules)


def _counts(plan: Plan) -> Failures:
    sizes = Counter(len(persona.rules) for persona in plan.personas)
    if sizes != RULES_PER_PERSONA:
        yield f"personas by number of rules are {dict(sizes)}; should be {RULES_PER_PERSONA}"
    for persona in plan.personas:
        if len(persona.learning) != 2 * len(persona.rules):
            yield f"{persona.id} has {len(persona.learning)} learning sessions; should be two per rule"


def _composition(plan: Plan) -> Failures:
    found = Counter((rule.domain, rule.type) for _, rule in plan.rules())
    for cell, count in COMPOSITION.items():
        if found[cell] != count:
            yield f"{' '.join(cell)} has {found[cell]} rules; should be {count}"


def _tools(plan: Plan) -> Failures:
    uses = Counter(tool for _, session in plan.sessions() for tool in set(session.path))
    known = [tool.name for domain in DOMAINS for tool in drawn_tools(domain)]
    for tool in [*known, CONFIRMATION]:
        if uses[tool] < TOOL_SESSIONS:
            yield f"{tool} is used in {uses[tool]} learning sessions; at least {TOOL_SESSIONS} are needed"


def _slots(plan: Plan) -> Failures:
    distinct = _distinct_slots(plan)
    if len(distinct) < SLOTS:
        yield f"{len(distinct)} slots; at least {SLOTS} are needed"
    for _, rule in plan.rules():
        if rule.parameter in ("update_scope", "field"):
            yield f"{rule.slot} is bound by a rule"


def _pairs(plan: Plan) -> Failures:
    total = 0
    for persona in plan.personas:
        members: dict[str, list[int]] = defaultdict(list)
        for rule in persona.rules:
            if rule.pair:
                members[rule.pair].append(rule.index)
        total += len(members)
        if not 1 <= len(members) <= 2:
            yield f"{persona.id} has {len(members)} scope pairs; should have one or two"
        for name, pair in members.items():
            rules = [persona.rules[index] for index in pair]
            if len(pair) != 2 or len({rule.slot for rule in rules}) != 1:
                yield f"{persona.id}: the pair {name} is not two rules on one slot"
            elif min(rule.faces for rule in rules) < PAIR_FACES:
                yield f"{persona.id}: the pair {name} has fewer than {PAIR_FACES} faces"
            elif {*rules[0].choices} != {*rules[1].choices}:
                yield f"{persona.id}: the rules of the pair {name} have different faces"
    if total < SCOPE_PAIRS:
        yield f"{total} scope pairs; at least {SCOPE_PAIRS} are needed"


def _faces(plan: Plan) -> Failures:
    """Enough faces, each another one, and no value or tool that many golds may be expected to be."""
    total = sum(1 for _ in plan.rules())
    expected: dict[tuple[str, str], float] = defaultdict(float)
    for persona, rule in plan.rules():
        where = f"{persona.id} rule {rule.index}"
        least = FEWEST[rule.type]
        if rule.faces < least or (rule.choices and len(set(rule.choices)) != rule.faces):
            yield f"{where} has faces {', '.join(rule.choices) or rule.faces}; should be {least} or more"
        for choice in rule.choices:
            expected[rule.slot if rule.type == "param_enum" else "", choice] += 1 / rule.faces
    for (slot, choice), count in expected.items():
        if count > BINDING_SHARE * total:
            yield f"{slot} {choice} is expected of {count:.1f} rules; at most {BINDING_SHARE:.1%}".strip()


def _guess(plan: Plan) -> Failures:
    for name, personas in (("the plan", None), ("the mini split", plan.mini)):
        bound = _bound(plan, personas)
        if not bound.ok:
            limits = f"at most {LIMIT} and {LIMIT_CONFIRMING} when confirming"
            yield f"guess bound of {name} is {bound}; {limits}"


def _reading(plan: Plan) -> Failures:
    filters = {slot.name for own in slots().values() for slot in own if slot.reading}
    for persona in plan.personas:
        count = sum(rule.slot in filters for rule in persona.rules)
        if count > 1:
            yield f"{persona.id} has {count} rules on filters of searches; at most one"


def _ranks(plan: Plan) -> Failures:
    for persona, rule in plan.rules():
        where = f"{persona.id} rule {rule.index}"
        for pull in rule.pulls:
            allowed = range(2, rule.candidates + 1)
            if len(set(pull.ranks)) != rule.faces or not set(pull.ranks) <= set(allowed):
                yield f"{where}: {pull.field} ranks {'/'.join(map(str, pull.ranks))} of {rule.candidates}"
        if len(set(rule.limits)) != len(rule.limits) or (rule.pulls and not rule.limits):
            yield f"{where}: limit rows repeat {', '.join(rule.limits) or 'nothing'}"


def _confirm(plan: Plan) -> Failures:
    rules = [(persona, rule) for persona, rule in plan.rules() if rule.type == "confirm"]
    targets, pinned = {rule.slot for _, rule in rules}, sum(rule.pinned for _, rule in rules)
    if len(targets) < CONFIRM_TARGETS:
        yield f"{len(targets)} tools to be confirmed; at least {CONFIRM_TARGETS} are needed"
    if pinned < CONFIRM_PINNED:
        yield f"{pinned} confirm rules pin arguments; at least {CONFIRM_PINNED} are needed"
    for persona, rule in rules:
        sibling = persona.rules[rule.sibling] if rule.sibling is not None else rule
        if sibling.type in ("confirm", "param_id") or rule.slot not in sibling.tools:
            yield f"{persona.id} rule {rule.index} has no sibling on {rule.slot} that names its object"


def _roles(plan: Plan) -> Failures:
    total = Counter[str]()
    for persona in plan.personas:
        roles = Counter(session.role for session in persona.learning)
        total += Counter(dict[str, int](roles))
        if roles["direct"] != len(persona.rules) or abs(roles["near"] - roles["far"]) > 1:
            yield f"{persona.id} has sessions {dict(roles)}; should be one direct per rule, near and far even"
        direct = Counter(session.rule for session in persona.learning if session.role == "direct")
        if direct != Counter(range(len(persona.rules))):
            yield f"{persona.id} has not one direct session for each rule"
    if total["near"] != total["far"]:
        yield f"{total['near']} near and {total['far']} far sessions; should be as many"


def _rivals_shown(plan: Plan) -> Failures:
    for persona, rule in plan.rules():
        if rule.type == "tool_identity":
            used = [tool for session in persona.learning for tool in set(session.path)]
            for tool in rule.tools:
                if tool not in used:
                    yield f"{persona.id} rule {rule.index}: {tool} is in no learning session"


def _sides(plan: Plan) -> Failures:
    for persona in plan.personas:
        sides = Counter(s.trigger for s in persona.learning if s.role == "direct" and s.trigger)
        if abs(sides[INSIDE] - sides[OUTSIDE]) > 1:
            yield f"{persona.id} has {uneven(sides)}"
        for session in persona.learning:
            rule = persona.rules[session.rule] if session.rule is not None else None
            if rule is None or session.trigger != INSIDE:
                continue
            where = f"{persona.id} session {session.index}"
            if not fits_inside(rule):
                yield f"{where} is inside the trigger of rule {rule.index}, which cannot be neutral there"
            elif session.drawn.get(rule.slot, "") in rule.choices:
                yield f"{where} draws {session.drawn[rule.slot]}, which is a face of rule {rule.index}"


def _families(plan: Plan) -> Failures:
    uses = Counter(session.family for _, session in plan.sessions())
    domains = Counter(family.partition(".")[0] for family in uses)
    if len(uses) < FAMILIES:
        yield f"{len(uses)} families; at least {FAMILIES} are needed"
    for domain in DOMAINS:
        if domains[domain] < FAMILIES_PER_DOMAIN:
            yield f"{domain} has {domains[domain]} families; at least {FAMILIES_PER_DOMAIN} are needed"
    for family, count in uses.items():
        if count > FAMILY_USES:
            yield f"{family} is used {count} times; at most {FAMILY_USES}"
    for persona in plan.personas:
        own = Counter(session.family for session in persona.learning)
        yield from (f"{persona.id} has {name} {count} times" for name, count in own.items() if count > 1)


def _paths(plan: Plan) -> Failures:
    paths = Counter(tuple(session.path) for _, session in plan.sessions())
    total = paths.total()
    short = sum(count for path, count in paths.items() if len(path) == 1)
    long = sum(count for path, count in paths.items() if len(path) >= 4)
    if len(paths) < PATHS:
        yield f"{len(paths)} tool paths; at least {PATHS} are needed"
    if max(paths.values()) > PATH_SHARE * total:
        yield f"one tool path holds {max(paths.values()) / total:.1%} of the sessions, over {PATH_SHARE:.0%}"
    if short > SHORT_SHARE * total:
        yield f"{short / total:.1%} of the sessions are one call; at most {SHORT_SHARE:.0%}"
    if long < LONG_SHARE * total:
        yield f"{long / total:.1%} of the sessions are four calls or more; at least {LONG_SHARE:.0%}"


def _signal(plan: Plan) -> Failures:
    found = [_signals(persona, rule) for persona, rule in plan.rules()]
    for needed, share in ((1, SIGNAL_SHARE), (2, TWO_SIGNALS_SHARE)):
        reached = sum(count >= needed for count in found) / len(found)
        if reached < share:
            yield f"{reached:.1%} of the rules have {needed} signal sessions; at least {share:.0%}"


def _signals(persona: PlannedPersona, rule: PlannedRule) -> int:
    return sum(not {*rule.tools}.isdisjoint(session.path) for session in persona.learning)


def _order(plan: Plan) -> Failures:
    for persona in plan.personas:
        for one, other in pairwise(persona.learning):
            if one.role == other.role == "direct" and one.domain == other.domain:
                yield f"{persona.id} sessions {one.index} and {other.index}: both direct and of one domain"
            if not 1 <= other.day - one.day <= 6:
                yield f"{persona.id} session {other.index} comes {other.day - one.day} days later"
