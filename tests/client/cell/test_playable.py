"""`run` and `validate` say the same of an episode."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atr_client.cell.play_episode import play_episode
from atr_client.cell.playable import findings_of, load_playable
from atr_data import DataError, packaged_episodes_dir
from atr_data.select import episode_files
from tests.support.cells import small_episode
from tests.support.command import call

Change = Callable[[dict[str, Any]], object]


def deep(levels: int) -> Any:
    return {"a": deep(levels - 1)} if levels else 1


def reference(data: dict[str, Any], **fields: Any) -> None:
    one = {"id": "fil_a", "type": "file", "attributes": {}}
    data["test_sessions"][0]["local_env"]["references"] = [one | fields]


UNPLAYABLE: dict[str, Change] = {
    "a test id twice": lambda d: d["test_sessions"].append(d["test_sessions"][0]),
    "a learning id twice": lambda d: d["learning_sessions"].append(d["learning_sessions"][0]),
    "one id for both": lambda d: d["learning_sessions"][0].update(session_id="t0"),
    "a rule id twice": lambda d: d["rules"].append(d["rules"][0]),
    "an id of 400 signs": lambda d: d["test_sessions"][0].update(session_id="t" * 400),
    "an id of 201 signs": lambda d: d["learning_sessions"][0].update(session_id="t" * 201),
    "attributes 90 deep": lambda d: reference(d, attributes=deep(90)),
    "attributes 33 deep": lambda d: reference(d, attributes=deep(33)),
    "attributes 200 deep": lambda d: reference(d, attributes=deep(200)),
    "an attribute of a wrong kind": lambda d: reference(d, attributes={"name": 5}),
    "an unknown tool": lambda d: d["test_sessions"][0]["local_env"]["tools"].append("fly"),
    "an unknown domain": lambda d: d["learning_sessions"][0].update(domain="space"),
    "an unknown rule": lambda d: d["test_sessions"][0].update(rule_id="ghost"),
    "nothing required": lambda d: d["test_sessions"][0].update(labels={}),
    "a path for an id": lambda d: d["test_sessions"][0].update(session_id="../t"),
}


def written(folder: Path, change: Change | None) -> Path:
    data = small_episode().model_dump(mode="json")
    if change:
        change(data)
    path = folder / "pp_a_seed000.json"
    path.write_text(json.dumps(data))
    return path


def run(folder: Path, episode: Path) -> int:
    config = folder / "run.yaml"
    keys = {
        "name": "x",
        "variants": ["atr"],
        "models": ["offline/noop"],
        "episodes": {"select": [str(episode)]},
    }
    config.write_text(json.dumps(keys))
    return call("run", "--no-progress", "--config", config, "--outputs", folder / "out")


@pytest.mark.parametrize("kind", [*UNPLAYABLE])
def test_what_validate_refuses_is_not_run_and_the_reason_is_the_same(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, UNPLAYABLE[kind])
    assert call("validate", path) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert run(tmp_path, path) == 2
    (error,) = capsys.readouterr().err.splitlines()
    message = first.removeprefix(f"{path}: error: ").removeprefix("file: ")
    assert error.startswith(f"error: {path}: {message}")
    with pytest.raises(DataError):
        load_playable(str(path))


@pytest.mark.parametrize(
    ("unknown", "more"),
    [(1, ""), (2, " (and 1 more; `atr-client validate` lists them)"), (4, " (and 3 more;")],
)
def test_how_many_more_errors_there_are_is_said(unknown: int, more: str, tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        for test in [*data["learning_sessions"], *data["test_sessions"]][:unknown]:
            test["local_env"]["tools"].append("fly")

    with pytest.raises(DataError) as caught:
        load_playable(written(tmp_path, change))
    assert ("more" in caught.value.reason, more in caught.value.reason) == (bool(more), True)


async def test_play_episode_asks_the_same_function(tmp_path: Path) -> None:
    from atr_client.agents import OFFLINE_MODELS

    path = written(tmp_path, UNPLAYABLE["a test id twice"])
    with pytest.raises(DataError, match="id stands 2 times"):
        await play_episode(path, "atr", OFFLINE_MODELS["offline/noop"].model(()))


def test_what_validate_lets_pass_is_run(tmp_path: Path) -> None:
    path = written(tmp_path, lambda d: d["test_sessions"][0].update(session_id="t" * 200))
    assert call("validate", path) == 0
    assert run(tmp_path, path) == 0
    assert next((tmp_path / "out").rglob(f"{'t' * 200}.json")).is_file()


def test_an_error_of_order_alone_keeps_nobody_from_playing(tmp_path: Path) -> None:
    path = written(tmp_path, lambda d: d["test_sessions"].pop())
    assert [f.message for f in findings_of(path) if f.level == "error"] == ["has no test session"]
    assert load_playable(path).episode_id == "pp_a_seed000"


def test_every_episode_that_ships_can_be_played() -> None:
    for path in episode_files(packaged_episodes_dir()).values():
        assert findings_of(path) == []
