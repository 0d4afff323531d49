"""Run folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atr_client.errors import ConfigError
from atr_client.outputs.layout import CellKey, summary_path


@pytest.mark.parametrize(
    "parts",
    [
        {"episode_id": "../../etc"},
        {"episode_id": "a/b"},
        {"persona_id": ".."},
        {"persona_id": ""},
        {"persona_id": "p\x00"},
        {"model": "..\\x"},
        {"model": "x\n"},
        {"model": "m" * 300},
        {"layer": "../up"},
        {"persona_id": "p", "episode_id": "p_.."},
    ],
)
def test_a_part_that_could_lead_elsewhere_is_refused(parts: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="plain name"):
        CellKey(**{"persona_id": "p", "episode_id": "p_seed000", "variant": "atr", **parts})


def test_an_unknown_variant_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="oracle_target"):
        CellKey("p", "p_seed000", "oracle")


def test_a_slash_in_a_model_id_makes_no_folder(tmp_path: Path) -> None:
    key = CellKey("p", "p_seed000", "atr", "maker/model")
    assert key.folder(tmp_path).path.relative_to(tmp_path).parts[:2] == ("p", "seed000")
    assert len(key.relative_path.parts) == 3


def test_cells_that_differ_in_any_part_have_different_folders() -> None:
    base = {"persona_id": "p", "episode_id": "p_seed000", "variant": "atr", "seed": 0}
    changes = [{}, {"variant": "default"}, {"model": "x"}, {"layer": "raw"}, {"seed": 1}, {"hook": True}]
    changes += [{"smoke": True}, {"episode_id": "p_seed001"}, {"persona_id": "q"}]
    assert len({CellKey(**(base | change)).cell_id for change in changes}) == len(changes)


def test_a_second_summary_of_one_second_gets_a_name_of_its_own(tmp_path: Path) -> None:
    first = summary_path(tmp_path, "runner", "20260101T000000Z")
    first.parent.mkdir()
    first.touch()
    assert first.name == "runner_20260101T000000Z.json"
    assert summary_path(tmp_path, "runner", "20260101T000000Z").name == "runner_20260101T000000Z-2.json"
