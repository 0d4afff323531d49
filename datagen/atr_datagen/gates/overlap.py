"""Gate O1: nothing of our data stands in another dataset, such as the official release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self, cast

from atr_data.english.words import has_phrase
from atr_data.episode import Episode, LearningSession, Rule, TestSession
from atr_datagen.source.predicates import items
from atr_datagen.text import jaccard, words

RUN = 8
"""Words in a row that count as copied."""
SIMILAR = 0.60
"""Share of common content words above which two rules are one rule."""

_PEOPLE = frozenset({"sender", "owner", "organizer", "participants", "recipient"})
Failures = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What our data must keep clear of. `people` holds full names and addresses in lower case."""

    runs: frozenset[str]
    rules: tuple[tuple[str, frozenset[str]], ...]
    people: frozenset[str]
    ids: frozenset[str]

    @classmethod
    def of(cls, episodes: Iterable[Episode]) -> Self:
        kept = list(episodes)
        return cls(
            runs=frozenset(run for e in kept for _, text in prose(e) for run in _runs(text)),
            rules=tuple((r.rule_id, w) for e in kept for r in e.rules for w in _wordings(r, e)),
            people=frozenset(name for e in kept for name in _people(e)),
            ids=frozenset(name for e in kept for name in _ids(e)),
        )


def overlap(episode: Episode, corpus: Corpus) -> Failures:
    """Shared runs of eight words in prose, rules more than .60 alike, people and ids that recur."""
    texts = list(prose(episode))
    for owner, text in texts:
        shared = next((run for run in _runs(text) if run in corpus.runs), None)
        if shared:
            yield owner, f"shares the words {shared!r} with the other dataset"
    for rule in episode.rules:
        for wording in _wordings(rule, episode):
            other = next((name for name, theirs in corpus.rules if jaccard(wording, theirs) > SIMILAR), None)
            if other:
                yield rule.rule_id, f"is more than {SIMILAR:.0%} alike rule {other} of the other dataset"
    for name in sorted(_people(episode) & corpus.people):
        yield episode.episode_id, f"the person {name!r} stands in the other dataset"
    whole = " \n ".join(text for _, text in texts)
    for name in sorted(corpus.people - _people(episode)):
        if " " in name and has_phrase(name, whole):
            yield episode.episode_id, f"the person {name!r} stands in the other dataset"
    for name in sorted(_ids(episode) & corpus.ids):
        yield episode.episode_id, f"the id {name!r} stands in the other dataset"


def prose(episode: Episode) -> Iterator[tuple[str, str]]:
    """All written text of an episode, each with the id of the rule or session that it belongs to."""
    yield episode.episode_id, episode.raw_persona.narrative
    for rule in episode.rules:
        evidence = (item.content for item in rule.evidence)
        for text in (rule.rule_text, rule.canonical_answer, rule.counterfactual_default, *evidence):
            yield rule.rule_id, text
    for session in episode.learning_sessions:
        yield session.session_id, session.reason_for_call
        yield from ((session.session_id, text) for text in _strings(session.task_params))
        yield from _objects(session)
    for test in episode.test_sessions:
        yield test.session_id, test.instruction
        yield from _objects(test)


def _objects(session: LearningSession | TestSession) -> Iterator[tuple[str, str]]:
    for reference in session.local_env.references:
        yield from ((session.session_id, text) for text in _strings(reference.attributes))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in cast(dict[str, Any], value).values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _strings(item)


def _runs(text: str) -> Iterator[str]:
    tokens = re.findall(r"[a-z0-9]+", re.sub("['’]", "", text.lower()))
    return (" ".join(tokens[start : start + RUN]) for start in range(len(tokens) - RUN + 1))


def _wordings(rule: Rule, episode: Episode) -> list[frozenset[str]]:
    name = words(episode.persona_id.replace("_", " "))
    return [words(rule.canonical_answer) - name, words(rule.rule_text) - name]


def _people(episode: Episode) -> frozenset[str]:
    """Full names and addresses; a single word is a role or a firm more often than a person."""
    names = {episode.persona_id.replace("_", " "), str(episode.structured_persona.get("name", ""))}
    for session in (*episode.learning_sessions, *episode.test_sessions):
        for reference in session.local_env.references:
            for field in _PEOPLE & reference.attributes.keys():
                names |= {str(item) for item in items(reference.attributes[field])}
    return frozenset(name.strip().lower() for name in names if re.search(r"\w[\s@]+\w", name))


def _ids(episode: Episode) -> frozenset[str]:
    sessions = (*episode.learning_sessions, *episode.test_sessions)
    return frozenset(
        {episode.persona_id, *(rule.rule_id for rule in episode.rules), *(s.session_id for s in sessions)}
        | {reference.id for session in sessions for reference in session.local_env.references}
    )
