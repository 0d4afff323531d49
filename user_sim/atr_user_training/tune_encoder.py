"""Tunes the three upper layers of the encoder, so that a question comes near the lines of the rule that
answers it, and further from all lines when none does.

Makes all tunings, which lie beside the weights of the heads, or with `--without` one of them. Needs torch,
which is in no extra of this package (its processor build alone has 200 MB): `pip install torch`. The same
bytes on each run of one machine.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from atr_user_sim.calibration.records import agent_questions, persona_lines, questions, statements
from atr_user_sim.offline.minilm import PIECES, TUNING, untuned
from atr_user_sim.offline.tuned_model import layer_weights, showing
from atr_user_sim.offline.wordpieces import WordPieces
from atr_user_training.made_from import record_tuning
from atr_user_training.tunings import folder, left_out
from atr_user_training.upper_layers import UpperLayers

LAYERS = (3, 4, 5)
RANK = 16

_ROUNDS = 6
_RULES = 24
"""In a batch: two personas or so, so that it has the rivals of each rule."""

_SPEED = 6e-5
_SHARPNESS = 0.06
_NONE = 0.45
"""The likeness at which no line is near enough, to begin with; it is learned."""


@dataclass
class _Rule:
    persona: str
    statement: str
    asked: Sequence[str]
    not_asked: Sequence[str]
    answered: list[str] = field(default_factory=list[str])
    near_misses: list[str] = field(default_factory=list[str])

    @property
    def texts(self) -> list[str]:
        return [self.statement, *self.asked, *self.not_asked, *self.answered, *self.near_misses]


@dataclass
class _Batch:
    """Texts with the number of their rule, by what they are for."""

    keys: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    other_keys: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    answered: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    unanswered: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def all(self) -> list[tuple[int, str]]:
        return [*self.keys, *self.other_keys, *self.answered, *self.unanswered]


class _States:
    """What the upper layers read of a text, each text run through the lower ones once."""

    def __init__(self, model: bytes) -> None:
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        shown, self._name = showing(model, LAYERS[0])
        self._session = runtime.InferenceSession(shown, options, providers=["CPUExecutionProvider"])
        self._pieces = WordPieces(PIECES)
        self._known: dict[str, Any] = {}

    def __call__(self, text: str) -> Any:
        if text not in self._known:
            numbers = np.array([self._pieces.numbers(text)], dtype=np.int64)
            given = {"input_ids": numbers, "attention_mask": np.ones_like(numbers)}
            given["token_type_ids"] = np.zeros_like(numbers)
            self._known[text] = self._session.run([self._name], given)[0][0]
        return self._known[text]

    def mean(self, text: str) -> Any:
        vector = self(text).mean(axis=0)
        return vector / np.linalg.norm(vector)


def rules(without: Sequence[str], states: _States) -> dict[str, _Rule]:
    """Those of the groups that are not left out, with the questions on them. A question that nothing answers
    goes to the rule of its persona whose lines are nearest, to the encoder as it comes."""
    lines = persona_lines()
    found = {
        s.rule: _Rule(
            s.persona,
            s.statement,
            [line for hand in lines[s.rule].hands.values() for line in hand.asked],
            [line for hand in lines[s.rule].hands.values() for line in hand.not_asked],
        )
        for s in statements()
        if s.writer not in without
    }
    for record in (*questions(), *agent_questions()):
        pool = [rule for rule in found.values() if rule.persona == record.persona]
        if not pool:
            continue
        if record.gold is not None:
            found[record.gold].answered.append(record.question)
        else:
            asked = states.mean(record.question)
            near = [max(float(asked @ states.mean(line)) for line in rule.asked) for rule in pool]
            pool[int(np.argmax(near))].near_misses.append(record.question)
    return found


def batches(known: Mapping[str, _Rule], chance: random.Random) -> Iterator[_Batch]:
    personas: dict[str, list[_Rule]] = {}
    for rule in known.values():
        personas.setdefault(rule.persona, []).append(rule)
    names = chance.sample(list(personas), len(personas))
    order = [rule for name in names for rule in chance.sample(personas[name], len(personas[name]))]
    for start in range(0, len(order), _RULES):
        batch = _Batch()
        for number, rule in enumerate(order[start : start + _RULES]):
            asked, missed = _some(rule.asked, 5, chance), _some(rule.not_asked, 4, chance)
            batch.keys += [(number, text) for text in (rule.statement, *asked[1:])]
            batch.other_keys += [(number, text) for text in missed[1:]]
            batch.answered += [(number, text) for text in (*_some(rule.answered, 2, chance), asked[0])]
            batch.unanswered += [(number, text) for text in (*_some(rule.near_misses, 2, chance), missed[0])]
        yield batch


def loss(torch: Any, vectors: Any, batch: _Batch, none: Any) -> Any:
    """An answered question against all other lines of the batch and against none; an unanswered one, which
    may lie near the other unanswered lines of its rule, against the lines that are answered."""
    functional = torch.nn.functional
    owners = torch.tensor([number for number, _ in batch.all])
    ends = np.cumsum([len(batch.keys), len(batch.other_keys), len(batch.answered)]).tolist()
    keys, others = slice(0, ends[0]), slice(ends[0], ends[1])
    total: Any = 0.0
    for answered, asked in ((True, slice(ends[1], ends[2])), (False, slice(ends[2], None))):
        near, off = (vectors[asked] @ vectors[lines].T / _SHARPNESS for lines in (keys, others))
        own = owners[asked][:, None] == owners[keys if answered else others][None]
        nothing = (none / _SHARPNESS).expand(len(near), 1)
        if answered:
            wanted = torch.logsumexp(near.masked_fill(~own, -1e4), 1) - own.sum(1).log()
            against = torch.cat([near.masked_fill(own, -1e4), off, nothing], 1)
        else:
            wanted = torch.logsumexp(torch.cat([off.masked_fill(~own, -1e4), nothing], 1), 1)
            against = near
        total = total + functional.softplus(torch.logsumexp(against, 1) - wanted).mean()
    return total


def tune(model: bytes, without: Sequence[str], rounds: int = _ROUNDS) -> dict[str, Any]:
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(0)
    chance, states = random.Random(0), _States(model)
    known = rules(without, states)
    before = {name: values for layer in LAYERS for name, values in layer_weights(model, layer).items()}
    layers = UpperLayers(torch, before, LAYERS)
    none = torch.nn.Parameter(torch.tensor([_NONE]))
    groups = [{"params": layers.parameters, "lr": _SPEED}, {"params": [none], "lr": 2e-3}]
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = rounds * -(-len(known) // _RULES)

    def speed(step: int) -> float:
        """Of the full one: up within eight steps, then down."""
        return min(1, (step + 1) / 8) * max(0.02, 1 - step / steps)

    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, speed)
    for _ in range(rounds):
        for batch in batches(known, chance):
            vectors = layers.means([states(text) for _, text in batch.all])
            optimiser.zero_grad()
            loss(torch, vectors, batch, none).backward()
            torch.nn.utils.clip_grad_norm_(layers.parameters, 1.0)
            optimiser.step()
            schedule.step()
    return _difference(before, layers.weights())


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, values in after.items():
        changed = values - before[name]
        if changed.ndim == 1:
            found[name] = changed.astype(np.float16)
        else:
            left, sizes, right = np.linalg.svd(changed, full_matrices=False)
            root = np.sqrt(sizes[:RANK])
            found[f"{name}.down"] = (left[:, :RANK] * root).astype(np.float16)
            found[f"{name}.up"] = (root[:, None] * right[:RANK]).astype(np.float16)
    return found


def _some(texts: Sequence[str], most: int, chance: random.Random) -> list[str]:
    return chance.sample(list(texts), min(most, len(texts)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without", nargs="*", help="groups of writers to leave out")
    parser.add_argument("--to", type=Path, help="a folder in the place of that of the weights")
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    chosen = parser.parse_args()
    for without in left_out() if chosen.without is None else [chosen.without]:
        file = (chosen.to or folder(without)) / TUNING
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as out:
            np.savez(out, **tune(untuned(), without, chosen.rounds))
    if chosen.without is None:
        record_tuning()


if __name__ == "__main__":
    sys.exit(main())
