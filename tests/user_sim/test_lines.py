"""What the user knows of her rules, as a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atr_data import load_episode, packaged_episodes_dir
from atr_data.errors import DataError
from atr_user_sim.lines import lines_beside, load_lines, official_lines

HANDS = {"asked": {"a": ["Aisle or window?"]}, "not_asked": {"a": ["Which airline?"]}}


def _write(folder: Path, content: object) -> Path:
    file = folder / "anna.lines.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_lines_are_read_by_rule_and_hand(tmp_path: Path) -> None:
    about = {"decision": ["seat"], "situation": ["flight"], "narrow": [], "beside": ["price"]}
    both = {kind: {**hands, "b": hands["a"]} for kind, hands in HANDS.items()}
    file = _write(tmp_path, {"persona_id": "anna", "rules": {"r1": {**both, "about": about}, "r2": HANDS}})
    lines = load_lines(str(file))
    assert lines["r1"].hands["b"].asked == ("Aisle or window?",)
    assert lines["r1"].about.beside == ("price",)
    assert lines["r2"].about.decision == ()
    assert lines_beside(tmp_path / "anna_seed000.json", "anna") == file


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"r1": HANDS},
        {"rules": {"r1": 1}},
        {"rules": {"r1": {"asked": {"a": []}, "not_asked": {"a": ["x"]}}}},
        {"rules": {"r1": {"asked": {"a": ["x"]}, "not_asked": {"b": ["x"]}}}},
        {"rules": {"r1": {}}},
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(DataError, match=r"anna\.lines\.json"):
        load_lines(_write(tmp_path, content))
    with pytest.raises(DataError):
        load_lines(tmp_path / "none.json")


def _runs(text: str, length: int) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", text.lower())
    return (tuple(words[start : start + length]) for start in range(len(words) - length + 1))


def test_the_lines_for_the_official_rules_are_in_our_own_words(official_dir: Path) -> None:
    episodes = [load_episode(path) for path in sorted((official_dir / "episodes").rglob("*.json"))]
    said: set[tuple[str, ...]] = set()
    for rule in (rule for episode in episodes for rule in episode.rules):
        for value in _texts(rule.model_dump()):
            said.update(_runs(value, 6))
    lines = official_lines()
    assert {rule.rule_id for episode in episodes for rule in episode.rules} == lines.keys()
    for entry in lines.values():
        for hand in entry.hands.values():
            for line in (*hand.asked, *hand.not_asked):
                assert not said.intersection(_runs(line, 6)), line


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def test_each_of_our_own_episodes_has_lines_for_all_its_rules() -> None:
    episodes = [load_episode(path) for path in sorted(packaged_episodes_dir().glob("*_seed000.json"))]
    assert len(episodes) >= 5
    for episode in episodes:
        lines = load_lines(lines_beside(packaged_episodes_dir() / "x.json", episode.persona_id))
        assert {rule.rule_id for rule in episode.rules} == lines.keys()
