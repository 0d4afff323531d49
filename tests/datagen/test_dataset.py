"""The episodes that ship: compiled from their sources, described by their card, hard to pass by guessing."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from atr_data import load_episode, select_episodes
from atr_data.episode import Episode
from atr_datagen.source.compile import compile_sources, read_sources
from atr_datagen.validity import as_markdown, judge, report
from atr_datagen.validity.corpus import CHECK_TYPES, Metrics, number
from atr_ontology import DOMAINS
from tests.conftest import ROOT
from tests.support.sources import SOURCE, shipped_sources

DATA = ROOT / "data"
EPISODES = DATA / "episodes"


@pytest.fixture(scope="module")
def shipped() -> list[Episode]:
    return [load_episode(path) for path in select_episodes(["all"], EPISODES)]


@pytest.fixture(scope="module")
def metrics(shipped: list[Episode]) -> Metrics:
    return report(shipped)


def test_the_shipped_episodes_are_what_their_sources_compile_to(tmp_path: Path) -> None:
    written = compile_sources(shipped_sources(), tmp_path)
    names = sorted(path.name for path in EPISODES.glob("*.json"))
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for path in written:
        assert path.read_bytes() == (EPISODES / path.name).read_bytes(), path.name


def test_the_mini_split_is_five_personas_of_fourteen_rules(shipped: list[Episode]) -> None:
    mini = [load_episode(path) for path in select_episodes(["split:mini"], EPISODES)]
    assert sorted(e.persona_id for e in mini) == sorted(e.persona_id for e in shipped)
    assert len(mini) == 5
    for episode in mini:
        assert (len(episode.rules), len(episode.test_sessions)) == (14, 14)
        assert len(episode.learning_sessions) == 28
        assert episode.metadata.selected_rules == [rule.rule_id for rule in episode.rules]


def test_guessing_by_shape_gets_nowhere(metrics: Metrics) -> None:
    shipped_sources()
    assert number(metrics, "shortcut.param_id_best") <= 0.40
    assert number(metrics, "pool.gold_first_share") <= 0.35
    assert number(metrics, "shortcut.best_lopo") <= 0.45
    assert [str(verdict) for verdict in judge(metrics) if verdict.ok is False] == []


def test_a_source_reads_the_same_without_the_compiled_yaml_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [c.episode for c in read_sources(SOURCE)]
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert [c.episode for c in read_sources(SOURCE)] == fast


def test_the_card_shows_the_judged_bounds_as_they_are_measured(metrics: Metrics) -> None:
    shipped_sources()
    card = (DATA / "DATA_CARD.md").read_text(encoding="utf-8").splitlines()
    measured = [line for line in as_markdown(metrics).splitlines() if line.endswith("| pass |")]
    assert len(measured) == 31
    assert [line for line in card if line.endswith("| pass |")] == measured


def test_the_card_counts_what_is_there(shipped: list[Episode], metrics: Metrics) -> None:
    card = (DATA / "DATA_CARD.md").read_text(encoding="utf-8")
    found = Counter(
        (rule.check_type, test.domain)
        for episode in shipped
        for rule, test in zip(episode.rules, episode.test_sessions, strict=True)
    )
    for kind in CHECK_TYPES:
        cells = [found[kind, domain] for domain in DOMAINS]
        assert f"| {kind} | {' | '.join(map(str, [*cells, sum(cells)]))} |" in card
    assert re.search(r"^`atrbench-canary [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`$", card, re.MULTILINE)


def test_the_changes_name_every_rule_once_when_it_is_added_and_no_other(shipped: list[Episode]) -> None:
    later, _, added = (DATA / "CHANGES.md").read_text(encoding="utf-8").partition("\nAdded, ")
    rules = [rule.rule_id for episode in shipped for rule in episode.rules]
    assert _ids(added) == rules
    assert {*_ids(later)} <= {*rules}


def _ids(text: str) -> list[str]:
    return re.findall(r"`([a-z_]+_\d\d)`", text)
