"""How much there is of everything, and whether the parts fit together."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from atr_data.constants import CONFIRMATION
from atr_datagen.drawn_tools import drawn_tools
from atr_datagen.gates.episode_gates import Case, candidates
from atr_datagen.text import words
from atr_datagen.validity.corpus import (
    CHECK_TYPES,
    Corpus,
    Learned,
    Metrics,
    choices,
    compared,
    needed_tool,
)
from atr_ontology import load_ontology

_LIMITS = {
    "budget": r"\$\s?\d",
    "date": r"\d{4}-\d\d-\d\d",
    "clock time": r"\b\d{1,2}(:\d\d)?\s?(am|pm)\b|\b\d\d:\d\d\b",
    "head count": r"\b(one|two|three|four|five|six|\d+) "
    r"(people|adults?|guests?|tickets?|passengers?|travell?ers?)",
    "max/min/under": r"\b(under|below|at most|at least|within|no more than|up to|max)\b",
}


def counts(corpus: Corpus) -> Metrics:
    rules = {rule.rule_id for episode in corpus.episodes for rule in episode.rules}
    return {
        "counts.personas": len(corpus.episodes),
        "counts.rules": len(rules),
        "counts.test_sessions": len(corpus.tests),
        "counts.learning_sessions": len(corpus.learning),
    }


def distribution(corpus: Corpus) -> Metrics:
    sizes = [len(episode.rules) for episode in corpus.episodes]
    types = Counter(case.rule.check_type for case in corpus.tests)
    tests = Counter(case.test.domain for case in corpus.tests)
    learning = Counter(learned.session.domain for learned in corpus.learning)
    domains = sorted(tests.keys() | learning.keys())
    said = [len(case.test.instruction.split()) for case in corpus.tests]
    return {
        "dist.rules_per_persona": f"min {min(sizes)} mean {statistics.mean(sizes):.1f} max {max(sizes)}",
        **{f"dist.check_type.{kind}": types[kind] for kind in CHECK_TYPES},
        "dist.domain_min_rules": min(tests[domain] for domain in domains),
        "dist.refs_per_test": _histogram(len(case.test.local_env.references) for case in corpus.tests),
        "dist.instruction_words": f"min {min(said)} median {statistics.median(said):.0f} max {max(said)}",
        **{
            f"dist.instruction_has.{name}": _share(
                re.search(pattern, case.test.instruction, re.IGNORECASE) is not None for case in corpus.tests
            )
            for name, pattern in _LIMITS.items()
        },
        "dist.learning_by_domain": " ".join(f"{domain}:{learning[domain]}" for domain in domains),
        "dist.trajectory_lengths": _histogram(len(x.session.gold_trajectory) for x in corpus.learning),
        **_tool_use(corpus),
        "dist.day_gap": _day_gaps(corpus),
        **_signals(corpus),
    }


def _histogram(sizes: Iterator[int]) -> str:
    return " ".join(f"{size}:{count}" for size, count in sorted(Counter(sizes).items()))


def _share(hits: Iterator[bool]) -> float:
    found = list(hits)
    return sum(found) / len(found)


def tool_names() -> set[str]:
    """Every tool of every domain, and those that all domains have, as far as the data set knows them."""
    ontology = load_ontology()
    drawn = (tool for domain in ontology.domains for tool in drawn_tools(domain))
    return {tool.name for tool in (*ontology.base_tools, *drawn)}


def _tool_use(corpus: Corpus) -> Metrics:
    uses = Counter(tool for learned in corpus.learning for tool in learned.tools())
    known = tool_names()
    return {
        "dist.tools_exercised": len(known & uses.keys()),
        "dist.tools_never_exercised": len(known - uses.keys()),
        "dist.tool_min_sessions": min(uses[tool] for tool in known),
    }


def _day_gaps(corpus: Corpus) -> str:
    gaps = [
        later.day_offset - earlier.day_offset
        for episode in corpus.episodes
        for earlier, later in pairwise(episode.learning_sessions)
    ] or [0]
    span = statistics.mean(episode.learning_sessions[-1].day_offset for episode in corpus.episodes)
    return f"min {min(gaps)} mean {statistics.mean(gaps):.2f} max {max(gaps)}; span mean {span:.0f}"


def _signals(corpus: Corpus) -> Metrics:
    """Learning sessions whose path touches the tool of some rule, and how many each rule has."""
    signal = 0
    per_rule: list[int] = []
    same_topic = 0
    for persona, sessions in corpus.by_persona.items():
        tests = [case for case in corpus.tests if case.episode.persona_id == persona]
        touched = [(learned, _touched(learned)) for learned in sessions]
        needed = {needed_tool(case) for case in tests}
        signal += sum(bool(tools & needed) for _, tools in touched)
        for case in tests:
            mine = [learned for learned, tools in touched if needed_tool(case) in tools]
            per_rule.append(len(mine))
            rule = words(case.rule.canonical_answer)
            same_topic += any(rule & words(learned.said) for learned in mine)
    return {
        "dist.signal_sessions": signal,
        "dist.noise_sessions": len(corpus.learning) - signal,
        "dist.signal_rules_share": sum(count > 0 for count in per_rule) / len(corpus.tests),
        "dist.signal_sessions_per_rule": statistics.mean(per_rule),
        "dist.signal_same_topic_share": same_topic / len(corpus.tests),
    }


def _touched(learned: Learned) -> set[str | None]:
    steps = learned.session.gold_trajectory
    return {step.tool for step in steps} | {step.arguments.get("target_tool") for step in steps}


def structure(corpus: Corpus) -> Metrics:
    errors = sum(len(list(_test_errors(case))) for case in corpus.tests)
    errors += sum(len(list(_step_errors(learned))) for learned in corpus.learning)
    return {"structure.errors": errors}


def _test_errors(case: Case) -> Iterator[str]:
    action, ids = case.action, [reference.id for reference in case.test.local_env.references]
    if action.tool not in tool_names():
        yield "unknown tool"
    for name in compared(case):
        if name not in action.arguments:
            yield "no gold for what is compared"
    if case.rule.check_type == "param_enum" and case.gold not in choices(case):
        yield "gold is no value of the enum"
    if action.tool not in case.test.local_env.tools and action.tool != CONFIRMATION:
        yield "gold tool is not offered"
    if case.rule.check_type == "param_id" and not any(candidates(case)[1]):
        yield "gold id is not among the references"
    if len(set(ids)) != len(ids):
        yield "repeated reference id"


def _step_errors(learned: Learned) -> Iterator[str]:
    for step in learned.session.gold_trajectory:
        tool = load_ontology().tool(step.tool)
        if tool is None:
            yield "unknown tool"
            continue
        names = {parameter.name for parameter in tool.parameters}
        required = {parameter.name for parameter in tool.parameters if parameter.required}
        if step.arguments.keys() - names or required - step.arguments.keys():
            yield "arguments that the tool does not have, or lacks"
