"""Kinds of damage x readers, through both command lines: one line with file and reason, exit 2."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from atr_client.cli.app import main as client_main
from atr_servers.cli.app import main as server_main
from tests.support import damage
from tests.support.cells import small_episode
from tests.support.sources import SOURCE

Arguments = Callable[[Path, Path], Sequence[object]]
"""From the damaged file and a folder with a good configuration, episode and cell to a command."""

CLIENT: Mapping[str, tuple[Mapping[str, damage.Damage], str, Arguments]] = {
    "run config": (damage.YAML, "run.yaml", lambda file, good: ["run", "--config", file]),
    "estimate config": (damage.YAML, "run.yaml", lambda file, good: ["estimate", "--config", file]),
    "doctor config": (damage.YAML, "run.yaml", lambda file, good: ["doctor", "--config", file]),
    "models config": (damage.YAML, "run.yaml", lambda file, good: ["models", "--config", file]),
    "run episode": (
        damage.JSON,
        "pp_b_seed000.json",
        lambda file, good: ["run", "--config", good / "run.yaml", "--outputs", good / "o", "--select", file],
    ),
    "run splits": (
        {k: v for k, v in damage.YAML.items() if k != "missing"},
        "splits.yaml",
        lambda file, good: [
            *("run", "--config", good / "run.yaml", "--outputs", good / "o"),
            *("--episodes", file.parent, "--select", "split:mini"),
        ],
    ),
    "run question lines": (
        {k: v for k, v in damage.JSON.items() if k != "missing"},
        "pp_a.lines.json",
        lambda file, good: [
            *("run", "--config", good / "run.yaml", "--outputs", good / "o", "--episodes", file.parent),
            *("--select", file.with_name("pp_a_seed000.json")),
        ],
    ),
    "show": (damage.JSON, "t.json", lambda file, good: ["show", file]),
    "calibrate router": (damage.LINES, "t.jsonl", lambda file, good: ["calibrate", "router", file]),
    "calibrate classifier": (damage.LINES, "t.jsonl", lambda file, good: ["calibrate", "classifier", file]),
    "report episode": (damage.JSON, "pp_b_seed000.json", lambda file, good: ["datagen", "report", file]),
    "score-sheet": (
        damage.YAML,
        "answers.yaml",
        lambda file, good: ["datagen", "score-sheet", file, "--sources", SOURCE],
    ),
    "check plan": (
        damage.TABLE,
        "plan.csv",
        lambda file, good: ["datagen", "check", good / "no.yaml", "--plan", file],
    ),
    "new-persona plan": (
        damage.TABLE,
        "plan.csv",
        lambda file, good: ["datagen", "new-persona", "x", "--plan", file, "--sources", good / "s"],
    ),
}
SERVER: Mapping[str, tuple[Mapping[str, damage.Damage], str, Arguments]] = {
    "sessions": (damage.JSON, "e.json", lambda file, good: ["sessions", "--episode", file]),
    "config": (
        damage.JSON,
        "e.json",
        lambda file, good: ["config", "claude-code", "--episode", file, "--session", "t0"],
    ),
    "serve episode": (
        damage.JSON,
        "e.json",
        lambda file, good: ["serve", "--episode", file, "--session", "t0"],
    ),
    "serve references": (
        {k: v for k, v in damage.JSON.items() if k not in ("empty list",)},
        "r.json",
        lambda file, good: ["serve", "commerce", "--references", file],
    ),
    "serve state": (
        {k: v for k, v in damage.JSON.items() if k != "missing"},
        "state.json",
        lambda file, good: [
            *("serve", "--episode", good / "pp_a_seed000.json", "--session", "t0"),
            *("--state", file),
        ],
    ),
}


def good_folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "pp_a_seed000.json").write_text(small_episode().model_dump_json())
    config = {"name": "x", "variants": ["atr"], "models": ["offline/noop"]}
    (folder / "run.yaml").write_text(json.dumps(config))
    return folder


def cases(readers: Mapping[str, tuple[Mapping[str, damage.Damage], str, Arguments]]) -> list[object]:
    return [
        pytest.param(reader, kind, id=f"{reader}: {kind}")
        for reader, (kinds, _, _) in readers.items()
        for kind in kinds
    ]


def refused(
    main: Callable[[Sequence[str]], object],
    reader: tuple[Mapping[str, damage.Damage], str, Arguments],
    kind: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kinds, name, arguments = reader
    (folder / "bad").mkdir()
    file = folder / "bad" / name
    if name in ("splits.yaml", "pp_a.lines.json"):
        (folder / "bad" / "pp_a_seed000.json").write_text(small_episode().model_dump_json())
    kinds[kind](file)
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments(file, good_folder(folder / "good"))])
    shown = capsys.readouterr()
    lines = shown.err.splitlines()
    assert stopped.value.code == 2, shown
    assert [line for line in lines if line.startswith("error: ")] == lines[-1:]
    assert name in lines[-1]
    assert len(lines[-1]) < 600


@pytest.mark.parametrize(("reader", "kind"), cases(CLIENT))
def test_the_client_refuses_a_damaged_file_in_one_line(
    reader: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(client_main, CLIENT[reader], kind, tmp_path, capsys)


@pytest.mark.parametrize(("reader", "kind"), cases(SERVER))
def test_the_server_refuses_a_damaged_file_in_one_line(
    reader: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(server_main, SERVER[reader], kind, tmp_path, capsys)


@pytest.mark.parametrize("command", ["compile", "check"])
@pytest.mark.parametrize("kind", [*damage.YAML])
def test_a_damaged_source_is_named_by_line_and_nothing_is_written(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be taken in at all is exit 2; what is a source and a wrong one is exit 1, as ever."""
    path = tmp_path / "who.yaml"
    damage.YAML[kind](path)
    out = ("--out", tmp_path / "out") if command == "compile" else ()
    with pytest.raises(SystemExit) as stopped:
        client_main([str(argument) for argument in ("datagen", command, path, *out)])
    grammar = {"5,000 digits", "no such date", "tag", "wrong tag", "twice", "a list"}
    shown = capsys.readouterr().err
    assert stopped.value.code == (1 if kind in grammar else 2), shown
    assert "who.yaml" in shown or kind == "folder"
    assert "Traceback" not in shown
    assert not (tmp_path / "out").exists()


def test_validate_finds_every_damage_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, (kind, spoil) in enumerate(damage.JSON.items()):
        path = tmp_path / f"{number}.json"
        spoil(path)
        if kind == "folder":
            continue
        with pytest.raises(SystemExit) as stopped:
            client_main(["validate", str(path)])
        assert stopped.value.code == 1, kind
        assert f"{path}: 1 errors" in capsys.readouterr().out or kind == "a list"


@pytest.mark.parametrize("main", [client_main, server_main])
def test_a_nul_in_a_path_is_a_mistake_in_usage(
    main: Callable[[Sequence[str]], object], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["sessions" if main is server_main else "show", "--episode", "a\0b.json"])
    assert stopped.value.code == 2
    assert "NUL" in capsys.readouterr().err


@pytest.mark.parametrize("key", ["outputs", "folder", "select"])
def test_a_nul_in_a_path_of_the_configuration_too(
    key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.yaml"
    keys = {"outputs": {"outputs": "a\0b"}, "folder": {"episodes": {"folder": "a\0b"}}}
    keys["select"] = {"episodes": {"select": ["a\0b.json"]}}
    path.write_text(json.dumps({"name": "x", "variants": ["atr"], "models": ["offline/noop"]} | keys[key]))
    with pytest.raises(SystemExit) as stopped:
        client_main(
            ["run", "--config", str(path), *(() if key == "outputs" else ("--outputs", str(tmp_path)))]
        )
    assert stopped.value.code == 2
    assert "NUL" in capsys.readouterr().err
