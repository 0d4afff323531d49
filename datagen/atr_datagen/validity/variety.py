"""How much repeats itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from atr_data.episode import Reference
from atr_datagen.gates.episode_gates import Case
from atr_datagen.text import jaccard, words
from atr_datagen.validity.corpus import Corpus, Metrics, acting_tool, compared

Pair = tuple[float, int, int]


def near_pairs(sets: Sequence[frozenset[str]], bound: float) -> Iterator[Pair]:
    """Pairs that share a word and are alike to `bound` (Jaccard) or more, with the places of both."""
    places: dict[str, list[int]] = defaultdict(list)
    for later, mine in enumerate(sets):
        for earlier in {place for word in mine for place in places[word]}:
            likeness = jaccard(mine, sets[earlier])
            if likeness >= bound:
                yield likeness, earlier, later
        for word in mine:
            places[word].append(later)


def variety(corpus: Corpus) -> Metrics:
    return {
        **_rules(corpus),
        "dup.binding_top_share": max(bindings(corpus).values()) / len(corpus.tests),
        "dup.instruction_pairs_ge_0.6": _alike(words(case.test.instruction) for case in corpus.tests),
        **_learning(corpus),
        "dup.cross_persona_ref_names": _shared_names(corpus),
    }


def _alike(texts: Iterable[frozenset[str]]) -> int:
    return sum(1 for _ in near_pairs(list(texts), 0.6))


def _rules(corpus: Corpus) -> Metrics:
    rules = {r.rule_id: (e.persona_id, r) for e in corpus.episodes for r in e.rules}
    names = frozenset(word for e in corpus.episodes for word in words(e.persona_id.replace("_", " ")))
    personas = [persona for persona, _ in rules.values()]
    said = [words(rule.canonical_answer) - names for _, rule in rules.values()]
    found: Metrics = {}
    for bound in (0.6, 0.4):
        pairs = list(near_pairs(said, bound))
        found[f"dup.rule_pairs_ge_{bound}"] = len(pairs)
        found[f"dup.rule_pairs_ge_{bound}_within_persona"] = sum(
            personas[one] == personas[other] for _, one, other in pairs
        )
    return found


def bindings(corpus: Corpus) -> Counter[tuple[str, ...]]:
    """How many rules that bind no id share a tool, or a tool and an enum value."""
    found = Counter[tuple[str, ...]]()
    for case in corpus.tests:
        found[_binding(case)] += case.rule.check_type != "param_id"
    return found


def _binding(case: Case) -> tuple[str, ...]:
    """A confirmation counts for the tool that is to be confirmed: what one learns of confirming an order says
    nothing of confirming a reply."""
    values = [str(case.action.arguments.get(name)) for name in compared(case)]
    return (
        case.rule.check_type,
        acting_tool(case) if case.rule.check_type == "confirm" else case.action.tool,
        *(values if case.rule.check_type == "param_enum" else ()),
    )


def _learning(corpus: Corpus) -> Metrics:
    sessions = [learned.session for learned in corpus.learning]
    openings = Counter(session.reason_for_call.strip().rstrip(".").lower() for session in sessions)
    paths = Counter(tuple(step.tool for step in session.gold_trajectory) for session in sessions)
    return {
        "dup.distinct_openings": len(openings),
        "dup.top_opening_share": max(openings.values()) / len(sessions),
        "dup.distinct_trajectories": len(paths),
        "dup.top_trajectory_share": max(paths.values()) / len(sessions),
        "dup.ls_pairs_ge_0.6": _alike(words(learned.said) for learned in corpus.learning),
    }


def _shared_names(corpus: Corpus) -> int:
    """Names of objects that occur with more than one persona."""
    owners: dict[str, set[str]] = defaultdict(set)
    for episode in corpus.episodes:
        for session in (*episode.learning_sessions, *episode.test_sessions):
            for name in filter(None, map(_name, session.local_env.references)):
                owners[name].add(episode.persona_id)
    return sum(len(personas) > 1 for personas in owners.values())


def _name(reference: Reference) -> str:
    attributes = reference.attributes
    found = attributes.get("name") or attributes.get("title") or attributes.get("subject")
    return str(found).lower() if found else ""
