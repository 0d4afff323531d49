"""Snapshots: single moments, played through the server and scored by yes and no."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from statistics import median_low as median

import pytest

from atr_client.timing.scoring_plays import headline, score_plays
from atr_client.timing.timing_results import conditions, render_condition
from atr_data.timing.set_folder import load_set
from atr_datagen.timing.snapshot_set import as_snapshots
from atr_evaluator.timing import UserPlay, set_hash, snapshots
from atr_servers.timing.tools import Workstream
from tests.support.command import call
from tests.support.timing_sets import generated, saved_set

USER = generated(2)[0]
STREAM = as_snapshots(USER.stream, USER.gold)


def test_a_snapshot_shows_what_led_up_to_it_and_asks_once() -> None:
    sitting = max(STREAM.header.sittings, key=lambda one: len(STREAM.events_of(one)))
    workstream = Workstream(STREAM, sitting.sitting_id)
    answer, _ = workstream.call("start_sitting", {})
    shown = STREAM.events_of(sitting)
    assert len(shown) > 3
    assert [one["event_id"] for one in answer["passed"]] == [event.event_id for event in shown[:-1]]
    assert (answer["current"]["event_id"], answer["decisions_left"]) == (sitting.last_event, 1)
    refused, _ = workstream.call("stay_silent", {"event_id": shown[0].event_id})
    assert refused["code"] in ("wrong_event", "no_decision_here")
    recent, _ = workstream.call("recent", {"seconds": 300})
    assert len(recent["events"]) == len(shown)
    last, _ = workstream.call("assist", {"event_id": sitting.last_event, "intent": "advice"})
    assert last["current"] is None


def test_nothing_but_the_moments_tells_the_halves_apart() -> None:
    wanted = {item.event_id: item.wanted for item in snapshots(USER.stream, USER.gold)}
    order = [wanted[sitting.last_event] for sitting in STREAM.header.sittings]
    assert sum(order) * 2 == len(order)
    changes = sum(a != b for a, b in pairwise(order))
    assert changes > len(order) / 4
    assert not any(sitting.last_event in sitting.sitting_id for sitting in STREAM.header.sittings)


def test_no_hash_of_an_id_tells_the_halves_apart() -> None:
    """An agent sees the ids of events, and may know how a set is made."""
    right = total = 0
    for user in generated(4):
        items = snapshots(user.stream, user.gold)
        hashes = [sha256(item.event_id.encode()).digest() for item in items]
        right += sum((one > median(hashes)) == item.wanted for one, item in zip(hashes, items, strict=True))
        total += len(items)
    assert 0.38 < right / total < 0.62


def test_snapshots_are_another_set_than_their_sittings() -> None:
    assert set_hash([UserPlay(STREAM, USER.gold)]) != set_hash([UserPlay(USER.stream, USER.gold)])


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("snapshots")
    assert call("timing", "snapshots", saved_set(folder / "set", 1), "--out", folder / "quick") == 0
    return folder / "quick"


def test_players_are_ranked_by_the_matthews_coefficient(
    quick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = ["offline/oracle", "offline/reader-16"]
    keys = {"name": "x", "track": "timing", "set": {"folder": str(quick)}, "models": models}
    path = tmp_path / "timing.yaml"
    path.write_text(json.dumps({**keys, "outputs": str(tmp_path / "out")}), encoding="utf-8")
    assert call("run", "--config", path) == 0
    told = capsys.readouterr()
    assert "MCC 1.000 timing/" in told.err
    (found,) = conditions(tmp_path / "out")
    scores = {model: (result["MCC"], result["F1"]) for model, result in found.results.items()}
    assert scores["offline/oracle"] == (1, 1)
    assert scores["offline/reader-16"][0] > 0.5
    assert next(iter(found.results)) == "offline/oracle"
    assert all(result["unanswered"] == 0 for result in found.results.values())
    assert "| player | MCC | accuracy | precision | recall | F1 |" in told.out
    assert render_condition(found) in told.out


def test_an_unplayed_snapshot_is_a_no_that_is_counted(quick: Path) -> None:
    plays = [UserPlay(files.stream, files.gold) for files in load_set(quick)]
    scored = score_plays(plays)
    assert headline(scored) == ("MCC", 0)
    assert scored["unanswered"] == scored["items"] > 20
