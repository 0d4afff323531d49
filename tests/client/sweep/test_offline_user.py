"""What a sweep tells of the offline user, and where that user's knowledge comes from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from atr_client.cell.known_lines import known_lines
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.scored_cells import scored_cell
from atr_client.outputs.user_line import described_user, users_of
from atr_client.sweep.config import RunConfig
from atr_client.sweep.plan import plan_cells
from atr_client.sweep.registry import offline_user_warning
from atr_data import DataError, load_episode, packaged_episodes_dir
from atr_user_sim.lines import load_lines

EPISODE = packaged_episodes_dir() / "odalys_renner_seed000.json"
HANDS = {"asked": {"a": ["Which one?"]}, "not_asked": {"a": ["When?"]}}


def _config(folder: Path, **more: Any) -> RunConfig:
    return RunConfig.model_validate(
        {
            "name": "t",
            "episodes": {"select": ["odalys_renner"], "folder": str(folder)},
            "variants": ["atr"],
            "models": ["offline/noop"],
        }
        | more
    )


def _folder(tmp_path: Path, *left_out: str) -> Path:
    """An episode with lines beside it."""
    shutil.copy(EPISODE, tmp_path)
    rules = [rule.rule_id for rule in load_episode(EPISODE).rules if rule.rule_id not in left_out]
    lines = {"rules": dict.fromkeys(rules, HANDS)}
    (tmp_path / "odalys_renner.lines.json").write_text(json.dumps(lines), encoding="utf-8")
    return tmp_path


def test_the_manifest_says_which_user_plays_and_what_she_knows(tmp_path: Path) -> None:
    config = _config(_folder(tmp_path), user_sim={"classifier": "lexical"})
    user = plan_cells(config, tmp_path / "out")[0].manifest.user_sim
    assert (user["make"], user["classifier"]) == ("offline", "lexical")
    assert len(user["lines"]) == len(user["weights"]) == 12
    assert 0.5 < user["classifier_accuracy"] < 1
    (tmp_path / "odalys_renner.lines.json").unlink()
    without = plan_cells(config, tmp_path / "out")[0].manifest.user_sim
    assert without["lines"] is None
    assert without["weights"] != user["weights"]
    assert without["classifier_accuracy"] < user["classifier_accuracy"]


def test_lines_that_lack_a_rule_are_refused(tmp_path: Path) -> None:
    episode = load_episode(EPISODE)
    folder = _folder(tmp_path, episode.rules[0].rule_id)
    with pytest.raises(DataError, match=episode.rules[0].rule_id):
        known_lines(episode, folder / EPISODE.name)


def test_official_rules_have_lines_that_ship(official_dir: Path) -> None:
    path = next((official_dir / "episodes").rglob("anna_strahan_seed000.json"))
    episode = load_episode(path)
    assert known_lines(episode, path).keys() == {rule.rule_id for rule in episode.rules}


def test_a_table_names_the_user_of_its_cells(tmp_path: Path) -> None:
    user = {"make": "offline", "classifier": "minilm", "lines": "0" * 12, "classifier_accuracy": 0.861}
    (tmp_path / "cell_manifest.json").write_text(json.dumps({"user_sim": user}), encoding="utf-8")
    cell, other = (scored_cell(CellFolder(folder), None) for folder in (tmp_path, tmp_path / "none"))
    assert users_of([cell, cell]) == "user: offline, Classifier .86 (minilm, with question lines)"
    assert users_of([cell, other]) == f"{users_of([cell])} | unknown"
    assert described_user({"make": "model", "classifier": {"model": "m1"}}) == "model, Classifier m1"
    assert "earlier version" in described_user({"make": "offline"})


@pytest.mark.parametrize(
    "agent",
    [{"id": "local/m", "model": "m", "base_url": "http://127.0.0.1:9/v1"}, "cmd/claude"],
    ids=["model", "command"],
)
def test_a_real_agent_against_the_offline_user_is_warned_of_in_one_line(tmp_path: Path, agent: Any) -> None:
    warning = offline_user_warning(_config(tmp_path, models=[agent]))
    assert warning
    assert "\n" not in warning
    assert offline_user_warning(_config(tmp_path)) is None
    assert offline_user_warning(_config(tmp_path, models=[agent], user_sim={"make": "model"})) is None


def test_the_user_of_a_run_compares_by_the_encoder_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    assert _config(tmp_path).user_sim.comparison == "minilm"
    monkeypatch.setattr("atr_user_sim.offline.minilm.find_spec", lambda _: None)
    assert _config(tmp_path).user_sim.comparison == "lexical"


async def _heard(folder: Path, outputs: Path) -> int:
    """How many of the questions that writers put down for its rules the user of a planned cell answers."""
    cell: Any = plan_cells(_config(folder, user_sim={"classifier": "lexical"}), outputs)[0]
    session = cell.episode.learning_sessions[0]
    heard = 0
    for rule, lines in load_lines(packaged_episodes_dir() / "odalys_renner.lines.json").items():
        question = f"One thing for later: {lines.hands['a'].asked[0]}"
        user = cell.run_session.user_of(cell.episode, session)
        turn = await user.hear(agent_text=question, output=question, reason="a rule", turn_idx=1, history=[])
        heard += rule in [event.rule_id for event in turn.events]
    return heard


async def test_the_user_of_a_sweep_knows_the_lines_beside_the_episode(tmp_path: Path) -> None:
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    for name in ("with", "without"):
        shutil.copy(EPISODE, tmp_path / name)
    shutil.copy(packaged_episodes_dir() / "odalys_renner.lines.json", tmp_path / "with")
    knowing, ignorant = [await _heard(tmp_path / name, tmp_path / "o") for name in ("with", "without")]
    assert knowing >= ignorant + 4, (knowing, ignorant)
