"""The published aggregate tables, to twelve places."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from atr_evaluator.aggregate.bootstrap import mean_interval
from atr_evaluator.aggregate.published import Acquisition, Mean, accuracies, acquisition
from atr_evaluator.aggregate.published_walk import PUBLISHED_MODELS, published_cells


@pytest.fixture(scope="module")
def vectors(conformance_dir: Path) -> Any:
    path = conformance_dir / "tables.json"
    if not path.is_file():
        pytest.skip("no tables.json here")
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def root(vectors: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tables")
    for cell in vectors["cells"]:
        folder = root / cell["path"]
        folder.mkdir(parents=True)
        (folder / "eval.json").write_text(json.dumps({"metrics": cell["metrics"], "session_results": []}))
        if cell["manifest"] is not None:
            (folder / "cell_manifest.json").write_text(json.dumps(cell["manifest"]))
    return root


def test_the_same_cells_enter(vectors: Any, root: Path) -> None:
    found = published_cells(root)
    assert found.paths == vectors["expected"]["loaded"]
    assert found.skipped == vectors["expected"]["skipped_listed"]


def _close(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list) and isinstance(ours, Sequence):
        return len(ours) == len(theirs) and all(map(_close, ours, theirs))
    if isinstance(theirs, float) and isinstance(ours, float):
        return abs(ours - theirs) <= 1e-12
    return ours == theirs


def _agree(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert ours.keys() == theirs.keys()
    unlike = {name: (ours[name], theirs[name]) for name in ours if not _close(ours[name], theirs[name])}
    assert not unlike


@pytest.mark.parametrize("resamples", [1000, 200])
def test_the_accuracies_are_theirs(vectors: Any, root: Path, resamples: int) -> None:
    found = accuracies(published_cells(root).cells, resamples)
    rows = [row for row in found if row.model in PUBLISHED_MODELS]
    assert len(rows) < len(found)
    expected = vectors["expected"]["bootstrap"][str(resamples)]["tsacc"]
    assert len(rows) == len(expected)
    for ours, theirs in zip(rows, expected, strict=True):
        _agree(asdict(ours), theirs)


@pytest.mark.parametrize("resamples", [1000, 200])
def test_the_acquisition_is_theirs(vectors: Any, root: Path, resamples: int) -> None:
    cells = published_cells(root).cells
    expected = vectors["expected"]["bootstrap"][str(resamples)]["acquisition"]
    found = accuracies(cells, resamples)
    order = [(variant, model) for variant in ("atr", "always_ask") for model in PUBLISHED_MODELS]
    assert [(row["variant"], row["model"]) for row in expected] == order
    for (variant, model), theirs in zip(order, expected, strict=True):
        ours = acquisition(cells, found, variant, model, resamples)
        _agree(_row(ours or Acquisition(variant, model, *[Mean()] * 4, gap_recovered=None)), theirs)


def _row(found: Acquisition) -> dict[str, Any]:
    means = {
        "ask_rate": found.ask_rate,
        "acqprec": found.acquisition_precision,
        "coverage": found.coverage,
        "applied": found.applied_rate,
    }
    return {
        "variant": found.variant,
        "model": found.model,
        "gaprec": found.gap_recovered,
        **{f"{name}_macro": one.macro for name, one in means.items()},
        **{f"{name}_ci": one.ci for name, one in means.items()},
        "n_personas": found.ask_rate.count,
        "n_applied_personas": found.applied_rate.count,
    }


def test_the_intervals_are_theirs(vectors: Any) -> None:
    for case in vectors["bootstrap_cases"]:
        low, high = mean_interval(case["values"], case["B"])
        assert _close([low, high], [case["lo"], case["hi"]])


def test_a_figure_off_in_the_ninth_place_is_noticed(vectors: Any, root: Path) -> None:
    row = asdict(accuracies(published_cells(root).cells, 200)[0])
    with pytest.raises(AssertionError):
        _agree(row | {"macro": row["macro"] + 1e-9}, row)
