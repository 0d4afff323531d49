"""The store keeps what it is given, apart by namespace, and a snapshot keeps what it has seen."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_memory import Entry, MemoryStore, StoreError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
OPERATIONS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["session", "prior", "freeze", "reset"]), TEXTS),
    max_size=12,
)


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    with MemoryStore() as store:
        yield store


def test_entries_come_back_in_the_order_in_which_they_came(store: MemoryStore) -> None:
    assert store.append_session("a", "s2", "two") is True
    store.append_prior_statement("a", "said")
    store.append_session("a", "s1", "one")
    assert store.entries("a") == (
        Entry("session", "two", "s2"),
        Entry("prior", "said"),
        Entry("session", "one", "s1"),
    )


def test_a_session_appended_again_adds_nothing(store: MemoryStore) -> None:
    store.append_session("a", "s1", "one")
    assert store.append_session("a", "s1", "one") is False
    assert len(store.entries("a")) == 1


def test_a_session_with_another_text_is_refused_and_the_first_one_stays(store: MemoryStore) -> None:
    store.append_session("a", "s1", "one")
    with pytest.raises(StoreError, match=r"session 's1' .* namespace 'a' with another text; reset"):
        store.append_session("a", "s1", "other")
    assert store.entries("a") == (Entry("session", "one", "s1"),)
    assert store.append_session("b", "s1", "other") is True


def test_equal_prior_statements_are_all_kept(store: MemoryStore) -> None:
    for _ in range(2):
        store.append_prior_statement("a", "said")
    assert len(store.entries("a")) == 2


def test_a_reset_forgets_one_namespace_and_leaves_snapshots_alone(store: MemoryStore) -> None:
    store.append_session("a", "s1", "one")
    store.append_session("b", "s1", "one")
    snapshot = store.freeze("a")
    assert store.reset("a") == 1
    assert store.entries("a") == ()
    assert store.snapshot("a", snapshot) == store.entries("b") == (Entry("session", "one", "s1"),)


def test_the_same_content_frozen_again_is_the_same_snapshot(store: MemoryStore) -> None:
    empty = store.freeze("a")
    store.append_session("a", "s1", "one")
    first = store.freeze("a")
    store.reset("a")
    store.append_session("a", "s1", "one")
    assert store.freeze("a") == first != empty
    store.append_session("b", "s1", "one")
    assert store.freeze("b") != first


def test_a_snapshot_belongs_to_its_namespace(store: MemoryStore) -> None:
    snapshot = store.freeze("a")
    with pytest.raises(StoreError, match=f"namespace 'b' has no snapshot '{snapshot}'"):
        store.snapshot("b", snapshot)


@given(OPERATIONS)
def test_namespaces_never_mix_and_snapshots_never_change(operations: list[tuple[str, str, str]]) -> None:
    expected: dict[str, list[Entry]] = {"a": [], "b": []}
    frozen: list[tuple[str, str, tuple[Entry, ...]]] = []
    with MemoryStore() as store:
        for number, (namespace, operation, text) in enumerate(operations):
            match operation:
                case "session":
                    store.append_session(namespace, f"s{number}", text)
                    expected[namespace].append(Entry("session", text, f"s{number}"))
                case "prior":
                    store.append_prior_statement(namespace, text)
                    expected[namespace].append(Entry("prior", text))
                case "freeze":
                    frozen.append((namespace, store.freeze(namespace), tuple(expected[namespace])))
                case _:
                    store.reset(namespace)
                    expected[namespace].clear()
        assert {name: list(store.entries(name)) for name in expected} == expected
        for namespace, snapshot, entries in frozen:
            assert store.snapshot(namespace, snapshot) == entries


def test_a_file_survives_its_process(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    with MemoryStore(path) as store:
        store.append_session("a", "s1", "one")
        snapshot = store.freeze("a")
        store.append_prior_statement("a", "later")
    with MemoryStore(path) as store:
        assert [entry.text for entry in store.entries("a")] == ["one", "later"]
        assert [entry.text for entry in store.snapshot("a", snapshot)] == ["one"]


def test_parallel_writers_on_a_fresh_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"

    def write(number: int) -> None:
        with MemoryStore(path) as store:
            store.append_session("a", f"s{number}", "text")
            store.append_session("a", "shared", "text")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(16)))
    with MemoryStore(path) as store:
        assert {entry.session_id for entry in store.entries("a")} == {"shared", *(f"s{n}" for n in range(16))}
        assert len(store.entries("a")) == 17


def test_threads_can_share_one_store(store: MemoryStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store.append_session("a", f"s{n}", "text"), range(40)))
    assert len(store.entries("a")) == 40


def test_a_lone_surrogate_is_refused_and_nothing_is_stored(store: MemoryStore) -> None:
    with pytest.raises(StoreError, match="lone surrogate"):
        store.append_session("a", "s1", "bad \ud800 text")
    assert store.entries("a") == ()


def test_a_file_that_is_no_store_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt: not a memory store: ") as caught:
        MemoryStore(path)
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    with pytest.raises(StoreError, match="cannot open the memory store"):
        MemoryStore(tmp_path / "missing" / "memory.sqlite")
