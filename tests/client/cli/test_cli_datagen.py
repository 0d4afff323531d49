"""The `datagen` commands: what they write, where, and how they fail."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from atr_client.cli.app import main
from atr_datagen.source.compile import compile_sources
from tests.conftest import ROOT
from tests.support.sources import SOURCE, edited, shipped_sources

PLAN = ROOT / "data" / "plan.csv"
SALT = "forty owls in a belfry"


def call(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(["datagen", *map(str, arguments)])
    code = stopped.value.code or 0
    assert isinstance(code, int)
    return code


def test_report_prints_the_bounds_and_writes_both_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_sources(SOURCE, tmp_path / "in")
    assert call("report", "all", "--episodes", tmp_path / "in", "--out", tmp_path / "out") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 61 and sum(line.startswith("pass") for line in lines) == 14
    assert lines[-1].startswith("FAIL  guess bound 0.333, confirming 0.533")
    assert (tmp_path / "out" / "validity.md").read_text().startswith("# Validity report\n")
    assert len(json.loads((tmp_path / "out" / "validity.json").read_text())["bounds"]) == 60


def test_report_fails_when_a_bound_is_not_kept(tmp_path: Path) -> None:
    (path,) = compile_sources(SOURCE, tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Please send it back.", "Please get me store credit."), encoding="utf-8")
    assert call("report", "all", "--episodes", tmp_path) == 1


def test_report_of_an_episode_without_tests_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = compile_sources(SOURCE, tmp_path)
    episode = json.loads(path.read_text(encoding="utf-8")) | {"test_sessions": []}
    path.write_text(json.dumps(episode), encoding="utf-8")
    assert call("report", "all", "--episodes", tmp_path) == 2
    assert "nothing to measure" in capsys.readouterr().err


def test_new_persona_starts_a_source_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("new-persona", "rurik_bellamy", "--plan", PLAN, "--sources", tmp_path / "sources")
    assert call(*arguments) == 0
    path = tmp_path / "sources" / "rurik_bellamy.yaml"
    assert capsys.readouterr().out.strip() == str(path)
    path.write_text("mine", encoding="utf-8")
    assert call(*arguments) == 2
    assert "is there already" in capsys.readouterr().err and path.read_text() == "mine"


def test_new_persona_outside_the_plan_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("new-persona", "rurik_bellamie", "--plan", PLAN, "--sources", tmp_path) == 2
    assert "did you mean 'rurik_bellamy'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder laid out as a checkout, with one source, in which commands are run."""
    (tmp_path / "data" / "sources").mkdir(parents=True)
    edited(tmp_path / "data" / "sources")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.json"))


def test_in_a_checkout_compile_needs_no_argument(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("compile") == 0
    lines, written = "data/episodes/pavla_ondrus.lines.json", "data/episodes/pavla_ondrus_seed000.json"
    assert capsys.readouterr().out.split() == [written]
    assert files(checkout) == [lines, written]


def test_a_reshuffled_or_drawn_set_goes_beside_the_published_one(checkout: Path) -> None:
    assert call("compile", "--seed", 7) == 0
    assert call("compile", "--salt", SALT) == 0
    assert files(checkout) == [
        "outputs/drawn/pavla_ondrus.lines.json",
        "outputs/drawn/pavla_ondrus_drawn_seed000.json",
        "outputs/episodes/pavla_ondrus.lines.json",
        "outputs/episodes/pavla_ondrus_seed007.json",
    ]


def test_a_salt_in_the_environment_draws_as_one_on_the_command_line(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATR_TEST_SALT", SALT)
    assert call("compile", "--salt-env", "ATR_TEST_SALT", "--out", "a") == 0
    assert call("compile", "--salt", SALT, "--out", "b") == 0
    (one,), (other,) = checkout.glob("a/*_drawn*.json"), checkout.glob("b/*_drawn*.json")
    assert one.read_bytes() == other.read_bytes()
    assert SALT not in one.read_text(encoding="utf-8")


USAGE = [
    (("compile", "--salt", "guess"), "the salt has 5 characters"),
    (
        ("compile", "--salt-env", "ATR_NO_SUCH_SALT"),
        "variable ATR_NO_SUCH_SALT for the salt is not set",
    ),
    (("compile", "--salt", "x", "--salt-env", "ATR_SALT"), "not both"),
    (
        ("compile", "--salt", "x" * 16, "--out", "data/episodes"),
        "data/episodes: holds the public faces",
    ),
    (("compile", "data/sources"), "name the folder for the episodes of these sources with --out"),
    (("compile", "--only", "pavla_ondru"), "did you mean 'pavla_ondrus'"),
    (("check",), "no data/plan.csv here: run this in a checkout"),
]


@pytest.mark.parametrize(("arguments", "reason"), USAGE, ids=[reason[:30] for _, reason in USAGE])
def test_a_mistake_on_the_command_line_is_one_line_and_writes_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], reason: str
) -> None:
    assert call(*arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and reason in line
    assert files(checkout) == []


@pytest.mark.parametrize("command", ["compile", "check"])
def test_outside_a_checkout_the_sources_must_be_named(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call(command) == 2
    assert "here: run this in a checkout of atrbench, or name the sources" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_report_without_arguments_measures_what_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("report") in (0, 1)
    assert re.search(r"counts\.personas +5 ", capsys.readouterr().out)


BAD_SOURCES = [
    (
        "key",
        "    default: Enter it at once.",
        "    defualt: Enter it at once.",
        r"\d+: rules\[first_look\].faces\[ask\].defualt: is no key",
    ),
    ("reference", "order_id: o_cru}", "order_id: o_crux}", r"\d+: .*target.order_id: #o_crux is no key"),
    (
        "attribute",
        "[sound ~ hush",
        "[sond ~ hush",
        r"\d+: .*rule_is\[0\]: no object here has 'sond'",
    ),
    (
        "one gold",
        "[sound ~ players]",
        "[sound ~ juke]",
        r"\d+: .*faces\[live\].rule_is: singles out what face",
    ),
    (
        "gold by rule",
        "55, jukebox by",
        "39, jukebox by",
        r"\d+: .*rule_is: .* met by dove, ivy; should be one",
    ),
    (
        "alias",
        "  town: Salina",
        "  town: &t Salina\n  city: *t",
        r"\d+: vocab.city: is used again by an alias",
    ),
    ("to write", "  town: Salina", "  town: TO WRITE", r"\d+: vocab.town: is still to be written"),
    ("pull", "[pull,  rail,", "[near,  rail,", r"\d+: .*rows: no row is tagged pull"),
    (
        "step",
        "sender: wax@comb.example,",
        "sender: nobody,",
        r"\d+: learning\[3\]: step 1, .*: finds nothing",
    ),
    ("gold call", "18:30, party_size: 5}", "18:30}", r"\d+: .*: the gold call lacks party_size"),
    ("twice", "- key: pen_first", "- key: quiet_bench", r"\d+: rules: key 'quiet_bench' stands 2 times"),
    ("YAML", "vocab:\n", "vocab: [\n", r"\d+: file: not YAML"),
]


@pytest.mark.parametrize("command", ["compile", "check"])
@pytest.mark.parametrize(
    ("old", "new", "line"), [b[1:] for b in BAD_SOURCES], ids=[b[0] for b in BAD_SOURCES]
)
def test_a_wrong_source_is_told_line_by_line_with_exit_one_and_nothing_written(
    command: str, old: str, new: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited(tmp_path, (old, new))
    out = ("--out", tmp_path / "out") if command == "compile" else ()
    assert call(command, path, *out) == 1
    shown = capsys.readouterr()
    told = [row for row in (shown.out + shown.err).splitlines() if str(path) in row]
    assert any(re.search(rf"{re.escape(str(path))}:{line}", row) for row in told), told
    assert "Traceback" not in shown.err and (command == "check" or shown.out == "")
    assert list(tmp_path.iterdir()) == [path]


def test_two_sources_of_one_persona_are_no_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = edited(tmp_path)
    (tmp_path / "other.yaml").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    assert call("compile", tmp_path, "--out", tmp_path / "out") == 1
    assert "other.yaml:2: persona.id: should be the name of the file" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_check_of_one_rule_passes_over_what_is_unfinished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited(tmp_path, ("value: exchange", "value: TO WRITE"), ("bind: book_restaurant.", "bind: x."))
    assert call("check", path, "--rule", "pen_first") == 0
    assert call("check", path, "--rule", "first_look") == 0
    capsys.readouterr()
    assert call("check", path, "--rule", "keep_money_near") == 1
    told = capsys.readouterr().err.splitlines()
    assert told and all("rules[keep_money_near]" in line for line in told)
    assert call("check", path, "--rule", "pen_frist") == 1
    assert "did you mean 'pen_first'" in capsys.readouterr().err


def test_check_of_one_rule_tells_its_own_failures_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited(
        tmp_path,
        ("Railhead Grill, 4.8", "Railhead Grill, 4.4"),
        ("Answer them that", "Draft a message that"),
        ("[beeswax came, same", "[sleep bell words crack anywhere, same"),
    )
    assert call("check", path, "--rule", "pen_first") == 1
    lines = capsys.readouterr().out.splitlines()
    assert any("leak tool words: " in line for line in lines)
    assert any("S6 rule not told: " in line and "learning[3]" in line for line in lines)
    assert not any("quiet_bench" in line for line in lines)


@pytest.mark.early
def test_every_gate_holds_for_what_ships(
    shared_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped_sources()
    official = shared_dir / "official" / "episodes"
    monkeypatch.chdir(ROOT)
    assert call("check", *(("--official", official) if official.is_dir() else ())) == 0
    lines = capsys.readouterr().out.splitlines()
    gates = {name: (found, rest) for name, found, rest in map(gate_line, lines)}
    assert gates["plan counts"][1] == "20 personas, 284 rules and tests, 568 learning sessions"
    assert gates["plan tools"][1] == "74 tools used"
    assert gates["E2 learning clean"][0] == "140/140" and gates["E5 deterministic"][0] == "5/5"
    assert gates["S4 plan"][0] == "5/5" and gates["S3 limits worded"][0] == "70/70"
    assert ("O1 overlap" in gates) == official.is_dir()
    assert all(len(set(found.split("/"))) == 1 for found, _ in gates.values())


def gate_line(line: str) -> tuple[str, str, str]:
    match = re.fullmatch(r"(.+?) +(\d+/\d+)(?:  (.*))?", line)
    assert match, line
    return match[1], match[2], match[3] or ""
