"""The manifest gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atr_client.errors import ManifestMismatch
from atr_client.outputs.layout import CellKey
from atr_client.outputs.manifest import completed, gate, read_manifest, resumed
from atr_client.outputs.provenance import collect_provenance
from tests.support.cells import manifest_of, small_episode

KEY = CellKey("pp_a", "pp_a_seed000", "atr", seed=0)


def _manifest(max_steps: int = 20):
    return manifest_of(KEY, small_episode(), max_steps=max_steps)


def _on_disk(**changes: object) -> dict[str, object]:
    return json.loads(_manifest().model_dump_json()) | changes


def test_an_equal_manifest_passes() -> None:
    assert gate(_on_disk(), _manifest()) == ()


def test_a_difference_is_named_with_both_values_and_the_remedy() -> None:
    with pytest.raises(ManifestMismatch) as caught:
        gate(_on_disk(seed=7, prompt_hashes={"a.md": "other"}), _manifest())
    message = str(caught.value)
    assert caught.value.fields == ("seed", "prompt_hashes")
    assert "seed was 7, is 0" in message
    assert "prompt_hashes differs in a.md" in message
    assert "--fresh" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "field", ["max_steps", "timeout", "episode_sha256", "tool_schemas_sha256", "model_sha256", "user_sim"]
)
def test_inputs_and_limits_gate_a_strict_run_alone(field: str) -> None:
    existing = _on_disk(**{field: "other"})
    with pytest.raises(ManifestMismatch, match=field):
        gate(existing, _manifest())
    assert gate(existing, _manifest(), compatible=True) == ()


def test_inputs_that_another_program_does_not_record_are_not_compared() -> None:
    existing = _on_disk()
    del existing["episode_sha256"], existing["model_sha256"]
    assert gate(existing, _manifest()) == ()


def test_an_override_reports_what_it_passes_over_and_the_manifest_remembers_it() -> None:
    existing = _on_disk(seed=7, created_at="2020-01-01T00:00:00+00:00", stale_fields=["model"])
    stale = gate(existing, _manifest(), allow_stale=True)
    manifest = resumed(existing, _manifest(), stale, compatible=False)
    assert stale == ("seed",)
    assert manifest.stale_fields == ["model", "seed"]
    assert manifest.created_at == "2020-01-01T00:00:00+00:00"


def test_a_run_that_begins_again_is_not_complete() -> None:
    existing = json.loads(completed(_manifest()).model_dump_json())
    assert resumed(existing, _manifest(), (), compatible=False).complete is False
    assert resumed(existing, _manifest(), (), compatible=True).complete is True


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00"])
def test_what_cannot_be_read_counts_as_absent(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cell_manifest.json"
    path.write_text(text)
    assert read_manifest(path) is None
    assert read_manifest(tmp_path / "none.json") is None


def test_provenance_names_every_prompt_and_is_the_same_twice() -> None:
    first, second = collect_provenance(), collect_provenance()
    assert first == second
    assert {name.split("/")[0] for name in first.prompt_hashes} == {"atr_client", "atr_user_sim"}
    assert first.tool_count == 74
    assert first.code_hash.startswith("src")
    assert {"atrbench", "mcp", "pydantic", "python"} <= set(first.packages)
