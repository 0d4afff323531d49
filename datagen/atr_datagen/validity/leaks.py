"""What instructions and learning sessions give away of the golds and the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from atr_datagen.gates import episode_gates as gates
from atr_datagen.text import words
from atr_datagen.validity.corpus import (
    Corpus,
    Metrics,
    Pool,
    arguments_used,
    compared,
    mean,
    rivals,
)


def leaks(corpus: Corpus) -> Metrics:
    golds = [hit for pool in corpus.pools for is_gold, hit in _own_words(pool) if is_gold]
    decoys = [hit for pool in corpus.pools for is_gold, hit in _own_words(pool) if not is_gold]
    enums, tools = _enum_uses(corpus), _tool_uses(corpus)
    return {
        "leak.gold_word_in_instruction": mean(golds),
        "leak.decoy_word_in_instruction": mean(decoys),
        "leak.gold_word_excess": max(0.0, mean(golds) - mean(decoys)),
        "leak.enum_literal_in_instruction": _failing(corpus, gates.enum_literal_in_instruction),
        "leak.tool_words_in_instruction": _failing(corpus, gates.tool_words_in_instruction),
        "leak.rule_words_in_instruction_mean": mean([_rule_words(case) for case in corpus.tests]),
        "leak.id_shares_rule_word": _failing(corpus, gates.id_shares_rule_word),
        "leak.confirm_listed_only_on_confirm": int(any(gates.confirmation_listed_evenly(corpus.tests))),
        "leak.ls_enum_gold_use": mean(enums),
        "leak.ls_enum_rules_with_history": len(enums),
        "leak.ls_tool_gold_use": mean(tools),
        "leak.ls_tool_rules_with_history": len(tools),
        "leak.ls_rule_containment_high": _failing(corpus, gates.rule_in_learning),
        "leak.opening_reveals_param": sum(
            any(gates.opening_reveals_fact(learned.session)) for learned in corpus.learning
        ),
    }


def _failing(corpus: Corpus, check: Callable[[gates.Case], gates.Failures]) -> int:
    return sum(any(check(case)) for case in corpus.tests)


def _own_words(pool: Pool) -> Iterator[tuple[bool, float]]:
    """Per candidate: whether it is gold, and whether the instruction says a word that it alone has."""
    told = words(pool.case.test.instruction)
    for place, mine in enumerate(pool.words):
        others = frozenset[str]().union(*(w for other, w in enumerate(pool.words) if other != place))
        yield place in pool.golds, float(bool((mine - others) & told))


def _rule_words(case: gates.Case) -> float:
    """The share of the rule's words that the instruction says."""
    rule = words(case.rule.canonical_answer)
    return len(rule & words(case.test.instruction)) / max(1, len(rule))


def _enum_uses(corpus: Corpus) -> list[float]:
    """Per param_enum rule whose slot is used while learning: the share of uses that take the gold."""
    found: list[float] = []
    for case in corpus.of_type("param_enum"):
        name = compared(case)[0]
        used = arguments_used(corpus.by_persona[case.episode.persona_id], case.action.tool)
        values = [arguments[name] for arguments in used if arguments.get(name) is not None]
        if values:
            found.append(mean([float(value == case.gold) for value in values]))
    return found


def _tool_uses(corpus: Corpus) -> list[float]:
    """Per tool_identity rule whose rivals are used while learning: the gold's share of those calls."""
    found: list[float] = []
    for case in corpus.of_type("tool_identity"):
        row = rivals(case.action.tool)
        sessions = corpus.by_persona[case.episode.persona_id]
        calls = [
            step.tool for learned in sessions for step in learned.session.gold_trajectory if step.tool in row
        ]
        if calls:
            found.append(mean([float(tool == case.action.tool) for tool in calls]))
    return found
