"""Reordering the objects of a session by hash."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from atr_data.episode import Episode
from atr_data.shuffle import shuffle_references
from tests.support.tiny_episode import episode as tiny


def world(ids: list[str]) -> Episode:
    raw: dict[str, Any] = tiny()
    references = [{"id": name, "type": "product", "attributes": {"name": name}} for name in ids]
    for session in (*raw["learning_sessions"], *raw["test_sessions"]):
        session["local_env"] = {**session["local_env"], "references": references}
    return Episode.model_validate(raw)


def order(episode: Episode, number: int = 0) -> list[str]:
    return [reference.id for reference in episode.test_sessions[number].local_env.references]


IDS = [f"prd_{n}" for n in range(8)]


@given(st.permutations(IDS), st.integers())
def test_the_order_on_file_does_not_matter_and_nothing_is_lost(ids: list[str], seed: int) -> None:
    shuffled = shuffle_references(world(ids), seed)
    assert shuffled == shuffle_references(world(IDS), seed)
    assert sorted(order(shuffled)) == IDS


def test_seeds_and_sessions_have_orders_of_their_own() -> None:
    first, second = (shuffle_references(world(IDS), seed) for seed in (1, 2))
    learnt = [r.id for r in first.learning_sessions[0].local_env.references]
    assert len({tuple(ids) for ids in (order(first), order(first, 1), order(second), learnt, IDS)}) == 5


def test_nothing_but_the_order_changes() -> None:
    before, after = world(IDS), shuffle_references(world(IDS), 1)
    assert order(before) == IDS
    assert after.model_dump(exclude={"learning_sessions", "test_sessions"}) == before.model_dump(
        exclude={"learning_sessions", "test_sessions"}
    )
    assert after.test_sessions[0].local_env.tools == before.test_sessions[0].local_env.tools
    assert after.test_sessions[0].labels == before.test_sessions[0].labels
