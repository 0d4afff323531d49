"""Tables and sentences on a terminal of any width."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich import box
from rich.console import Console
from rich.table import Table

from atr_client.outputs.companion_table import LEGEND
from atr_client.outputs.fitting import print_table
from atr_client.outputs.result_tables import print_results
from atr_data.variants import VARIANTS
from tests.client.outputs.test_validity_line import FAILED, PASSED, cell
from tests.support.command import call

MODEL = "openrouter/some-laboratory/a-model-with-a-long-name"


def shown(root: Path, width: int, *, terminal: bool = True) -> str:
    rows = [cell(root, MODEL, PASSED, variant=variant) for variant in VARIANTS]
    cell(root, "offline/noop", FAILED)
    failed = {"ok": False, "model": MODEL, "variant": "atr", "cell_id": "pp/seed000/x", "error": "no answer"}
    stream = io.StringIO()
    print_results(Console(file=stream, width=width, force_terminal=terminal), [*rows, failed], root)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())


@pytest.mark.parametrize("width", [40, 60, 80, 110, 200])
def test_no_word_is_broken_and_no_line_is_too_long_at_any_width(width: int, tmp_path: Path) -> None:
    wide, narrow = shown(tmp_path / "a", 1000), shown(tmp_path / "b", width)
    assert set(narrow.split()) - set(re.findall(r"─+", narrow)) <= set(wide.split())
    assert max(len(line.rstrip()) for line in narrow.splitlines()) <= max(width, len(MODEL))
    assert "…" not in narrow


def test_columns_that_do_not_fit_stand_in_a_further_table_with_the_same_rows(tmp_path: Path) -> None:
    lines = shown(tmp_path, 60).splitlines()
    heads = [line.split("(tests)")[1].split() for line in lines if "% passed (tests)" in line]
    assert len(heads) > 1
    assert [variant for head in heads for variant in head] == list(VARIANTS)
    assert sum(line.split()[:1] == ["travel"] for line in lines) == len(heads)


def test_a_table_is_parted_only_when_it_is_too_wide() -> None:
    table = Table("head", *(f"column {number}" for number in range(4)), box=box.SIMPLE)
    table.add_row("first", *("12.5 (7)" * number for number in range(4)))

    def parts(width: int) -> tuple[int, int]:
        stream = io.StringIO()
        print_table(Console(file=stream, width=width), table)
        lines = stream.getvalue().splitlines()
        return sum("head" in line for line in lines), max(map(len, lines))

    _, width = parts(1000)
    assert parts(width) == (1, width)
    assert parts(width - 1)[0] == 2


def test_the_rows_beside_the_pass_mark_are_explained_once(tmp_path: Path) -> None:
    text = shown(tmp_path, 1000)
    assert all(text.count(line) == 1 for line in LEGEND)
    for row in (
        "confirmed",
        "difference",
        "right object acted on",
        "pairs",
        "calls carried out",
        "corrected later",
    ):
        assert any(line.strip().startswith(f"{row}:") for line in LEGEND), row


def test_outside_a_terminal_a_sentence_stays_on_one_line(tmp_path: Path) -> None:
    lines = shown(tmp_path, 60, terminal=False).splitlines()
    assert "failed: pp/seed000/x: no answer" in lines
    assert LEGEND[1] in lines


def test_what_has_no_yardstick_is_said_once_under_a_table(tmp_path: Path) -> None:
    rows = [cell(tmp_path, "a/b", PASSED, variant=variant) for variant in VARIANTS]
    cell(tmp_path, "offline/noop", FAILED, episode_sha256="another")
    stream = io.StringIO()
    print_results(Console(file=stream, width=200), rows, tmp_path)
    assert stream.getvalue().count("validity") == 1
    assert stream.getvalue().count("no rule-blind model has run") == 1


def test_variants_without_a_yardstick_share_a_line(tmp_path: Path) -> None:
    null = cell(tmp_path, "offline/noop", FAILED)
    rows = [cell(tmp_path, "a/b", PASSED)]
    rows += [
        cell(tmp_path, "a/b", PASSED, variant=name, episode_sha256="f") for name in ("default", "always_ask")
    ]
    stream = io.StringIO()
    print_results(Console(file=stream, width=200), [*rows, null], tmp_path)
    assert "  default, always_ask: no rule-blind model has run on these tests" in stream.getvalue()
    assert stream.getvalue().count("no rule-blind model has run") == 1


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_an_estimate_breaks_no_word_either(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert call("estimate", "--config", "quickstart", "--outputs", tmp_path) == 0
        return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)

    wide, narrow = shown(1000), shown(width)
    assert set(narrow.split()) - set(re.findall(r"─+", narrow)) <= set(wide.split())
    longest = max(len(word) for word in wide.split() if "─" not in word)
    assert max(len(line.rstrip()) for line in narrow.splitlines()) <= max(width, longest + 4)
    assert "always_ask" in narrow and "discounts" in narrow
