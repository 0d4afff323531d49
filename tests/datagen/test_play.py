"""The guess bound, and choosers that play against it: they find what leaks and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from atr_data.episode import Episode
from atr_datagen.gates.draw_gate import chance, chi_square_tail, uniform_draw
from atr_datagen.gates.episode_gates import cases
from atr_datagen.source.compile import redrawn
from atr_datagen.source.draw_faces import Salt
from atr_datagen.validity.hostile_chooser import Hostile, is_available
from atr_datagen.validity.limit_twin import twin_scores
from atr_datagen.validity.options import choice_of, passes
from atr_datagen.validity.play import Played, Table, play, share
from atr_datagen.validity.players import Anything, First, LimitTwin, Memoriser, Yardstick
from atr_datagen.validity.source_report import source_report
from atr_datagen.validity.stated_limits import failing
from atr_evaluator.guess_bound import GuessBound, guess_bound
from tests.support.sources import compiled

SALTS = 10


def episodes(salt: str | None = None) -> list[Episode]:
    found = [compiled()] if salt is None else redrawn([compiled()], 0, Salt(salt))
    return [Episode.model_validate(c.episode) for c in found]


def leaky(number: int, gold: int, *, twin: bool) -> Episode:
    """A persona of six table bookings. Of five rows three may be gold; with `twin` the row that fails the
    limit repeats what the gold decides by, as version 1 had it, else what a row fixed beforehand does."""
    data: dict[str, Any] = {
        "episode_id": f"p{number}_x_seed000",
        "raw_persona": {"persona_id": f"p{number}_x", "narrative": "n"},
        "structured_persona": {},
        "rules": [],
        "learning_sessions": [],
        "test_sessions": [],
    }
    for test in range(6):
        rule_id = f"p{number}_x_reservation_{test:02d}"
        right = Salt(f"gold of the table {gold:03d}").below(3, rule_id)
        sounds = [f"hum{test}{number}", f"band{test}{number}", f"hush{test}{number}"]
        repeated = sounds[right] if twin else sounds[(test + number) % 3]
        cells = [*zip(sounds, (30, 31, 32), strict=True), ("radio", 33), (repeated, 55)]
        rows = [
            {
                "id": f"rst_{(test * 7 + number * 3 + place) % 16:05x}",
                "type": "restaurant",
                "attributes": {"name": f"Place {place}", "price_per_head": price, "sound": sound},
            }
            for place, (sound, price) in enumerate(cells)
        ]
        golds = rows[right]["id"]
        action = {
            "tool": "book_restaurant",
            "arguments": {"restaurant_id": golds},
            "compare_args": ["restaurant_id"],
        }
        data["rules"].append(
            {
                "rule_id": rule_id,
                "rule_text": "r",
                "canonical_answer": "a",
                "check_type": "param_id",
                "action_step": {"tool": "book_restaurant", "param": "restaurant_id"},
            }
        )
        turned = rows[test % 5 :] + rows[: test % 5]
        data["test_sessions"].append(
            {
                "session_id": f"{rule_id}_test",
                "domain": "reservation",
                "rule_id": rule_id,
                "instruction": "A table for two under $40 a head.",
                "local_env": {"tools": ["book_restaurant"], "references": turned},
                "labels": {"task_success": {"required_actions": [action]}},
            }
        )
    return Episode.model_validate(data)


def table(*, twin: bool) -> Table:
    return Table.of([leaky(number, number % 3, twin=twin) for number in range(6)])


def test_the_bound_is_the_mean_of_one_over_the_faces_in_three_forms() -> None:
    bound = GuessBound.of([("param_id", 3), ("param_enum", 2), ("tool_identity", 2), ("confirm", 1)])
    assert bound.plain == pytest.approx((1 / 3 + 1 / 2 + 1 / 2) / 4)
    assert bound.confirming == pytest.approx(bound.plain + 1 / 4)
    assert bound.spraying == pytest.approx(bound.plain + (1 / 2) / 4)
    assert guess_bound(episodes()) == GuessBound.of(
        [("param_id", 3), ("confirm", 1), ("param_enum", 3), ("tool_identity", 2), ("param_enum", 2)]
    )


def test_episodes_that_do_not_tell_their_faces_have_no_bound() -> None:
    (one,) = episodes()
    assert guess_bound([one.model_copy(update={"metadata": type(one.metadata)()})]) is None


def test_a_choice_passes_when_the_evaluator_passes_its_call() -> None:
    for case in cases(episodes()):
        choice = choice_of(case)
        right = [place for place, gold in enumerate(choice.right) if gold]
        if case.rule.check_type == "confirm":
            assert not passes(choice, []) and passes(choice, [], confirming=True)
            continue
        assert len(right) == choice.count == 1 and passes(choice, right)
        others = [place for place in range(len(choice.options)) if place not in right]
        assert not any(passes(choice, [place]) for place in others)
        sprayed = any(passes(choice, [place], spraying=True) for place in others)
        assert sprayed == (case.rule.check_type == "tool_identity")


def test_the_memoriser_passes_the_published_set_and_no_more_than_the_bound_of_fresh_ones() -> None:
    published = Table.of(episodes())
    memoriser = Memoriser.of(published.all())
    assert share(memoriser, published, 0) == 1.0
    fresh = [share(memoriser, Table.of(episodes(f"fresh salt {n:08d}")), n) for n in range(60)]
    assert sum(fresh) / 60 == pytest.approx((1 / 3 + 1 + 1 / 3 + 1 / 2 + 1 / 2) / 5, abs=0.08)


def test_the_limit_twin_finds_the_gold_where_failing_rows_repeat_it() -> None:
    assert share(LimitTwin(), table(twin=True), 0) == 1.0
    assert share(LimitTwin(), table(twin=False), 0) < 0.6
    (case, *_) = cases([leaky(0, 0, twin=True)])
    pool = case.test.local_env.references
    assert [pool[place].attributes["price_per_head"] for place in failing(case.test.instruction, pool)] == [
        55
    ]
    assert max(twin_scores(case.test.instruction, pool)) == 1.3


@pytest.mark.skipif(not is_available(), reason="scikit-learn is not installed")
@pytest.mark.parametrize("learner", ["linear", "trees"])
def test_the_hostile_chooser_learns_the_leak_and_nothing_else(learner: Any) -> None:
    assert share(Hostile(learner), table(twin=True), 0) >= 0.9
    assert share(Hostile(learner), table(twin=False), 0) <= 0.6


def test_the_yardsticks_policies_learn_where_golds_stand() -> None:
    standing: Sequence[Episode] = [leaky(number, -number, twin=False) for number in range(6)]
    first = [e.model_copy(deep=True) for e in standing]
    for episode in first:
        for test in episode.test_sessions:
            gold = test.labels.task_success.required_actions[0].arguments["restaurant_id"]
            test.local_env.references.sort(key=lambda r: r.id != gold)
    assert share(Yardstick(), Table.of(first), 0) == 1.0
    assert share(First(), Table.of(first), 0) == 1.0
    assert share(Anything(), Table.of(first), 0) < 0.5


def test_every_player_plays_under_every_salt_and_is_held_to_its_bound() -> None:
    bound = GuessBound.of([("param_id", 3), ("confirm", 1)])
    found = play(episodes(), lambda number: episodes(f"fresh salt {number:08d}"), bound, salts=3)
    assert all(len(p.shares) == 3 for p in found)
    assert {p.player: p.bound for p in found}["memoriser of the public golds"] == bound.confirming
    assert {p.player: p.bound for p in found}["random, spraying rival tools"] == bound.spraying
    assert Played("x", [0.4, 0.3], 0.31).ok and not Played("x", [0.4, 0.32], 0.31).ok
    assert str(Played("x", [0.4, 0.3], 0.30)).startswith("FAIL")


def test_the_report_of_sources_holds_bound_play_and_expectation() -> None:
    report = source_report([compiled()])
    lines = list(report.lines())
    assert "guess bound 0.333, confirming 0.533, spraying 0.433" in lines[0]
    assert any("play: yardstick's best policies" in line for line in lines)
    mean, deviation = report.expected["shortcut.param_enum_majority"]
    assert (mean, deviation) == (1.0, 0.0)
    assert not report.ok


# ------------------------------------------------------------------ uniformity (F3)
@pytest.mark.parametrize(
    ("square", "degrees", "p"),
    [(3.841, 1, 0.05), (5.991, 2, 0.05), (7.815, 3, 0.05), (11.07, 5, 0.05), (13.816, 2, 0.001), (0, 4, 1)],
)
def test_chi_square_tails_are_those_of_the_tables(square: float, degrees: int, p: float) -> None:
    assert chi_square_tail(square, degrees) == pytest.approx(p, rel=0.01)


def test_what_was_never_to_be_drawn_is_impossible() -> None:
    assert chance({"a": 100, "b": 100}, ["a", "b"]) == 1.0
    assert chance({"a": 150, "b": 50}, ["a", "b"]) < 1e-9
    assert chance({"a": 100, "c": 1}, ["a", "b"]) == 0.0


def test_the_gate_on_the_draw_passes_for_the_real_one_and_fails_for_a_lopsided_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert uniform_draw([compiled()]).ok
    monkeypatch.setattr(Salt, "below", lambda self, count, rule_id: 0)
    gate = uniform_draw([compiled()])
    assert (gate.passed, gate.total) == (0, 4)
    assert any("rules[quiet_bench]: faces are not drawn uniformly over 200 salts" in f for f in gate.failures)
