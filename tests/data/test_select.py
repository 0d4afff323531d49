"""Which files a selector means."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr_data import DataError, packaged_episodes_dir, select_episodes
from atr_data import select as select_module

NAMES = ["ada_moss_seed000", "ada_moss_seed001", "bo_lind_seed000", "cy_adams_seed000"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in [*NAMES, "notes", "report_seedling"]:
        (tmp_path / f"{name}.json").write_text("{}")
    (tmp_path / "splits.yaml").write_text("mini: [cy_adams, ada_moss_seed001]\nwild: [nobody]\n")
    return tmp_path


@pytest.mark.parametrize(
    ("selectors", "chosen"),
    [
        (["all"], [0, 1, 2, 3]),
        (["ada_moss"], [0, 1]),
        (["bo_lind_seed000"], [2]),
        (["*_seed000"], [0, 2, 3]),
        (["*ad*"], [0, 1, 3]),
        (["split:default"], [0, 2, 3]),
        (["split:mini"], [3, 1]),
        (["bo_lind", "all"], [2, 0, 1, 3]),
        ([], []),
    ],
)
def test_a_selector_means_these_files(folder: Path, selectors: list[str], chosen: list[int]) -> None:
    assert [path.stem for path in select_episodes(selectors, folder)] == [NAMES[i] for i in chosen]


def test_a_path_means_itself_wherever_it_lies(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("elsewhere") / "mine.json"
    path.write_text("{}")
    assert select_episodes([str(path)], folder) == [path]


def test_the_layout_of_the_official_release_is_searched(tmp_path: Path) -> None:
    path = tmp_path / "data" / "personas" / "ada_moss" / "episodes" / "ada_moss_seed000.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert select_episodes(["all"], tmp_path) == select_episodes(["ada_moss"], tmp_path / "data") == [path]


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("ada_mos", r"'ada_mos' selects no episode; near: ada_moss"),
        ("zzz", r"'zzz' selects no episode; there are: ada_moss, bo_lind, cy_adams"),
        ("split:huge", r"no split 'huge'; there are: default, mini, wild"),
        ("split:wild", r"'nobody' selects no episode"),
        ("lost.json", r"lost\.json: no such file"),
    ],
)
def test_a_selector_that_means_nothing_says_what_is_near(folder: Path, selector: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        select_episodes([selector], folder)


def test_a_folder_without_episodes_says_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no \*_seedNNN\.json"):
        select_episodes(["all"], tmp_path)
    with pytest.raises(DataError, match="split 'default' is empty"):
        select_episodes(["split:default"], tmp_path)
    with pytest.raises(DataError, match="no such folder"):
        select_episodes(["all"], tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "message"),
    [("[a, b]", "should map split names"), ("mini: 3", "mini: should be a list"), ("{", "cannot be read")],
)
def test_a_broken_splits_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "splits.yaml").write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        select_episodes(["split:mini"], tmp_path)
    assert caught.value.path == tmp_path / "splits.yaml"


def test_the_packaged_episodes_are_found_in_a_checkout_and_in_a_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "atr_data"
    package.mkdir()
    monkeypatch.setattr(select_module, "files", lambda _: package)
    with pytest.raises(DataError, match="no episodes in this installation"):
        packaged_episodes_dir()
    (tmp_path / "episodes").mkdir()
    assert packaged_episodes_dir() == tmp_path / "episodes"
    (package / "episodes").mkdir()
    assert packaged_episodes_dir() == package / "episodes"
