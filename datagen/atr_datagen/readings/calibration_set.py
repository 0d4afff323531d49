"""Question lines as labelled turns, for measuring and teaching who recognises and answers them.

Persona and writer stand in every line, so that what one hand wrote can test what the other's teaches.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from atr_datagen.source.compile import Compiled
from atr_datagen.source.scenario import TestScenario

CLASSIFIER, ROUTER = "lines_classifier.jsonl", "lines_router.jsonl"
_BEFORE = (
    "",
    "",
    "I have looked at what there is.",
    "Two of them would do.",
    "Before I go on, one thing.",
    "That part is taken care of.",
    "I can do this for you today.",
    "Thanks, that helps.",
    "Nothing stands in the way so far.",
    "Good, I have all I need for the call itself.",
)
_AFTER = (
    "",
    "",
    "",
    "I would then keep to it from now on.",
    "No hurry with the answer.",
    "It helps me with later errands too.",
    "Then I will finish this.",
)
_REASONS = (
    "Asking how the user likes things.",
    "One question before I act.",
    "Learning a habit of the user.",
)


def classifier_lines(compiled: Iterable[Compiled]) -> Iterator[dict[str, Any]]:
    """Each question with all answers of its persona, and the rule that answers it, or none."""
    for c in compiled:
        pool = [
            {"rule_id": t.rule_id, "statement": t.faces[c.shown[t.rule_id]].block.answer} for t in c.tests
        ]
        for test in c.tests:
            for kind, writer, number, question in _questions(test):
                yield {
                    "source": f"{test.rule_id}_{kind}_{writer}{number}",
                    "kind": kind if kind == "not_asked" else "plain" if number == 1 else "asked",
                    "persona": c.source.persona.id,
                    "writer": writer,
                    "rule_question_span": question,
                    "gold_rule_id": test.rule_id if kind == "asked" else None,
                    "rule_pool": pool,
                }


def router_lines(compiled: Iterable[Compiled]) -> Iterator[dict[str, Any]]:
    """Each question that a rule answers with some text around it, and as often such text without one.

    What nothing answers is left out: some of it asks for a habit, and some for a detail of the task.
    """
    for c in compiled:
        for test in c.tests:
            for kind, writer, number, question in _questions(test):
                if kind != "asked":
                    continue
                source = f"{test.rule_id}_{writer}{number}"
                before, after = _drawn(_BEFORE, source, "before"), _drawn(_AFTER, source, "after")
                told = {"persona": c.source.persona.id, "writer": writer}
                told["reason"] = _drawn(_REASONS, source, "reason")
                yield {
                    "source": source,
                    "kind": "question",
                    **told,
                    "output": " ".join(filter(None, (before, question, after))),
                    "gold_is_strict_rule_question": True,
                    "gold_rule_question_span": question,
                }
                yield {
                    "source": f"{source}_silent",
                    "kind": "status",
                    **told,
                    "output": " ".join(filter(None, (before or _BEFORE[2], after or _AFTER[-1]))),
                    "gold_is_strict_rule_question": False,
                    "gold_rule_question_span": None,
                }


def as_lines(lines: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _questions(test: TestScenario) -> Iterator[tuple[str, str, int, str]]:
    """Kind, writer, number from 1, question."""
    for kind, hands in (("asked", test.rule.asked), ("not_asked", test.rule.not_asked)):
        for writer, lines in (("a", hands.a), ("b", hands.b)):
            yield from ((kind, writer, number, line) for number, line in enumerate(lines, start=1))


def _drawn(options: Sequence[str], *seed: str) -> str:
    digest = hashlib.sha256("|".join(seed).encode()).digest()
    return options[int.from_bytes(digest[:4], "big") % len(options)]
