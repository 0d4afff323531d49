"""What holds of scores whatever is offered."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atr_data.timing import Assist, Need, Scene
from atr_evaluator.timing import TimingRules, UserPlay, score_timing
from tests.support.timing_sets import event, log_of, need, tiny_gold, tiny_stream

RULES = TimingRules(resamples=20)
MOMENTS = list(range(0, 1200, 40))
STREAM = tiny_stream([event(at) for at in MOMENTS], end=1300)
Part = tuple[Need, Scene | None]
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def wishes(draw: st.DrawFn) -> list[Part]:
    onsets = draw(st.lists(st.integers(1, 1250), unique=True, max_size=6))
    found: list[Part] = []
    for onset in onsets:
        opens = draw(st.none() | st.integers(0, onset))
        found.append(need(onset, opens=opens, intent=draw(st.sampled_from(["coding", "advice"]))))
    return found


offers = st.dictionaries(
    st.sampled_from([f"e{at}" for at in MOMENTS]),
    st.sampled_from([Assist(intent="coding"), Assist(intent="advice"), Assist(intent="comparison")]),
    max_size=12,
)


def scored(parts: list[Part], given_offers: dict[str, Assist]) -> dict[str, Any]:
    log = log_of(STREAM, dict(given_offers))
    return score_timing([UserPlay(STREAM, tiny_gold(STREAM, *parts), (log,))], RULES)


@QUIET
@given(wishes(), offers, st.randoms())
def test_order_is_of_no_account(parts: list[Part], made: dict[str, Assist], chance: random.Random) -> None:
    mixed_parts, mixed = list(parts), list(made.items())
    chance.shuffle(mixed_parts)
    chance.shuffle(mixed)
    one, other = scored(parts, made), scored(mixed_parts, dict(mixed))
    hashes = "set_sha256"
    assert {k: v for k, v in one.items() if k != hashes} == {k: v for k, v in other.items() if k != hashes}


@QUIET
@given(wishes(), offers)
def test_counts_add_up_and_are_never_negative(parts: list[Part], made: dict[str, Assist]) -> None:
    one = scored(parts, made)
    assert one["matched"] + one["false_alarms"] == one["assists"] == len(made)
    assert one["matched"] + one["missed"] == one["needs"] == len(parts)
    assert 0 <= one["repeats"] <= one["false_alarms"]
    for share in ("P_T", "R_T", "F1_T", "F1_E2E", "R_T_cued", "R_T_ceiling"):
        assert 0 <= one[share] <= 1
    assert one["utility"] <= 1


@QUIET
@given(wishes(), offers, st.sampled_from(MOMENTS))
def test_an_offer_that_meets_one_more_need_never_lowers_f1(
    parts: list[Part], made: dict[str, Assist], at: int
) -> None:
    before = scored(parts, made)
    after = scored(parts, {**made, f"e{at}": made.get(f"e{at}", Assist(intent="coding"))})
    assert after["matched"] >= before["matched"]
    if after["matched"] > before["matched"]:
        assert after["F1_T"] >= before["F1_T"]


@QUIET
@given(wishes(), offers, st.sampled_from(MOMENTS))
def test_an_offer_that_nobody_wanted_never_raises_utility(
    parts: list[Part], made: dict[str, Assist], at: int
) -> None:
    opens = [
        (
            scene.t_first.timestamp() if scene else wish.t_onset.timestamp() - RULES.before,
            wish.t_onset.timestamp() + (0 if scene else RULES.after),
        )
        for wish, scene in parts
    ]
    moment = event(at).t_release.timestamp()
    if f"e{at}" in made or any(low <= moment <= high for low, high in opens):
        return
    before, after = scored(parts, made), scored(parts, {**made, f"e{at}": Assist(intent="coding")})
    assert after["utility"] <= before["utility"]
    assert after["false_alarms"] == before["false_alarms"] + 1


@QUIET
@given(wishes(), offers)
def test_equal_inputs_give_equal_results(parts: list[Part], made: dict[str, Assist]) -> None:
    assert scored(parts, made) == scored(parts, made)
