"""The players without a model, over MCP and without."""

from __future__ import annotations

from typing import Any

import pytest

from atr_client.timing.baselines import BASELINES, make_baseline
from atr_client.timing.choosers.chooser import User
from atr_client.timing.choosers.learning import SILENCE, best_policy, labelled_past, rehearse
from atr_client.timing.choosers.logistic import Logistic
from atr_client.timing.choosers.reader import Reader
from atr_client.timing.choosers.stumps import Boosting
from atr_client.timing.direct import play_directly
from atr_client.timing.playing import play_user
from atr_client.timing.table import sitting_table
from atr_evaluator.timing import score_timing
from tests.support.timing_sets import generated

USERS = list(generated(4))


async def scored(name: str) -> dict[str, Any]:
    return score_timing([await play_user(make_baseline(name, user, USERS), user) for user in USERS])


@pytest.mark.parametrize(
    ("name", "utility"), [("offline/never", 0), ("offline/oracle", 1)], ids=["never", "oracle"]
)
async def test_the_two_ends_of_the_scale(name: str, utility: float) -> None:
    result = await scored(name)
    assert result["utility"] == utility
    assert result["incomplete_sittings"] == result["protocol_errors"] == 0
    assert result["decisions"] > 400


async def test_always_offering_is_worth_less_than_silence() -> None:
    always, cooled = await scored("offline/always"), await scored("offline/always-300s")
    assert always["R_T"] > 0.9
    assert always["utility"] < cooled["utility"] < 0


async def test_who_remembers_longer_reads_better() -> None:
    long, short = await scored("offline/reader-16"), await scored("offline/reader-4")
    assert 0.5 < long["utility"] < 1
    assert short["utility"] < long["utility"]


@pytest.mark.parametrize("name", BASELINES)
async def test_the_server_and_the_short_cut_log_the_same(name: str) -> None:
    user = USERS[0]
    over_mcp = await play_user(make_baseline(name, user, USERS), user)
    direct = play_directly(make_baseline(name, user, USERS), user)
    for one, other in zip(over_mcp.logs, direct.logs, strict=True):
        assert [(d.event_id, d.assist) for d in one.decisions] == [
            (d.event_id, d.assist) for d in other.decisions
        ]


def test_a_reader_learns_nothing_from_the_days_it_plays() -> None:
    """Without the outcomes of the evaluation days it decides the same."""
    user = USERS[0]
    start = user.stream.header.first_evaluation_day
    blind = user.gold.model_copy(
        update={
            "scenes": tuple(
                scene if scene.t_onset < start else scene.model_copy(update={"need_id": None})
                for scene in user.gold.scenes
            ),
            "needs": tuple(need for need in user.gold.needs if need.t_onset < start),
        }
    )
    for days in (4, 16):
        seeing = play_directly(Reader(days), user)
        assert play_directly(Reader(days), User(user.stream, blind)).logs == seeing.logs


@pytest.mark.parametrize(
    "name", ["offline/surface", "offline/ngram", "offline/ngram-own", "offline/rate-matched"]
)
def test_a_trained_player_learns_nothing_from_the_days_it_plays(name: str) -> None:
    user = USERS[0]
    start = user.stream.header.first_evaluation_day
    blind = user.gold.model_copy(update={"needs": tuple(n for n in user.gold.needs if n.t_onset < start)})
    logs = [
        play_directly(make_baseline(name, one, USERS), one).logs for one in (user, User(user.stream, blind))
    ]
    assert logs[0] == logs[1]


def test_labels_come_from_the_past_only() -> None:
    user = USERS[0]
    assert all(item.event.at < user.evaluation_start for item in labelled_past(user))


def test_a_hopeless_estimate_is_answered_with_silence() -> None:
    rehearsals = [one for user in USERS for one in rehearse(user, lambda user, event, seen: 0.95)]
    assert best_policy(rehearsals) == SILENCE


def test_the_small_learners_learn() -> None:
    model = Logistic(epochs=20)
    model.fit([([1, 2], True), ([2, 3], False)] * 20)
    assert model.chance([1]) > 0.7 > 0.3 > model.chance([3])
    rows = [[float(n), float(n % 7)] for n in range(200)]
    boosting = Boosting()
    boosting.fit(rows, [row[0] > 100 for row in rows])
    assert boosting.chance([180.0, 3.0]) > 0.9 > 0.1 > boosting.chance([20.0, 3.0])
    boosting.fit(rows[:5], [True] * 5)
    assert boosting.chance([1.0, 1.0]) > 0.9


async def test_results_of_different_sets_or_rules_are_not_put_in_one_table() -> None:
    one = score_timing([play_directly(Reader(), USERS[0])])
    other = score_timing([play_directly(Reader(), USERS[1])])
    assert sitting_table({"a": one, "b": one}).markdown().count("\n| a |") == 1
    with pytest.raises(ValueError, match="do not belong"):
        sitting_table({"a": one, "b": other})
