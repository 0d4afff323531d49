"""Episodes and transcripts from files, good and bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_data import DataError, load_episode, load_trajectory, validate_episode
from atr_data.load import is_plain_name
from atr_datagen.source.episodes import as_text
from tests.support.sources import compiled


@pytest.fixture(scope="module")
def text() -> str:
    return as_text(compiled().episode)


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "pavla_ondrus_seed000.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def changed(text: str, change: Callable[[dict[str, Any]], object]) -> str:
    data = json.loads(text)
    change(data)
    return json.dumps(data)


def test_a_compiled_episode_loads(tmp_path: Path, text: str) -> None:
    episode = load_episode(written(tmp_path, text))
    assert (episode.persona_id, episode.short_id, episode.seed) == ("pavla_ondrus", "seed000", 0)
    assert [len(episode.rules), len(episode.learning_sessions), len(episode.test_sessions)] == [5, 4, 5]


def test_unknown_fields_are_ignored_by_the_loader_and_named_by_validate(tmp_path: Path, text: str) -> None:
    def add(data: dict[str, Any]) -> None:
        data["colour"] = "red"
        data["rules"][1]["weight"] = 3
        data["test_sessions"][0]["local_env"]["references"][0]["shelf"] = 1

    path = written(tmp_path, changed(text, add))
    load_episode(path)
    findings = validate_episode(path)
    assert {finding.level for finding in findings} == {"warning"}
    assert [finding.key for finding in findings] == [
        "colour",
        "rules[1].weight",
        "test_sessions[0].local_env.references[0].shelf",
    ]


BAD_FILES = [
    pytest.param(b"", "not JSON", id="empty"),
    pytest.param(b'{"episode_id": "x', "cut off", id="truncated"),
    pytest.param(b"\xff\xfe{}", "not UTF-8", id="not text"),
    pytest.param(b'{"episode_id": NaN}', "NaN is no JSON number", id="NaN"),
    pytest.param(b'{"episode_id": "\\ud800"}', "lone surrogate", id="surrogate"),
    pytest.param(b"[" * 100_000, "nested too deeply", id="deep"),
    pytest.param(b"[1, 2]", "valid dictionary", id="a list"),
    pytest.param(b"{}", "episode_id: is missing (and 5 more problems)", id="no field"),
]


@pytest.mark.parametrize(("content", "reason"), BAD_FILES)
def test_a_file_that_is_no_episode_is_refused_in_one_line(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DataError) as caught:
        load_episode(path)
    message = str(caught.value)
    assert reason in message and message.startswith(str(path)) and "\n" not in message
    assert validate_episode(path)[0].level == "error"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.json: no such file"):
        load_episode(tmp_path / "nowhere.json")


def test_a_folder_is_not_an_episode(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load_episode(tmp_path)


def test_a_field_of_the_wrong_kind_is_named_by_its_place(tmp_path: Path, text: str) -> None:
    def spoil(data: dict[str, Any]) -> None:
        data["rules"][2]["check_type"] = "guess"

    with pytest.raises(DataError, match=r"rules\[2\]\.check_type: input should be .*'guess'"):
        load_episode(written(tmp_path, changed(text, spoil)))


@pytest.mark.parametrize("name", ["../up", "a/b", "a\\b", "", ".hidden", "a..b", "nul\0"])
@pytest.mark.parametrize("where", ["episode_id", "persona_id", "session_id"])
def test_ids_that_could_leave_their_folder_are_refused(
    tmp_path: Path, text: str, name: str, where: str
) -> None:
    def spoil(data: dict[str, Any]) -> None:
        holder = {
            "episode_id": data,
            "persona_id": data["raw_persona"],
            "session_id": data["test_sessions"][1],
        }[where]
        holder[where] = name

    path = written(tmp_path, changed(text, spoil))
    with pytest.raises(DataError, match=f"{where}: is no plain name") as caught:
        load_episode(path)
    assert caught.value.path == path
    assert any("plain name" in finding.message for finding in validate_episode(path))


@given(st.text())
def test_a_plain_name_stays_inside_its_folder(name: str) -> None:
    if is_plain_name(name):
        assert (Path("/runs") / name).resolve().parent == Path("/runs").resolve()


def test_a_transcript_loads_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('{"session_id": "s", "session_type": "test", "agent_variant": "atr", "new": 1}')
    assert load_trajectory(path).termination_reason == "agent_stop"
    path.write_text('{"session_id": "s", "session_type": "exam", "agent_variant": "atr"}')
    with pytest.raises(DataError, match="session_type: input should be"):
        load_trajectory(path)


def test_official_episodes_load_and_have_no_error(official_dir: Path) -> None:
    files = sorted((official_dir / "episodes").glob("*.json"))
    counts = [0, 0, 0]
    for path in files:
        episode = load_episode(path)
        for index, items in enumerate((episode.rules, episode.learning_sessions, episode.test_sessions)):
            counts[index] += len(items)
        assert [f for f in validate_episode(path) if f.level == "error"] == []
    assert (len(files), counts) == (20, [284, 568, 284])
