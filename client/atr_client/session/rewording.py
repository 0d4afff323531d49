"""Whether a memory says a rule in other words, as the simulated user's Classifier takes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import anyio

from atr_data.episode import Rule
from atr_data.usage import Usage
from atr_user_sim.interface import Classifier, PoolRule

MOST_SENTENCES = 500
"""How many new sentences of one text are judged; of a longer text it is not told whether it says a rule."""

_FEWEST_WORDS, _MOST_WORDS = 3, 80
_NOT_THE_USER = re.compile(r"^\[(?:tool call|tool result|assistant to user)\]: ")
_LABEL = re.compile(r"^(?:\[[^\]]*\]:?|[-*#>]+|\(asked: .*?\))\s*")
_BREAK = re.compile(r"(?<=[.!?;])\s+|[\x00-\x1f\ufffd]+")


@dataclass
class RewordedRules:
    """For one cell: each sentence is judged once, and one after the other. A question says no rule, whatever
    it is about."""

    classifier: Classifier
    rules: Sequence[Rule]
    _said: dict[str, str | None] = field(default_factory=dict[str, str | None])
    _one_at_a_time: anyio.Lock = field(default_factory=anyio.Lock)

    async def says(self, text: str, rule: Rule) -> tuple[bool | None, Usage]:
        """Whether a sentence of a text is one that the Classifier, given it in place of a question, takes for
        the rule; None where there are too many to be judged. With it what that took. Raises UserSimFault.
        """
        found = list(sentences(text))
        usage = Usage()
        async with self._one_at_a_time:
            if any(self._said.get(sentence) == rule.rule_id for sentence in found):
                return True, usage
            new = [sentence for sentence in found if sentence not in self._said]
            if len(new) > MOST_SENTENCES:
                return None, usage
            pool = [PoolRule(known.rule_id, known.canonical_answer) for known in self.rules]
            for sentence in new:
                verdict = await self.classifier.classify(question=sentence, pool=pool)
                self._said[sentence] = verdict.rule_id
                usage += verdict.usage
        return any(self._said[sentence] == rule.rule_id for sentence in new), usage


def sentences(text: str) -> Iterator[str]:
    """Those of a text, each once, that are no question: out of JSON its texts, of a transcript what the
    user said: a question of the agent, cut short, would read as a statement."""
    yield from dict.fromkeys(_sentences(text))


def _sentences(text: str) -> Iterator[str]:
    if (document := _document(text)) is not None:
        for inner in _texts(document):
            yield from _sentences(inner)
        return
    for line in text.split("\n"):
        if (document := _document(line)) is not None:
            for inner in _texts(document):
                yield from _sentences(inner)
        elif not _NOT_THE_USER.match(line):
            yield from filter(_may_state, map(_bare, _BREAK.split(_bare(line))))


def _bare(text: str) -> str:
    """Without what stands before the words: who said it, a bullet, the question that it answers."""
    text = text.strip()
    while label := _LABEL.match(text):
        text = text[label.end() :]
    return text


def _may_state(text: str) -> bool:
    return _FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS and not text.rstrip("\"')*_ ").endswith("?")


def _document(text: str) -> Any:
    """The JSON object or list that a text is; None for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _texts(document: Any) -> Iterator[str]:
    if isinstance(document, str):
        yield document
    elif isinstance(document, dict):
        for inner in cast(dict[str, Any], document).values():
            yield from _texts(inner)
    elif isinstance(document, list):
        for inner in cast(list[Any], document):
            yield from _texts(inner)
