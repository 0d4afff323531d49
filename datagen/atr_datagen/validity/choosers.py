"""Rule-blind choosers of closed choices, and choosers over all check types together.

The trained chooser has seen every gold of the other personas (leave one persona out).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from atr_datagen.gates.episode_gates import Case
from atr_datagen.text import words
from atr_datagen.validity.corpus import (
    CHECK_TYPES,
    Corpus,
    Metrics,
    acting_tool,
    choices,
    compared,
    family,
    mean,
    number,
    slot,
    tally,
)
from atr_datagen.validity.policies import Scores, blind_policies, pick_probability
from atr_ontology import load_ontology

STOCK_VALUES = frozenset("critical all relevance once general_admission refund accept en normal note".split())
_PASSED_OVER = "shortlist_destinations"
"""A chooser of actions takes it for a tool that only looks."""
_JUDGED_SLOT, _JUDGED_FAMILY = 6, 4
"""From how many rules on the most frequent gold of a slot or family counts."""

Key = Callable[[Case], Hashable]


def gold_value(case: Case) -> Any:
    return case.gold


def gold_tool(case: Case) -> str:
    return case.action.tool


def _majority(tests: Sequence[Case], group: Key, gold: Key) -> int:
    return sum(max(counts.values()) for counts in tally(tests, group, gold).values())


def _max_share(tests: Sequence[Case], group: Key, gold: Key, least: int) -> float:
    groups = tally(tests, group, gold).values()
    shares = [max(counts.values()) / counts.total() for counts in groups if counts.total() >= least]
    return max(shares, default=0.0)


def param_enum_shortcuts(corpus: Corpus) -> Metrics:
    tests = corpus.of_type("param_enum")
    return {
        "shortcut.param_enum_majority": _majority(tests, slot, gold_value) / max(1, len(tests)),
        "shortcut.enum_group_max_share": _max_share(tests, slot, gold_value, _JUDGED_SLOT),
        "shortcut.param_enum_first": mean([float([*choices(c)][:1] == [c.gold]) for c in tests]),
        "shortcut.param_enum_last": mean([float([*choices(c)][-1:] == [c.gold]) for c in tests]),
        "shortcut.param_enum_random": mean([1 / max(1, len(choices(c))) for c in tests]),
        "shortcut.stock_value_share": mean([float(c.gold in STOCK_VALUES) for c in tests]),
        "shortcut.param_enum_persona_mode": _persona_mode(tests),
    }


def _persona_mode(tests: Sequence[Case]) -> float:
    """How often the gold is the most frequent one of the other personas on the slot, if they have any."""
    hits: list[float] = []
    for case in tests:
        others = Counter(other.gold for other in _others(case, tests) if slot(other) == slot(case))
        if others:
            hits.append(float(others.most_common(1)[0][0] == case.gold))
    return mean(hits)


def _others(case: Case, tests: Iterable[Case]) -> list[Case]:
    return [other for other in tests if other.episode.persona_id != case.episode.persona_id]


def tool_shortcuts(corpus: Corpus) -> Metrics:
    tests = corpus.of_type("tool_identity")
    total = max(1, len(tests))

    def domain(case: Case) -> str:
        return case.test.domain

    return {
        "shortcut.tool_identity_majority": _majority(tests, family, gold_tool) / total,
        "shortcut.tool_identity_majority_by_domain": _majority(tests, domain, gold_tool) / total,
        "shortcut.tool_family_max_share": _max_share(tests, family, gold_tool, _JUDGED_FAMILY),
        "shortcut.tool_identity_overlap": mean(
            [tool_by_words(case, case.test.instruction) for case in tests]
        ),
    }


def tool_words_shared(name: str, said: frozenset[str]) -> int:
    """How many words a tool's name and description share with a request."""
    tool = load_ontology().tool(name)
    return len(words(f"{name.replace('_', ' ')} {tool.description if tool else ''}") & said)


def tool_by_words(case: Case, text: str) -> float:
    """How likely the writing tool whose name and description share most words with a text is the gold."""
    specs = [load_ontology().tool(name) for name in case.test.local_env.tools]
    tools = [spec for spec in specs if spec and spec.kind == "write" and spec.name != _PASSED_OVER]
    said = words(text)
    shared = [tool_words_shared(tool.name, said) for tool in tools]
    golds = frozenset(place for place, tool in enumerate(tools) if tool.name == case.action.tool)
    return pick_probability(shared, golds) if golds else 0.0


_JUDGED_PARAMETERS = frozenset(
    """
    order_id subscription_id event_id target_id message_ids thread_id file_ids flight_offer_id
    transport_offer_id tracker_id document_id reservation_id booking_id appointment_id
    """.split()
)
"""The parameters for whose objects the measure looks; the published figure knows no others."""


def unchecked_targets(corpus: Corpus) -> Metrics:
    """How often several objects could be acted on and nothing says which was meant."""
    tests = [*corpus.of_type("param_enum"), *corpus.of_type("tool_identity")]
    return {"scoring.target_unchecked_share": sum(map(_unchecked, tests)) / max(1, len(tests))}


def _unchecked(case: Case) -> bool:
    tool = load_ontology().tool(case.action.tool)
    said = {*compared(case), *case.test.labels.target}
    return any(_objects(case, p.name) > 1 for p in (tool.parameters if tool else ()) if p.name not in said)


def _objects(case: Case, parameter: str) -> int:
    types = load_ontology().objects(case.test.domain)
    references = [r for r in case.test.local_env.references if r.type in types]
    named = [types[r.type].id_for(parameter, r.id, r.attributes) for r in references]
    return sum(map(bool, named)) if parameter in _JUDGED_PARAMETERS else 0


def confirm_shortcuts(corpus: Corpus) -> Metrics:
    unpinned = [float("target_params" not in compared(case)) for case in corpus.of_type("confirm")]
    return {"shortcut.confirm_never": 0.0, "shortcut.confirm_always_unpinned_share": mean(unpinned)}


def combined_shortcuts(corpus: Corpus, scores: Scores, parts: Metrics) -> Metrics:
    """Over all check types. `parts` are the measures of the types one by one."""
    tests = {kind: corpus.of_type(kind) for kind in CHECK_TYPES}
    total = len(corpus.tests)
    by_tool: dict[str, list[Case]] = defaultdict(list)
    for case in tests["param_id"]:
        by_tool[case.action.tool].append(case)
    ids = sum(
        max((_total(scores, name, c) for name in blind_policies(scores)), default=0) for c in by_tool.values()
    )
    enums = _majority(tests["param_enum"], slot, gold_value)
    tools = _majority(tests["tool_identity"], family, gold_tool)
    trained = {
        "param_id": _trained_policy(scores, tests["param_id"], by_tool),
        "param_enum": _trained_bet(tests["param_enum"], slot, gold_value, choices),
        "tool_identity": _trained_bet(tests["tool_identity"], family, gold_tool, _offered_rivals),
        "confirm": 0.0,
    }
    naive = (
        mean(list(scores.get("rating + popularity + price", {}).values())) * len(tests["param_id"])
        + number(parts, "shortcut.stock_value_share") * len(tests["param_enum"])
        + number(parts, "shortcut.tool_identity_overlap") * len(tests["tool_identity"])
    )
    best_id = number(parts, "shortcut.param_id_best") * len(tests["param_id"])
    lopo = sum(trained.values())
    return {
        "shortcut.best_in_sample": (ids + enums + tools) / total,
        "shortcut.best_one_policy_per_type": (best_id + enums + tools) / total,
        **{f"shortcut.lopo.{kind}": won / max(1, len(tests[kind])) for kind, won in trained.items()},
        "shortcut.best_lopo": lopo / total,
        "shortcut.best_lopo_confirming_everything": (lopo + len(tests["confirm"])) / total,
        "shortcut.naive_default_agent": naive / total,
    }


def _offered_rivals(case: Case) -> set[str]:
    return {*family(case)} & {*case.test.local_env.tools} if len(family(case)) > 1 else {*family(case)}


def _total(scores: Scores, policy: str, tests: Iterable[Case]) -> float:
    return sum(scores[policy].get(case.rule.rule_id, 0) for case in tests)


def _trained_policy(scores: Scores, tests: Sequence[Case], by_tool: dict[str, list[Case]]) -> float:
    """The policy that did best on the tool in the other personas, or on all tools where they lack it."""
    won = 0.0
    for case in tests:
        seen = _others(case, by_tool[case.action.tool]) or _others(case, tests)
        best = max(blind_policies(scores), key=lambda name: _total(scores, name, seen), default=None)
        won += scores[best].get(case.rule.rule_id, 0) if best else 0.0
    return won


def _trained_bet(
    tests: Sequence[Case], group: Key, gold: Key, options: Callable[[Case], Iterable[Hashable]]
) -> float:
    """Bets on the most frequent gold of the other personas, or, against an even set, on the rarest."""
    groups = {key: [case for case in tests if group(case) == key] for key in map(group, tests)}
    won = [0.0, 0.0]
    for case in tests:
        members = groups[group(case)]
        seen = Counter(gold(other) for other in _others(case, members))
        known = {*options(case), *seen}
        for bet, sign in enumerate((1, -1)):
            top = max(sign * seen[option] for option in known)
            tied = [option for option in known if sign * seen[option] == top]
            won[bet] += (gold(case) in tied) / len(tied)
    return max(won)


def asking(corpus: Corpus) -> Metrics:
    """How far one fixed list of questions goes, and how many rules hold only under a condition."""
    tests = corpus.tests
    slots = Counter((acting_tool(case), case.rule.check_type) for case in tests)
    own = Counter((case.episode.persona_id, acting_tool(case), case.rule.check_type) for case in tests)
    condition = r"\b(when|if|unless|except|only|whenever|once|after|before|until|otherwise)\b"
    return {
        "ask.distinct_slots": len(slots),
        "ask.ten_slot_coverage": sum(count for _, count in slots.most_common(10)) / len(tests),
        "ask.same_slot_rule_pairs_within_persona": sum(n * (n - 1) // 2 for n in own.values()),
        "ask.conditional_rule_share": mean(
            [float(bool(re.search(condition, c.rule.canonical_answer, re.IGNORECASE))) for c in tests]
        ),
    }


def lexical_oracle(corpus: Corpus) -> Metrics:
    """Choosers that know the rule but only compare words."""
    ids = [
        pick_probability(
            [len(mine & words(pool.case.rule.canonical_answer)) for mine in pool.words], pool.golds
        )
        for pool in corpus.pools
    ]
    enums = [_value_by_words(case) for case in corpus.of_type("param_enum")]
    tools = [tool_by_words(case, case.rule.canonical_answer) for case in corpus.of_type("tool_identity")]
    asks = r"\b(ask|check|confirm|run it by|okay|ok|approve|sign off)"
    confirms = [
        float(bool(re.search(asks, case.rule.canonical_answer, re.IGNORECASE)))
        for case in corpus.of_type("confirm")
    ]
    return {
        "oracle.lexical_param_id": mean(ids),
        "oracle.lexical_param_enum": mean(enums),
        "oracle.lexical_tool_identity": mean(tools),
        "oracle.lexical_confirm": mean(confirms),
        "oracle.lexical_overall": (sum(ids) + sum(enums) + sum(tools) + sum(confirms)) / len(corpus.tests),
    }


def _value_by_words(case: Case) -> float:
    said, options = words(case.rule.canonical_answer), choices(case)
    golds = frozenset(place for place, option in enumerate(options) if option == case.gold)
    return (
        pick_probability([len(words(o.replace("_", " ")) & said) for o in options], golds) if golds else 0.0
    )
