"""What a memory kept of what was heard, counted and pooled."""

from __future__ import annotations

from typing import Any

import pytest

from atr_data import Episode
from atr_data.trajectory import InteractionEvent, MemoryUse, Retention, Trajectory
from atr_evaluator.memory_companions import memory_companions, pooled_memory
from tests.support.cells import small_episode


def heard(*rules: str) -> Trajectory:
    events = [
        InteractionEvent(kind="cls_verdict", turn_idx=1, rule_id=rule, cls_status="hit") for rule in rules
    ]
    return Trajectory(
        session_id="l0", session_type="learning", agent_variant="atr", interaction_events=events
    )


def played(number: int, found: bool | None, *kept: bool | None, **use: Any) -> Trajectory:
    retention = Retention(stored=kept[0], findable=kept[1]) if kept else None
    return Trajectory(
        session_id=f"t{number}",
        session_type="test",
        agent_variant="atr",
        rule_readable=found,
        retention=retention,
        memory_use=MemoryUse(**use) if use else None,
    )


@pytest.fixture
def episode() -> Episode:
    return small_episode(tests=4)


def test_only_tests_whose_rule_was_heard_count_and_the_unknown_counts_in_no_rate(episode: Episode) -> None:
    runs = [
        heard("r0", "r1", "r2"),
        played(0, True, True, True),
        played(1, False, True, None),
        played(2, None),
        played(3, True, True, True),
    ]
    retained = memory_companions(episode, runs)["retained"]
    assert retained == {
        "heard": 3,
        "stored": 2,
        "stored_known": 2,
        "stored_rate": 1.0,
        "findable": 1,
        "findable_known": 1,
        "findable_rate": 1.0,
        "found": 1,
        "found_known": 2,
        "found_rate": 0.5,
    }


def test_costs_add_up_over_the_tests_that_tell_them(episode: Episode) -> None:
    runs = [
        played(0, True, pushed_characters=40, tool_calls=1, seconds=0.25, stored_bytes=7),
        played(1, True, pushed_characters=60, returned_characters=8, discarded_writes=2),
        played(2, True),
    ]
    block = memory_companions(episode, runs)
    assert block["memory"] == {
        "tests": 2,
        "pushed_characters": 100,
        "tool_calls": 1,
        "returned_characters": 8,
        "milliseconds": 250,
        "stored_bytes": 7,
        "discarded_writes": 2,
    }
    assert pooled_memory([block, block, {}])["memory"]["tests"] == 4
    assert pooled_memory([])["retained"]["found_rate"] is None
