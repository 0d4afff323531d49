"""All that a chooser can see of an option without a rule: places, ranks, ids, wording, likeness, history."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from atr_data.episode import Episode, Reference
from atr_datagen.source.predicates import is_number
from atr_datagen.text import flat, jaccard, reference_words, words
from atr_datagen.validity.choosers import STOCK_VALUES, tool_words_shared
from atr_datagen.validity.limit_twin import twin_scores
from atr_datagen.validity.options import Choice
from atr_datagen.validity.policies import KINDS, feature
from atr_datagen.validity.stated_limits import NAMES, failing
from atr_ontology import load_ontology

Features = Mapping[str, float]


def features_of(choice: Choice) -> list[Features]:
    """Per option. What is the same for all options of a test tells them apart in no test, and is left out."""
    match choice.case.rule.check_type:
        case "param_id":
            return _objects(choice)
        case "param_enum":
            return _values(choice)
        case "tool_identity":
            return _tools(choice)
        case _:
            return []


def _objects(choice: Choice) -> list[Features]:
    pool = [option.reference for option in choice.options if option.reference]
    said = words(choice.case.test.instruction)
    told, played = _told(choice.case.episode), _played(choice.case.episode)
    held = [reference_words(reference) for reference in pool]
    common = held[0].intersection(*held)
    failed = failing(choice.case.test.instruction, pool)
    twins = twin_scores(choice.case.test.instruction, pool)
    fit = [place for place in range(len(pool)) if place not in failed]
    found: list[Features] = []
    for place, reference in enumerate(pool):
        mine = held[place] - common
        others = [held[other] for other in range(len(pool)) if other != place]
        alike = [jaccard(held[place], other) for other in others]
        twinned = [jaccard(mine, held[other] - common) for other in failed if other != place]
        found.append(
            {
                **_position("place", place, len(pool)),
                **_ranks(pool, place, fit),
                **_form(reference),
                "fails a limit": float(place in failed),
                "twin": twins[place] if twins[place] > 0 else 0.0,
                "twin is best": float(twins[place] > 0 and twins[place] == max(twins)),
                "like failing": max(twinned, default=0.0),
                "rare": -sum(alike) / max(1, len(alike)),
                "nearest": max(alike, default=0.0),
                "words said": float(len(mine & said)),
                "words told": float(len(mine & told)),
                "words played": float(len(mine & played)),
                "id": int(re.sub(r"[^0-9a-f]", "", choice.options[place].value[-5:]) or "0", 16) / 16**5,
            }
        )
    return found


def _position(name: str, place: int, count: int) -> dict[str, float]:
    share = place / max(1, count - 1)
    return {f"{name} share": share, f"{name} first": float(place == 0), f"{name} last": float(share == 1)}


def _ranks(pool: Sequence[Reference], place: int, fit: Sequence[int]) -> dict[str, float]:
    """Rank per kind of number and per numeric field, among all and among those that meet the limits."""
    found: dict[str, float] = {}
    columns: dict[str, list[float | None]] = {
        kind: [feature(reference, kind) for reference in pool] for kind in KINDS
    }
    for field in dict.fromkeys(name for reference in pool for name in reference.attributes):
        values = [reference.attributes.get(field) for reference in pool]
        if all(is_number(value) for value in values):
            columns[f"field {field}"] = [float(str(value)) for value in values]
        elif all(isinstance(v, str) and re.match(r"\d{4}-\d\d-\d\d|\d\d:\d\d", v) for v in values):
            order = sorted(set(map(str, values)))
            columns["times"] = [float(order.index(str(value))) for value in values]
    for name, numbers in columns.items():
        mine = numbers[place]
        if mine is None or len({number for number in numbers if number is not None}) < 2:
            continue
        for among, places in (("", range(len(pool))), (" fit", fit)):
            known = [n for p in places if (n := numbers[p]) is not None]
            below, level = sum(n < mine for n in known), sum(n == mine for n in known)
            rank = (below + (level - 1) / 2) / max(1, len(known) - 1)
            found[f"rank {name}{among}"] = rank
            found[f"middle {name}{among}"] = 1 - abs(2 * rank - 1)
            found[f"top {name}{among}"] = float(rank >= 1)
            found[f"second {name}{among}"] = float(below == len(known) - 2)
            found[f"bottom {name}{among}"] = float(rank <= 0)
    return found


def _form(reference: Reference) -> dict[str, float]:
    texts = [str(v) for k, v in reference.attributes.items() if isinstance(v, str) and k not in NAMES]
    told = " ".join(texts)
    name = next((str(reference.attributes[key]) for key in NAMES if key in reference.attributes), "")
    return {
        "text length": len(told) / 50,
        "attributes": len(reference.attributes) / 5,
        "name length": len(name) / 10,
        "name first letter": (ord(name[:1].lower() or "m") - 109) / 13,
        "digits": float(bool(re.search(r"\d", told))),
        "negation": float(bool(re.search(r"\b(no|not|none|without|never|only)\b", told, re.IGNORECASE))),
        "comma": float(told.count(",")),
        "long words": sum(len(word) > 8 for word in told.split()) / max(1, len(told.split())),
        "lists": float(sum(isinstance(value, list) for value in reference.attributes.values())),
        "truths": float(sum(value is True for value in reference.attributes.values())),
    }


def _values(choice: Choice) -> list[Features]:
    case = choice.case
    tool, name = case.action.tool, (case.action.compare_args or [""])[0]
    used = _arguments(case.episode, tool, name)
    said, told = words(case.test.instruction), _told(case.episode)
    seen = frozenset(word for r in case.test.local_env.references for word in reference_words(r))
    found: list[Features] = []
    for place, option in enumerate(choice.options):
        mine = words(option.value.replace("_", " "))
        found.append(
            {
                **_position("value", place, len(choice.options)),
                f"{tool}.{name} {option.value}": 1.0,
                f"value {option.value}": 1.0,
                "stock": float(option.value in STOCK_VALUES),
                "used": float(used[option.value]),
                "used share": used[option.value] / max(1, used.total()),
                "unused of a used one": float(used.total() > 0 and not used[option.value]),
                "said": float(len(mine & said)),
                "told": float(len(mine & told)),
                "seen": float(len(mine & seen)),
                "length": len(option.value) / 10,
            }
        )
    return found


def _tools(choice: Choice) -> list[Features]:
    case = choice.case
    sessions = case.episode.ordered_learning_sessions()
    order = [step.tool for session in sessions for step in session.gold_trajectory]
    said, told = words(case.test.instruction), _told(case.episode)
    shared = [tool_words_shared(option.value, said) for option in choice.options]
    row = "/".join(option.value for option in choice.options)
    found: list[Features] = []
    for place, option in enumerate(choice.options):
        tool = load_ontology().tool(option.value)
        uses = order.count(option.value)
        first = order.index(option.value) / len(order) if uses else 1.0
        found.append(
            {
                **_position("tool", place, len(choice.options)),
                f"tool {option.value}": 1.0,
                f"row {row} {place}": 1.0,
                "words said": float(shared[place]),
                "most said": float(shared[place] == max(shared)),
                "words told": float(tool_words_shared(option.value, told)),
                "used": float(uses),
                "first used": first,
                "target fits": float(_fits(case.test.instruction, option.value)),
                "required": float(sum(p.required for p in tool.parameters)) if tool else 0.0,
            }
        )
    return found


def _fits(say: str, tool: str) -> int:
    """Whether a verb of the tool's name, or a clock time that some tools need, stands in the request."""
    return int(tool.split("_")[0] in say.lower()) + int(bool(re.search(r"\d\d:\d\d", say)))


def _arguments(episode: Episode, tool: str, name: str) -> Counter[str]:
    return Counter(
        str(step.arguments[name])
        for session in episode.learning_sessions
        for step in session.gold_trajectory
        if step.tool == tool and step.arguments.get(name) is not None
    )


def _told(episode: Episode) -> frozenset[str]:
    """The words of the narrative and of what the user says while learning."""
    sessions = (f"{s.reason_for_call} {flat(s.task_params)}" for s in episode.learning_sessions)
    return words(" ".join([episode.raw_persona.narrative, *sessions]))


def _played(episode: Episode) -> frozenset[str]:
    """The words of the objects that were chosen while learning."""
    found: set[str] = set()
    for session in episode.learning_sessions:
        named = {str(value) for step in session.gold_trajectory for value in step.arguments.values()}
        for reference in session.local_env.references:
            ids: set[Any] = {reference.id, *map(str, reference.attributes.values())}
            if ids & named:
                found |= reference_words(reference)
    return frozenset(found)
