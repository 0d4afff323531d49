"""Gates on compiled episodes: structure, size of pools, objects that nothing checks, leaks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from atr_data.constants import CONFIRMATION
from atr_data.english.words import has_phrase
from atr_data.episode import Episode, LearningSession, Reference, RequiredAction, Rule, TestSession
from atr_data.validate import episode_errors
from atr_datagen.source.predicates import items
from atr_datagen.text import flat, words
from atr_ontology import load_ontology, names_object

Failures = Iterator[tuple[str, str]]
"""The id of the rule or session that fails, and why."""

CANDIDATES = (5, 7)
_DEAD = frozenset({"canceled", "cancelled", "closed", "unavailable"})


@dataclass(frozen=True, slots=True)
class Case:
    """A test with its rule and its one required action."""

    episode: Episode
    rule: Rule
    test: TestSession
    action: RequiredAction

    @property
    def gold(self) -> Any:
        """The value of the argument that is compared."""
        return self.action.arguments[(self.action.compare_args or [""])[0]]


def cases(episodes: Iterable[Episode]) -> list[Case]:
    """The tests of sound episodes; a test without rule or action is a structure error and left out."""
    found: list[Case] = []
    for episode in episodes:
        for test in episode.test_sessions:
            rule, actions = episode.rule(test.rule_id), test.labels.task_success.required_actions
            if rule is not None and actions:
                found.append(Case(episode, rule, test, actions[0]))
    return found


def structure(episode: Episode) -> Failures:
    for finding in episode_errors(episode):
        owner = re.search(r"\[([^\]]+)\]", finding.key)
        yield (owner[1] if owner else episode.episode_id), f"{finding.key}: {finding.message}"


def candidates(case: Case) -> tuple[list[Reference], list[bool]]:
    """The objects of the gold's type that are still open, and which of them are gold (param_id)."""
    golds = {str(gold) for gold in items(case.gold)}
    references = case.test.local_env.references
    direct = [r for r in references if r.id in golds]
    mine = direct or [r for r in references if golds & _linked_ids(r)]
    if not mine:
        return [], []
    pool = [r for r in references if r.type == mine[0].type and (r in mine or not _is_dead(r))]
    return pool, [reference in mine for reference in pool]


def _linked_ids(reference: Reference) -> set[str]:
    return {str(value) for name, value in reference.attributes.items() if names_object(name)}


def _is_dead(reference: Reference) -> bool:
    return str(reference.attributes.get("status", "")).lower() in _DEAD


def pool_size(case: Case) -> Failures:
    count, (low, high) = len(candidates(case)[0]), CANDIDATES
    if not low <= count <= high:
        yield case.rule.rule_id, f"{count} candidates; should be {low} to {high}"


def unchecked_target(case: Case) -> Failures:
    """Several objects could be acted on and neither the pass mark nor `labels.target` says which is meant."""
    tool = load_ontology().tool(case.action.tool)
    if tool is None:
        return
    checked = {*(case.action.compare_args or []), *case.test.labels.target}
    for parameter in tool.parameters:
        count = sum(_takes(parameter.name, r, case.test.domain) for r in case.test.local_env.references)
        if (
            count > 1
            and parameter.name not in checked
            and (parameter.required or parameter.name == "thread_id")
        ):
            yield case.rule.rule_id, f"{count} objects fit {parameter.name}; name the one meant under target"


def _takes(parameter: str, reference: Reference, domain: str) -> bool:
    kind = load_ontology().objects(domain).get(reference.type)
    return bool(kind and kind.id_for(parameter, reference.id, reference.attributes))


def enum_literal_in_instruction(case: Case) -> Failures:
    if case.rule.check_type == "param_enum" and has_phrase(
        str(case.gold).replace("_", " "), case.test.instruction
    ):
        yield case.rule.rule_id, f"the instruction says the gold, {case.gold!r}"


def tool_words_in_instruction(case: Case) -> Failures:
    tool = words(case.action.tool.replace("_", " "))
    if case.rule.check_type == "tool_identity" and tool <= words(case.test.instruction):
        yield case.rule.rule_id, f"the instruction says all words of the gold tool, {case.action.tool}"


def id_shares_rule_word(case: Case) -> Failures:
    """The gold's id, and it more than the others, shares a word with what the user says of the rule."""
    if case.rule.check_type != "param_id":
        return
    pool, is_gold = candidates(case)
    said = words(case.rule.canonical_answer)
    shares = [len(words(reference.id.replace("_", " ")) & said) for reference in pool]
    golds = [share for share, gold in zip(shares, is_gold, strict=True) if gold]
    others = [share for share, gold in zip(shares, is_gold, strict=True) if not gold]
    if golds and min(golds) > max(others, default=0):
        yield case.rule.rule_id, "the id of the gold shares a word with the answer"


def confirmation_listed_evenly(all_cases: Sequence[Case]) -> Failures:
    """get_user_confirmation is offered only where it is the answer."""
    listed = [case for case in all_cases if CONFIRMATION in case.test.local_env.tools]
    if 0 < len(listed) < len(all_cases) and all(case.rule.check_type == "confirm" for case in listed):
        yield listed[0].rule.rule_id, f"{CONFIRMATION} is offered in tests of confirm rules only"


def rule_in_learning(case: Case) -> Failures:
    """One learning session's opening and facts hold 60 % of the content words of what the user would say."""
    said = words(case.rule.canonical_answer) - words(case.episode.persona_id.replace("_", " "))
    for session in case.episode.learning_sessions:
        shared = said & words(f"{session.reason_for_call} {flat(session.task_params)}")
        if said and len(shared) / len(said) >= 0.6:
            yield session.session_id, f"holds {', '.join(sorted(shared))} of rule {case.rule.rule_id}"


def opening_reveals_fact(session: LearningSession) -> Failures:
    for name, value in session.task_params.items():
        if not isinstance(value, str) or len(value) <= 3 or re.fullmatch(r"[a-z]+", value):
            continue
        if value.lower() in session.reason_for_call.lower():
            yield session.session_id, f"the opening says the fact {name}, {value!r}"
