"""The scorer on small streams made by hand."""

from __future__ import annotations

import pytest

from atr_data.timing import Assist, TimingError
from atr_evaluator.timing import (
    Answer,
    Snapshot,
    TimingRules,
    UserPlay,
    score_snapshots,
    score_timing,
    set_hash,
    snapshots,
)
from atr_evaluator.timing.content import fact_f1, query_f1, tokens
from tests.support.timing_sets import event, generated, log_of, need, tiny_gold, tiny_stream

CODING = Assist(intent="coding")
STREAM = tiny_stream([*(event(at) for at in range(0, 600, 30)), event(200, self_help=True)])


def result(
    offers: dict[str, Assist | None], *needs: object, rules: TimingRules | None = None
) -> dict[str, object]:
    gold = tiny_gold(STREAM, *needs)  # pyright: ignore[reportArgumentType]
    return score_timing([UserPlay(STREAM, gold, (log_of(STREAM, offers),))], rules)


def test_silence_is_worth_nothing_and_costs_nothing() -> None:
    scored = result({}, need(200, opens=60, intent="coding"))
    assert (scored["utility"], scored["missed"], scored["false_alarms"]) == (0, 1, 0)
    assert scored["warnings"] == ["no assists"]


def test_help_in_the_window_is_worth_everything() -> None:
    scored = result({"e120": CODING}, need(200, opens=60, cue=100, intent="coding"))
    assert (scored["utility"], scored["matched"], scored["F1_T"], scored["F1_E2E"]) == (1, 1, 1, 1)
    assert scored["lead_s"] == {"p10": 80, "median": 80, "p90": 80}
    assert scored["lead_share"] == 0.8


@pytest.mark.parametrize(("at", "matched"), [("e60", 1), ("e180", 1), ("e30", 0), ("e210", 0)])
def test_a_scene_opens_its_window_and_the_onset_closes_it(at: str, matched: int) -> None:
    assert result({at: CODING}, need(200, opens=60, intent="coding"))["matched"] == matched


@pytest.mark.parametrize(
    ("at", "matched", "utility"), [("e90", 1, 1), ("e60", 0, -0.5), ("e210", 1, 0.5), ("e240", 0, -0.5)]
)
def test_without_a_scene_the_window_is_fixed_and_late_help_counts_half(
    at: str, matched: int, utility: float
) -> None:
    scored = result({at: CODING}, need(200, intent="coding"))
    assert (scored["matched"], scored["utility"]) == (matched, utility)


def test_in_which_order_a_set_lies_tells_nothing() -> None:
    other = tiny_stream([event(at) for at in range(0, 300, 30)])
    plays = [UserPlay(stream, tiny_gold(stream)) for stream in (STREAM, other)]
    assert set_hash(plays) == set_hash(reversed(plays)) != set_hash(plays[:1])


def test_the_windows_of_the_rules_are_obeyed_and_printed() -> None:
    rules = TimingRules(before=150)
    scored = result({"e60": CODING}, need(200, intent="coding"), rules=rules)
    assert scored["matched"] == 1
    assert scored["rules"]["before"] == 150  # pyright: ignore[reportIndexIssue]


def test_a_second_offer_in_a_window_is_a_repeat() -> None:
    scored = result({"e90": CODING, "e120": CODING, "e500": CODING}, need(200, opens=60, intent="coding"))
    assert (scored["matched"], scored["false_alarms"], scored["repeats"]) == (1, 1, 1)


def test_the_earlier_onset_is_met_first() -> None:
    needs = (need(300, opens=60, intent="advice"), need(200, opens=60, intent="coding"))
    scored = result({"e90": CODING, "e120": Assist(intent="advice")}, *needs)
    assert (scored["matched"], scored["utility"]) == (2, 1)


def test_the_wrong_intent_costs_like_a_false_alarm() -> None:
    scored = result({"e90": Assist(intent="advice")}, need(200, opens=60, intent="coding"))
    assert (scored["matched"], scored["F1_E2E"], scored["utility"]) == (1, 0, -0.5)
    assert scored["utility_by_cost"] == {"0.25": -0.25, "0.5": -0.5, "1": -1.0}


def test_content_weighs_intent_target_and_facts() -> None:
    wish = need(
        200,
        opens=60,
        intent="coding",
        target="plan",
        facts=(("step 3",), ("Larkfold job", "Larkfold")),
        foils=(("step 9",),),
    )
    best = Assist(intent="coding", target="plan", query="Why does larkfold stop at STEP 3?")
    assert result({"e90": best}, wish)["content"] == 1
    foiled = best.model_copy(update={"query": "larkfold step 9"})
    scored = result({"e90": foiled}, wish)
    assert scored["content"] == scored["utility"] == pytest.approx(0.5 + 0.3 + 0.2 * 0.5)
    elsewhere = best.model_copy(update={"target": "other"})
    scored = result({"e90": elsewhere}, wish)
    assert (scored["content"], scored["F1_E2E"]) == (0.7, 0)


def test_parts_without_gold_are_dropped_and_counted() -> None:
    scored = result({"e90": Assist(intent="coding")}, need(200, opens=60))
    assert (scored["content"], scored["utility"]) == (None, 1)
    assert scored["without_gold"] == {"intent": 1, "target": 1, "facts": 1}


def test_facts_are_whole_words() -> None:
    assert fact_f1((("step 1",),), (), "step 12") == 0
    assert fact_f1((("step 1",),), (), "at Step 1.") == 1
    assert fact_f1((("a",), ("b",)), (("c",),), "a c") == pytest.approx(0.5)


def test_tokens_fold_case_and_split_cjk() -> None:
    assert tokens("Ａ-b 翻訳C") == ["a", "b", "翻", "訳", "c"]
    assert query_f1("a a b", "a b b") == pytest.approx(2 / 3)


def test_active_time_leaves_out_long_gaps() -> None:
    stream = tiny_stream([event(0), event(300), event(900), event(1000)])
    scored = score_timing([UserPlay(stream, tiny_gold(stream), ())])
    assert scored["active_hours"] == pytest.approx(400 / 3600, abs=1e-4)
    assert scored["warnings"] == ["no needs", "no assists"]


def test_one_event_alone_divides_by_nothing() -> None:
    stream = tiny_stream([event(0)])
    scored = score_timing([UserPlay(stream, tiny_gold(stream), (log_of(stream, {"e0": CODING}),))])
    assert scored["false_alarms_per_hour"] is None
    assert scored["utility"] == 0
    assert scored["warnings"] == ["no needs", "no active time"]
    assert score_timing([])["warnings"] == ["no needs", "no assists", "no active time"]


def test_decisions_elsewhere_and_second_ones_do_not_count() -> None:
    wish = need(200, opens=60, intent="coding")
    gold = tiny_gold(STREAM, wish)
    log = log_of(STREAM, {"h200": CODING, "nowhere": CODING, "e90": None})
    twice = log.model_copy(update={"decisions": (*log.decisions, *log_of(STREAM, {"e90": CODING}).decisions)})
    assert score_timing([UserPlay(STREAM, gold, (twice,))])["assists"] == 0


def test_gold_or_logs_of_another_stream_give_no_score() -> None:
    other = tiny_stream([event(0), event(7)])
    with pytest.raises(TimingError) as caught:
        score_timing([UserPlay(other, tiny_gold(STREAM), ())])
    assert caught.value.code == "gold_mismatch"
    with pytest.raises(TimingError) as caught:
        score_timing([UserPlay(STREAM, tiny_gold(STREAM), (log_of(other, {}),))])
    assert caught.value.code == "gold_mismatch"


def test_missing_and_aborted_sittings_are_silence_and_told() -> None:
    wish = need(200, opens=60, intent="coding")
    gold = tiny_gold(STREAM, wish)
    cut = log_of(STREAM, {"e90": CODING}).model_copy(update={"status": "aborted"})
    assert score_timing([UserPlay(STREAM, gold, (cut,))])["incomplete_sittings"] == 1
    missing = score_timing([UserPlay(STREAM, gold, ())])
    assert (missing["incomplete_sittings"], missing["missed"]) == (1, 1)


def test_saying_yes_to_balanced_snapshots_is_worth_no_more_than_chance() -> None:
    for user in generated(2):
        items = snapshots(user.stream, user.gold)
        assert sum(item.wanted for item in items) * 2 == len(items) > 20
        scored = score_snapshots(items, {item.event_id: Answer(True) for item in items})
        assert (scored["F1"], scored["MCC"], scored["accuracy"]) == (0.6667, 0, 0.5)


def test_snapshots_of_a_perfect_and_a_doubtful_player() -> None:
    items = [Snapshot(str(number), number % 2 == 0) for number in range(8)]
    right = {item.event_id: Answer(item.wanted, 0.9) for item in items}
    scored = score_snapshots(items, right)
    assert (scored["MCC"], scored["auroc"], scored["F1"]) == (1, 1, 1)
    assert scored["coverage_risk"][-1] == {"coverage": 1.0, "risk": 0.0}
    wrong = right | {"0": Answer(False, 0.2)}
    table = score_snapshots(items, wrong)["coverage_risk"]
    assert [row["risk"] for row in table] == [0, 0, 0, 0.125]
    assert score_snapshots(items, {})["auroc"] is None
    assert score_snapshots([], {})["MCC"] == 0
