"""Choosers that know no rule of the persona they serve: how they rank what a test offers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from atr_datagen.gates.episode_gates import Case
from atr_datagen.text import reference_words, words
from atr_datagen.validity.choosers import STOCK_VALUES, tool_words_shared
from atr_datagen.validity.corpus import Pool, family, slot
from atr_datagen.validity.limit_twin import twin_scores
from atr_datagen.validity.options import Choice
from atr_datagen.validity.policies import HISTORY, policy_values

Preference = Sequence[float]
"""Per option; the highest is taken, and of several any."""
Ranker = Callable[[Sequence[Choice]], Sequence[Preference]]
Policies = Mapping[str, Sequence[float | None]]


class Player(Protocol):
    """`trained` is shown the tests of other personas with their golds. `confirming` says that the player asks
    for confirmation where it was taught to."""

    @property
    def name(self) -> str: ...

    @property
    def confirming(self) -> bool: ...

    def trained(self, peers: Sequence[Choice]) -> Ranker: ...


def one_by_one(rank: Callable[[Choice], Preference]) -> Ranker:
    return lambda choices: [rank(choice) for choice in choices]


@dataclass(frozen=True, slots=True)
class Memoriser:
    """Has the published golds by heart, and plays them whatever set it is given."""

    golds: Mapping[str, frozenset[str]]
    name: str = "memoriser of the public golds"
    confirming: bool = True

    @classmethod
    def of(cls, published: Iterable[Choice]) -> Memoriser:
        return cls(
            {
                choice.case.rule.rule_id: frozenset(
                    option.value for option, gold in zip(choice.options, choice.right, strict=True) if gold
                )
                for choice in published
            }
        )

    def trained(self, peers: Sequence[Choice]) -> Ranker:
        def rank(choice: Choice) -> Preference:
            known = self.golds.get(choice.case.rule.rule_id, frozenset())
            return [float(option.value in known) for option in choice.options]

        return one_by_one(rank)


@dataclass(frozen=True, slots=True)
class First:
    """The first object, the stock value, the tool whose description shares most words with the request."""

    name: str = "first, stock value, obvious tool"
    confirming: bool = False

    def trained(self, peers: Sequence[Choice]) -> Ranker:
        return one_by_one(_obvious)


def _obvious(choice: Choice) -> Preference:
    match choice.case.rule.check_type:
        case "param_id":
            return [-place for place in range(len(choice.options))]
        case "param_enum":
            return [float(option.value in STOCK_VALUES) for option in choice.options]
        case _:
            said = words(choice.case.test.instruction)
            return [tool_words_shared(option.value, said) for option in choice.options]


@dataclass(frozen=True, slots=True)
class Anything:
    name: str = "random"
    confirming: bool = False

    def trained(self, peers: Sequence[Choice]) -> Ranker:
        return one_by_one(lambda choice: [0.0] * len(choice.options))


@dataclass(frozen=True, slots=True)
class LimitTwin:
    """Of objects the one that looks most like one that fails a limit; else as First."""

    name: str = "limit twin"
    confirming: bool = False

    def trained(self, peers: Sequence[Choice]) -> Ranker:
        def rank(choice: Choice) -> Preference:
            if choice.case.rule.check_type != "param_id":
                return _obvious(choice)
            references = [option.reference for option in choice.options if option.reference]
            return twin_scores(choice.case.test.instruction, references)

        return one_by_one(rank)


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The yardstick's policies: of objects by the one that did best on the tool elsewhere, of closed choices
    the gold that was most frequent elsewhere, or the rarest one, whichever did better elsewhere."""

    name: str = "yardstick's best policies"
    confirming: bool = False
    known: dict[str, Policies] = field(default_factory=dict[str, "Policies"])
    """What the policies make of a test, by rule id: it hangs on no gold."""

    def trained(self, peers: Sequence[Choice]) -> Ranker:
        ids = [peer for peer in peers if peer.case.rule.check_type == "param_id"]
        values = {id(peer): self._policies(peer) for peer in ids}

        def best_policy(tool: str) -> str:
            seen = [peer for peer in ids if peer.case.action.tool == tool] or ids
            won: dict[str, float] = defaultdict(float)
            for peer in seen:
                for name, scores in values[id(peer)].items():
                    won[name] += _hit(scores, peer.right)
            return max(won, key=lambda name: won[name], default="first listed")

        closed = {kind: [p for p in peers if p.case.rule.check_type == kind] for kind in _GROUPS}
        signs = {kind: _sign(own, _GROUPS[kind]) for kind, own in closed.items()}

        def rank(choice: Choice) -> Preference:
            kind = choice.case.rule.check_type
            if kind == "param_id":
                scores = self._policies(choice)[best_policy(choice.case.action.tool)]
                return [_LAST if score is None else score for score in scores]
            if kind not in _GROUPS:
                return []
            group = _GROUPS[kind]
            seen = _golds(peer for peer in closed[kind] if group(peer.case) == group(choice.case))
            return [signs[kind] * seen[option.value] for option in choice.options]

        return one_by_one(rank)

    def _policies(self, choice: Choice) -> Policies:
        rule_id = choice.case.rule.rule_id
        if rule_id not in self.known:
            self.known[rule_id] = _policies(choice)
        return self.known[rule_id]


_LAST = -1e9
_GROUPS: Mapping[str, Callable[[Case], object]] = {"param_enum": slot, "tool_identity": family}


def _golds(peers: Iterable[Choice]) -> Counter[str]:
    return Counter(
        option.value for peer in peers for option, gold in zip(peer.options, peer.right, strict=True) if gold
    )


def _sign(peers: Sequence[Choice], group: Callable[[Case], object]) -> int:
    """1 when betting on the most frequent gold of the others did better among the peers, else -1."""
    won = {1: 0.0, -1: 0.0}
    for peer in peers:
        others = [p for p in peers if _elsewhere(p, peer) and group(p.case) == group(peer.case)]
        seen = _golds(others)
        for sign in won:
            won[sign] += _hit([sign * seen[option.value] for option in peer.options], peer.right)
    return max(won, key=lambda sign: won[sign])


def _elsewhere(one: Choice, other: Choice) -> bool:
    return one.case.episode.persona_id != other.case.episode.persona_id


def _policies(choice: Choice) -> Policies:
    references = [option.reference for option in choice.options if option.reference]
    golds = frozenset(place for place, gold in enumerate(choice.right) if gold)
    pool = Pool(choice.case, references, golds, [reference_words(r) for r in references])
    found = policy_values(pool, frozenset())
    return {name: values for name, values in found.items() if name != HISTORY}


def _hit(scores: Sequence[float | None], right: Sequence[bool]) -> float:
    """The chance that the best score, ties broken by chance, is a gold's."""
    known = [_LAST if score is None else score for score in scores]
    top = [place for place, score in enumerate(known) if score == max(known)]
    return sum(right[place] for place in top) / len(top) if top else 0.0
