"""Timing scores worked out by hand: what was possible, leads, contents, shares, and snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from atr_data.timing import Assist, Gold, Need, Stream, TimingError
from atr_data.timing.gold import Scene
from atr_evaluator.timing import (
    Answer,
    Snapshot,
    TimingRules,
    UserPlay,
    best_moments,
    score_sittings,
    score_snapshot_plays,
    score_snapshots,
    score_timing,
    set_hash,
    snapshots,
)
from atr_evaluator.timing.content import fact_f1, judge_content, tokens
from tests.support.timing_sets import event, log_of, moment, need, tiny_gold, tiny_stream

Part = tuple[Need, Scene | None]
CODING, ADVICE = Assist(intent="coding"), Assist(intent="advice")
STREAM = tiny_stream([*(event(at) for at in range(0, 600, 30)), event(200, self_help=True)])


def result(
    offers: Mapping[str, Assist | None], *needs: Part, stream: Stream = STREAM, **rules: Any
) -> dict[str, Any]:
    play = UserPlay(stream, tiny_gold(stream, *needs), (log_of(stream, dict(offers)),))
    return score_timing([play], TimingRules(**rules))


def scene(onset: float, wanted: str | None, *, opens: float = 0) -> Scene:
    """A scene that leads to the need of that id, or to none."""
    _, found = need(onset, opens=opens)
    assert found
    return found.model_copy(update={"need_id": wanted, "scene_id": f"scene{onset:g}"})


NEAR, SEVERAL = need(100, opens=60), need(300, opens=60)


@pytest.mark.parametrize(
    ("needs", "best"),
    [
        ([], {}),
        ([NEAR], {"e60": "n100"}),
        ([need(200, opens=190)], {}),  # no event in its window
        ([need(200, opens=180)], {"e180": "n200"}),
        ([need(210, opens=190)], {"e210": "n210"}),
        ([SEVERAL, NEAR], {"e60": "n100", "e90": "n300"}),
        ([need(60, opens=60), need(65, opens=60)], {"e60": "n60"}),  # one moment for two
        ([need(200)], {"e90": "n200"}),  # 120 seconds before
        ([need(195), need(260, opens=90)], {"e90": "n195", "e120": "n260"}),
        ([need(600)], {"e480": "n600"}),
    ],
)
def test_the_best_moments_meet_as_many_needs_as_can_be(needs: Sequence[Part], best: dict[str, str]) -> None:
    stream = tiny_stream([event(at) for at in range(0, 600, 30)], end=600)
    (sitting,) = score_sittings([UserPlay(stream, tiny_gold(stream, *needs))])
    found = best_moments(sitting.view)
    assert {event_id: window.need.need_id for event_id, window in found.items()} == best
    assert sitting.gain.possible == len(best)


@pytest.mark.parametrize(
    ("offers", "utility"),
    [
        ({}, 0.0),
        ({"e210": CODING}, 1.0),  # late help is all that was possible
        ({"e210": CODING, "e0": CODING}, 0.0),
        ({"e210": ADVICE}, -1.0),
    ],
)
def test_utility_is_a_share_of_what_was_possible(offers: Mapping[str, Assist], utility: float) -> None:
    stream = tiny_stream([event(0), event(210)])
    scored = result(offers, need(205, intent="coding"), stream=stream)
    assert scored["utility"] == utility
    assert scored["utility_interval"] == [utility, utility]
    assert scored["U_per_hour"] == round(utility * 0.5 / 0.0583, 4)


@pytest.mark.parametrize(("share", "utility"), [(1.0, 1.0), (0.25, 0.25), (0.0, 0.0)])
def test_the_worth_of_late_help_is_a_rule(share: float, utility: float) -> None:
    scored = result({"e210": CODING}, need(200, intent="coding"), late_share=share)
    assert (scored["matched"], scored["utility"]) == (1, utility)


def test_the_interval_is_of_resampled_sittings_and_depends_on_the_seed_alone() -> None:
    plays: list[UserPlay] = []
    for number in range(12):
        stream = tiny_stream([event(0), event(90 + number), event(500)])
        offers = {f"e{90 + number:g}": CODING if number % 3 else ADVICE}
        gold = tiny_gold(stream, need(200, opens=60, intent="coding"))
        plays.append(UserPlay(stream, gold, (log_of(stream, dict[str, Assist | None](offers)),)))
    scored = score_timing(plays)
    low, high = scored["utility_interval"]
    assert scored["utility"] == round((8 - 4 * 0.5) / 12, 4) == 0.5
    assert (low, high) == (0.0, 0.875)
    assert score_timing(plays, TimingRules(resamples=1, resampling_seed=1))["utility_interval"] != [low, high]
    assert score_timing([])["utility_interval"] is None


LEADS = (need(130, opens=90, cue=50), need(220, opens=210, cue=215), need(320, opens=300, cue=320))


def test_leads_are_told_by_quantile_and_as_a_share_of_the_time_since_the_cue() -> None:
    scored = result({"e90": CODING, "e210": CODING, "e300": CODING}, *LEADS)
    assert scored["lead_s"] == {"p10": 12.0, "median": 20.0, "p90": 36.0}
    assert scored["lead_share"] == 0.75  # 1 at most, half, and none where the cue left no time
    nothing = result({}, *LEADS)
    assert (nothing["lead_s"], nothing["lead_share"]) == ({"p10": None, "median": None, "p90": None}, None)
    assert result({"e90": CODING}, need(90.6, cue=89.7))["lead_share"] == 0.6667
    assert result({"e90": CODING}, need(90.3339))["lead_s"]["median"] == 0.334
    late = need(205, cue=100)
    assert result({"e210": CODING}, late)["lead_s"]["median"] == -5.0
    assert result({"e210": CODING}, late)["lead_share"] == 0.0


def test_contents_are_means_over_the_offers_that_met_a_need() -> None:
    wish: dict[str, Any] = {"intent": "coding", "target": "a", "facts": (("x",), ("y",)), "slots": {"k": "v"}}
    needs = (need(100, opens=60, query="x z", **wish), need(200, opens=170, query="x", **wish), need(300))
    right = Assist(intent="coding", target="a", query="x z", slots={"k": "v"})
    wrong = Assist(intent="coding", target="b", query="q")
    found = result({"e90": right, "e180": wrong, "e210": CODING, "e270": CODING}, *needs)
    assert {name: found[name] for name in ("content", "without_gold", "F1_E2E")} == {
        "content": round((0.5 + 0.3 + 0.2 * 2 / 3 + 0.5) / 2, 4),
        "without_gold": {"intent": 1, "target": 1, "facts": 1},
        "F1_E2E": round(2 * 2 / (4 + 3), 4),
    }
    accuracies = {
        name: found[name] for name in ("intent_acc", "target_acc", "fact_f1", "slot_f1", "query_f1")
    }
    assert accuracies == {
        "intent_acc": 1.0,
        "target_acc": 0.5,
        "fact_f1": 0.3333,
        "slot_f1": 0.5,
        "query_f1": 0.5,
    }


def test_the_right_target_under_the_wrong_intent_is_worth_nothing() -> None:
    wish = need(200, opens=60, intent="coding", target="a", facts=(("x",),))
    assert result({"e90": Assist(intent="advice", target="a", query="x")}, wish)["utility"] == -0.5


@pytest.mark.parametrize("onset", [180, 180.5])
def test_help_as_the_need_arises_is_not_late(onset: float) -> None:
    assert result({"e180": CODING}, need(onset, intent="coding"))["utility"] == 1.0


def test_an_offer_is_a_repeat_when_any_window_that_was_met_holds_it() -> None:
    needs = (need(180, opens=60), need(400, opens=300))
    found = result({"e60": CODING, "e300": CODING, "e330": CODING, "e450": CODING}, *needs)
    assert (found["matched"], found["false_alarms"], found["repeats"]) == (2, 2, 1)


def test_shares_have_four_digits_and_without_anything_they_are_nothing() -> None:
    found = result({"e90": CODING}, need(100, opens=60), need(300), need(400))
    assert (found["utility"], found["utility_interval"]) == (0.3333, [0.3333, 0.3333])
    assert set(found["utility_by_cost"].values()) == {0.3333}
    nothing = result({})
    assert [nothing[name] for name in ("P_T", "R_T", "F1_T", "F1_E2E", "R_T_cued", "utility")] == [0.0] * 6


def test_decisions_count_from_where_they_are_asked_for_and_needs_in_their_own_sitting() -> None:
    (whole,) = STREAM.header.sittings
    first = whole.model_copy(update={"last_event": "e270", "t_end": moment(280), "decide_from": "e90"})
    second = whole.model_copy(update={"sitting_id": "s2", "first_event": "e300"})
    header = STREAM.header.model_copy(update={"sittings": (first, second)})
    stream = STREAM.model_copy(update={"header": header})
    needs = (need(100, opens=30), need(280), need(295), need(300), need(400))
    scored = result({"e60": CODING, "e90": CODING}, *needs, stream=stream)
    assert (scored["decisions"], scored["assists"], scored["matched"]) == (17, 1, 1)
    assert (scored["needs"], scored["missed"]) == (4, 3)  # nobody works when the one at 295 arises


def test_an_offer_as_a_window_closes_is_in_it() -> None:
    assert result({"e180": CODING}, need(180, opens=60))["matched"] == 1
    found = result({"e60": CODING, "e180": CODING}, need(180, opens=60))
    assert (found["matched"], found["false_alarms"], found["repeats"]) == (1, 1, 1)


def test_the_rules_are_printed_as_they_are() -> None:
    assert result({})["rules"] == {
        "before": 120.0,
        "after": 15.0,
        "idle_gap": 300.0,
        "false_alarm_cost": 0.5,
        "late_share": 0.5,
        "resamples": 1000,
        "resampling_seed": 0,
    }


def test_one_stream_cut_into_other_sittings_is_another_set() -> None:
    (whole,) = STREAM.header.sittings
    cut = STREAM.header.model_copy(update={"sittings": (whole.model_copy(update={"last_event": "e300"}),)})
    other = STREAM.model_copy(update={"header": cut})
    gold = tiny_gold(STREAM)
    assert set_hash([UserPlay(STREAM, gold)]) != set_hash([UserPlay(other, gold)])


def test_counts_and_shares_of_timing() -> None:
    needs = (
        need(100, opens=60, cue=80),
        need(200),
        need(300, cue=290),
        need(400, opens=390, cue=395),
    )
    scored = result({"e90": CODING, "e210": CODING, "e450": CODING, "e480": None}, *needs)
    assert {name: scored[name] for name in ("decisions", "needs", "assists", "matched", "missed")} == {
        "decisions": 20,
        "needs": 4,
        "assists": 3,
        "matched": 2,
        "missed": 2,
    }
    assert (scored["false_alarms"], scored["repeats"]) == (1, 0)
    assert (scored["P_T"], scored["R_T"], scored["F1_T"]) == (0.6667, 0.5, 0.5714)
    assert (scored["R_T_cued"], scored["R_T_ceiling"]) == (0.3333, 0.75)
    assert (scored["active_hours"], scored["false_alarms_per_hour"]) == (0.1583, 6.3158)


def test_what_was_not_played_through_and_what_was_not_said_is_counted() -> None:
    log = log_of(STREAM, {"e0": None, "e30": None, "e60": CODING})
    implicit = [
        decision.model_copy(update={"implicit": decision.assist is None}) for decision in log.decisions
    ]
    log = log.model_copy(update={"decisions": tuple(implicit), "protocol_errors": {"late": 2, "unknown": 3}})
    scored = score_timing([UserPlay(STREAM, tiny_gold(STREAM), (log,))])
    assert (scored["implicit_silences"], scored["protocol_errors"], scored["incomplete_sittings"]) == (
        2,
        5,
        0,
    )
    assert score_timing([UserPlay(STREAM, tiny_gold(STREAM), ())])["incomplete_sittings"] == 1


@pytest.mark.parametrize(
    ("scenes", "bounds"),
    [
        ([], (0.0, 0.0, 0.0)),
        ([scene(100, "a")], (1.0, 1.0, 1.0)),
        ([scene(100, "a"), scene(200, None)], (0.75, 0.5, 0.0)),
        ([scene(100, "a"), *(scene(at, None) for at in (200, 300, 400))], (0.25, 0.0, 0.0)),
        ([scene(100, None)], (0.0, 0.0, 0.0)),
        ([scene(at, "a" if at < 400 else None) for at in range(100, 800, 100)], (0.6667, 0.3333, 0.0)),
    ],
)
def test_a_guesser_who_knows_the_rate_of_needs_reaches_so_much(
    scenes: Sequence[Scene], bounds: Sequence[float]
) -> None:
    gold = tiny_gold(STREAM).model_copy(update={"scenes": tuple(scenes)})
    found = score_timing([UserPlay(STREAM, gold)])["guess_bound"]
    assert found == dict(zip(("0.25", "0.5", "1"), bounds, strict=True))


@pytest.mark.parametrize(
    ("wish", "given", "parts", "score", "right"),
    [
        ({}, {"intent": "coding"}, (None,) * 5, None, True),
        ({"intent": "coding"}, {"intent": "coding"}, (1, None, None, None, None), 1, True),
        ({"intent": "coding"}, {"intent": "advice"}, (0, None, None, None, None), 0, False),
        ({"target": "a"}, {"intent": "coding", "target": "b"}, (None, 0, None, None, None), 0, False),
        ({"target": "a"}, {"intent": "coding", "target": "a"}, (None, 1, None, None, None), 1, True),
        ({"facts": (("a",),)}, {"intent": "coding"}, (None, None, 0, None, None), 0, True),
        (
            {"slots": {"k": "v", "l": "w", "n": "u"}},
            {"intent": "coding", "slots": {"k": "v", "l": "w", "m": "u"}},
            (None, None, None, 2 / 3, None),
            None,
            True,
        ),
        ({"target": "a"}, {"intent": "coding"}, (None, 0, None, None, None), 0, False),
        (
            {"facts": (("a b",), ("c",)), "foils": (("d",),)},
            {"intent": "coding", "query": "a b d"},
            (None, None, 0.5, None, None),
            0.5,
            True,
        ),
        (
            {"facts": (("a b",), ("c", "x"))},
            {"intent": "coding", "query": "A b, x"},
            (None, None, 1, None, None),
            1,
            True,
        ),
        ({"facts": (("",),)}, {"intent": "coding", "query": "a"}, (None, None, 0, None, None), 0, True),
        (
            {"slots": {"k": "v", "l": "w"}},
            {"intent": "coding", "slots": {"k": "v", "l": "z", "m": "w"}},
            (None, None, None, 0.4, None),
            None,
            True,
        ),
        ({"slots": {"k": "v"}}, {"intent": "coding"}, (None, None, None, 0, None), None, True),
        (
            {"query": "a a b"},
            {"intent": "coding", "query": "a c"},
            (None, None, None, None, 0.4),
            None,
            True,
        ),
        ({"query": "a"}, {"intent": "coding"}, (None, None, None, None, 0), None, True),
    ],
)
def test_each_part_of_an_offer_is_judged_where_there_is_gold(
    wish: dict[str, Any],
    given: dict[str, Any],
    parts: Sequence[float | None],
    score: float | None,
    right: bool,
) -> None:
    wanted, _ = need(100, **wish)
    found = judge_content(wanted, Assist(**given))
    told = (found.intent, found.target, found.facts, found.slots, found.query)
    assert told == pytest.approx(tuple(parts))
    assert (found.score, found.right) == (score, right)


@pytest.mark.parametrize(
    "signs", ["\u3040", "\u30fe", "\u3400", "\u9fff", "\uac00", "\ud7a3", "\U00020000", "\U0003ffff"]
)
def test_signs_of_scripts_without_blanks_are_words_of_their_own(signs: str) -> None:
    assert tokens(f"a{signs}{signs}b") == ["a", signs, signs, "b"]
    assert tokens(f"{signs} ") == [signs]


@pytest.mark.parametrize("sign", ["\u033f", "\u3100", "\ua000", "\u00e9"])
def test_other_signs_are_not(sign: str) -> None:
    assert len(tokens(f"{sign}{sign}")) <= 1


def test_of_no_facts_none_can_be_named() -> None:
    assert fact_f1((), (), "a") == 0.0


# Snapshots


def chosen(gold: Gold, stream: Stream = STREAM) -> tuple[set[str], set[str]]:
    """The events where help was wanted, and the others."""
    items = snapshots(stream, gold)
    assert [item.event_id for item in items] == sorted(item.event_id for item in items)
    wanted = {item.event_id for item in items if item.wanted}
    return wanted, {item.event_id for item in items if not item.wanted}


@pytest.mark.parametrize(
    ("onset", "event_id"),
    [
        (0, None),
        (30, "e0"),
        (31, "e30"),
        (215, "e210"),
        (205, "e180"),  # help that the user sought is no ordinary event
        (4170, "e570"),
        (4171, None),  # an hour later
    ],
)
def test_a_snapshot_is_the_last_ordinary_event_before_an_onset(onset: float, event_id: str | None) -> None:
    gold = tiny_gold(STREAM, need(onset), need(120))
    idle = (scene(400, None), scene(460, None))
    wanted, others = chosen(gold.model_copy(update={"scenes": idle}))
    assert wanted == {"e90", event_id} - {None}
    assert len(others) == len(wanted) and others <= {"e390", "e450"}


@pytest.mark.parametrize(
    ("last", "wanted", "idle"),
    [
        (210, {"e180", "e90"}, {"e540", "e570"}),  # those that are left are drawn by their digests
        (209, {"e90", "e150", "e180"}, {"e510", "e540", "e570"}),
    ],
)
def test_without_scenes_the_others_are_more_than_five_minutes_from_any_onset(
    last: float, wanted: set[str], idle: set[str]
) -> None:
    gold = tiny_gold(STREAM, *(need(at) for at in (last, 190, 100, 180)))
    assert chosen(gold) == (wanted, idle)
    between = tiny_gold(STREAM, need(100), need(480))
    assert chosen(between) == (set(), set())


def test_with_scenes_the_others_are_before_those_that_led_to_nothing() -> None:
    gold = tiny_gold(STREAM, need(100, opens=60), need(220, opens=180), need(400, opens=380))
    idle = (scene(300, None), scene(305, None), scene(200, None))
    wanted, others = chosen(gold.model_copy(update={"scenes": (*gold.scenes, *idle)}))
    assert others == {"e270", "e300", "e180"}
    assert wanted == {"e90", "e210", "e390"}
    both = (scene(98, None), scene(300, None), scene(500, None))
    wanted, others = chosen(gold.model_copy(update={"scenes": (*gold.scenes, *both)}))
    assert (wanted, others) == ({"e210", "e390"}, {"e270", "e480"})


def test_snapshots_are_of_the_evaluation_days() -> None:
    header = STREAM.header.model_copy(update={"first_evaluation_day": moment(90)})
    later = STREAM.model_copy(update={"header": header})
    wanted, _ = chosen(tiny_gold(later, need(100), need(80)), later)
    assert wanted == {"e90"}


def test_answers_to_snapshots_are_counted_and_ranked() -> None:
    items = [Snapshot(name, name in "ab") for name in "abcd"]
    answers = {
        "a": Answer(True, 0.9),
        "b": Answer(False, 0.6),
        "c": Answer(True, 0.4),
        "d": Answer(False, 0.8),
    }
    assert score_snapshots(items, answers) == {
        "items": 4,
        "MCC": 0.0,
        "accuracy": 0.5,
        "precision": 0.5,
        "recall": 0.5,
        "F1": 0.5,
        "auroc": 0.875,
        "coverage_risk": [
            {"coverage": 0.25, "risk": 0.0},
            {"coverage": 0.5, "risk": 0.0},
            {"coverage": 0.75, "risk": 0.3333},
            {"coverage": 1.0, "risk": 0.5},
        ],
    }


def test_of_unlike_answers_every_share_is_another() -> None:
    """Three hits, one false alarm, two misses, four rightly silent; who says nothing has no confidence."""
    items = [Snapshot(str(n), n < 5) for n in range(10)]
    yes = {str(n): Answer(True) for n in (0, 1, 2, 5)}
    scored = score_snapshots(items, yes)
    assert {name: scored[name] for name in ("MCC", "accuracy", "precision", "recall", "F1")} == {
        "MCC": 0.4082,
        "accuracy": 0.7,
        "precision": 0.75,
        "recall": 0.6,
        "F1": 0.6667,
    }
    assert (scored["auroc"], scored["coverage_risk"]) == (None, None)
    assert score_snapshots(items, {"0": Answer(True, 0.5)})["auroc"] is None
    alike = score_snapshots(items, {"0": Answer(False, 0.5), "1": Answer(True, 0.5)})
    assert [row["risk"] for row in alike["coverage_risk"]] == [0.0, 0.0, 0.5, 0.5]
    rated = score_snapshots(items, {"5": Answer(True, 0.5)})
    assert (rated["auroc"], rated["coverage_risk"][0]) == (None, {"coverage": 0.25, "risk": 1.0})


def test_snapshots_that_were_played_are_answered_at_the_last_event_of_their_sittings() -> None:
    (whole,) = STREAM.header.sittings
    asked = [
        whole.model_copy(update={"sitting_id": f"s{at}", "last_event": f"e{at}", "decide_from": f"e{at}"})
        for at in (90, 210, 270)
    ]
    header = STREAM.header.model_copy(update={"sittings": tuple(asked)})
    stream = STREAM.model_copy(update={"header": header})
    gold = tiny_gold(stream, need(100, opens=60), need(220, opens=180))
    idle = (scene(280, None), scene(310, None))
    gold = gold.model_copy(update={"scenes": (*gold.scenes, *idle)})
    first = log_of(stream, {"e90": CODING, "e60": CODING})
    second = log_of(stream, {"e90": None, "e270": CODING})
    scored = score_snapshot_plays([UserPlay(stream, gold, (first, second))])
    assert (scored["items"], scored["unanswered"]) == (3, 1)
    assert (scored["accuracy"], scored["recall"], scored["precision"]) == (0.3333, 0.5, 0.5)
    assert scored["set_sha256"] == set_hash([UserPlay(stream, gold)])
    foreign = tiny_gold(tiny_stream([event(0), event(7)]))
    with pytest.raises(TimingError):
        score_snapshot_plays([UserPlay(stream, foreign)])
