"""The offline Router and Classifier on labelled turns, and the measuring itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import pytest

from atr_data import load_episode, packaged_episodes_dir
from atr_data.errors import DataError
from atr_user_sim.calibration import calibrate_classifier, calibrate_router
from atr_user_sim.calibration.folds import Hands, own_questions, own_turns
from atr_user_sim.calibration.lines_gate import measure_lines, passes_gate
from atr_user_sim.calibration.measure import measure_classifier, measure_router
from atr_user_sim.calibration.records import agent_questions
from atr_user_sim.interface import ClassifierVerdict, PoolRule, RouterVerdict
from atr_user_sim.lines import lines_beside, load_lines
from atr_user_sim.offline import offline_classifier, offline_router


class _AlwaysAsks:
    async def route(self, *, output: str, reason: str) -> RouterVerdict:
        return RouterVerdict(True, output)


class _Always:
    def __init__(self, rule_id: str | None) -> None:
        self.rule_id = rule_id

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        return ClassifierVerdict(self.rule_id)


def _write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _turn(output: str, span: str | None) -> dict[str, object]:
    return {
        "source": "t",
        "reason": "",
        "output": output,
        "gold_is_strict_rule_question": span is not None,
        "gold_rule_question_span": span,
    }


def _question(gold: str | None) -> dict[str, object]:
    pool = [{"rule_id": "a", "statement": "x"}, {"rule_id": "b", "statement": "y"}]
    return {"source": "q", "rule_question_span": "Q?", "gold_rule_id": gold, "rule_pool": pool}


async def test_a_router_is_measured_by_verdict_and_by_exact_sentence(tmp_path: Path) -> None:
    file = _write(tmp_path / "f", _turn("A?", "A?"), _turn("Hm. B?", "B?"), _turn("C.", None))
    result = await calibrate_router(_AlwaysAsks(), file)
    assert (result.recall, result.precision) == (1.0, 2 / 3)
    assert (result.exact_span_rate, result.false_positive_rate) == (0.5, 1.0)
    assert [c.expected for c in result.confusions] == ["B?", "nothing"]
    assert "  recall: 1.000 [0.342, 1.000] (2/2)" in result.render()


async def test_a_classifier_is_measured_with_wrong_rules_apart_from_misses(tmp_path: Path) -> None:
    file = _write(tmp_path / "f", _question("a"), _question("b"), _question(None))
    result = await calibrate_classifier(_Always("a"), file)
    assert (result.right, result.wrong, result.missed, result.false_hits) == (1, 1, 0, 1)
    assert (result.recall, result.always_null_accuracy) == (0.5, 1 / 3)
    silent = await calibrate_classifier(_Always(None), file)
    assert silent.missed == 2
    assert silent.precision is None
    assert "  precision: -" in silent.render()


async def test_a_line_that_is_no_turn_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2 is no RouterTurn"):
        await calibrate_router(_AlwaysAsks(), _write(tmp_path / "f", _turn("A?", None), {"output": 1}))


async def test_the_router_on_turns_of_writers_it_has_not_seen() -> None:
    result = await measure_router(own_turns())
    assert result.total >= 1_800
    assert (result.recall or 0) >= 0.9
    assert (result.exact_span_rate or 0) >= 0.9
    assert (result.false_positive_rate or 1) <= 0.05


@pytest.mark.parametrize(("hands", "least"), [("both", 0.72), ("none", 0.55)])
async def test_the_classifier_by_words_on_questions_of_writers_it_has_not_seen(
    hands: Hands, least: float
) -> None:
    """Half of them are answerable, and the other half are near misses. A sample: every seventh."""
    result = await measure_classifier(islice(own_questions("lexical", hands), 0, None, 7))
    assert 0.4 < (result.always_null_accuracy or 0) < 0.6
    assert (result.accuracy or 0) >= least
    assert (result.false_positive_rate or 1) <= 0.12


async def test_long_questions_about_a_neighbouring_matter_get_no_answer() -> None:
    """Judged by weights that did not see the persona; all such questions are of one writer."""
    long = [question for question in agent_questions() if question.kind == "long"]
    result = await measure_classifier(own_questions("lexical", "both", long[::2]))
    assert (result.false_positive_rate or 0) <= 0.12
    assert (result.recall or 0) >= 0.7


async def test_the_classifier_with_the_encoder_on_questions_of_writers_it_has_not_seen() -> None:
    """A sample, since each text takes the encoder some milliseconds: one persona."""
    pytest.importorskip("onnxruntime")
    cases = list(own_questions("minilm", "both"))
    result = await measure_classifier(cases[:80])
    assert (result.always_null_accuracy or 0) == 0.5
    assert (result.accuracy or 0) >= 0.78
    assert (result.false_positive_rate or 1) <= 0.15


async def test_with_the_lines_of_one_hand_those_of_the_other_are_recognised() -> None:
    """Gate S7, on a persona that no weights were trained on."""
    pytest.importorskip("onnxruntime")
    path = packaged_episodes_dir() / "wilhelmina_sprague_seed000.json"
    pool = [PoolRule(rule.rule_id, rule.canonical_answer) for rule in load_episode(path).rules]
    lines = load_lines(lines_beside(path, "wilhelmina_sprague"))
    measured = await measure_lines(offline_classifier("minilm"), pool, lines)
    assert measured.total > 100
    assert passes_gate(measured)


async def test_the_router_on_the_official_turns(official_dir: Path) -> None:
    """None of them was trained on."""
    result = await calibrate_router(offline_router(), official_dir / "calibration" / "router.jsonl")
    assert (result.recall or 0) >= 0.95
    assert (result.exact_span_rate or 0) >= 0.85
