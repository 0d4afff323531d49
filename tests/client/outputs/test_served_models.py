"""The manifest says where and by what a cell was played, and holds a run to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_client.cell.cell_runner import run_cell
from atr_client.errors import CellAbort, ManifestMismatch
from atr_client.models.base import ModelReply
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.sweep import endpoints
from atr_client.sweep.config import RunConfig
from atr_client.sweep.endpoints import ModelClients
from atr_client.sweep.plan import Overrides, plan_cells
from atr_data.trajectory import ToolCall
from tests.support.cells import small_episode

URL = "http://user:pass@127.0.0.1:8000/v1?key=abc#x"


class Served:
    """A server that ends every test session at once, under the names given one after the other; the last one
    stays. `None` breaks the call."""

    def __init__(self, *names: str | None) -> None:
        self.names = list(names)
        self.calls = 0

    def open(self, _: str, endpoint: Endpoint) -> Served:
        return self

    async def send(self, request: WireRequest) -> ModelReply:
        await anyio.lowlevel.checkpoint()
        name = self.names[min(self.calls, len(self.names) - 1)]
        self.calls += 1
        if name is None:
            raise RuntimeError("gone")
        done = ToolCall(id=f"c{self.calls}", name="finish_session")
        return ModelReply(tool_calls=[done], served_model=name)

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()


@pytest.fixture
def episodes(tmp_path: Path) -> Path:
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes" / "pp_a_seed000.json").write_text(small_episode(tests=3).model_dump_json())
    return tmp_path / "episodes"


async def played(
    episodes: Path,
    server: Served,
    monkeypatch: pytest.MonkeyPatch,
    *,
    environment: Mapping[str, str] | None = None,
    stale: bool = False,
    **model: Any,
) -> dict[str, Any]:
    """Runs one oracle cell and returns its manifest."""
    monkeypatch.setattr(endpoints, "open_wire", server.open)
    config = RunConfig.model_validate(
        {
            "name": "x",
            "variants": ["oracle_target"],
            "models": [{"id": "local/m", **model}],
            "limits": {"test_sessions": 1, "call_attempts": 1},
        }
    )
    clients = ModelClients(config.limits, environment=environment or {"LOCAL_BASE_URL": URL})
    overrides = Overrides(episodes=episodes, allow_stale_resume=stale)
    (cell,) = plan_cells(config, episodes.parent / "out", overrides, clients)
    try:
        await run_cell(cell)
    finally:
        manifest = json.loads(cell.folder.manifest.read_text())
    return manifest


async def test_address_and_served_name_are_written_down_without_secrets(
    episodes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = await played(episodes, Served("m-2026"), monkeypatch)
    assert manifest["address"] == "http://127.0.0.1:8000/v1"
    assert manifest["served_model"] == "m-2026"
    assert manifest["stale_fields"] == []


async def test_a_key_in_an_address_is_cut_as_well(episodes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"LAB_KEY": "sk-0123456789", "LOCAL_BASE_URL": "http://127.0.0.1/sk-0123456789/v1"}
    manifest = await played(episodes, Served("m"), monkeypatch, environment=environment, key="LAB_KEY")
    assert manifest["address"] == "http://127.0.0.1/[key]/v1"


async def test_another_address_is_refused_with_both_values(
    episodes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(episodes, Served("m"), monkeypatch)
    moved = {"LOCAL_BASE_URL": "http://127.0.0.1:9000/v1"}
    with pytest.raises(ManifestMismatch) as caught:
        await played(episodes, Served("m"), monkeypatch, environment=moved)
    assert caught.value.fields == ("address",)
    assert 'address was "http://127.0.0.1:8000/v1", is "http://127.0.0.1:9000/v1"' in str(caught.value)


async def test_another_setting_is_refused_by_its_name_and_not_by_digests(
    episodes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(episodes, Served("m"), monkeypatch)
    with pytest.raises(ManifestMismatch) as caught:
        await played(episodes, Served("m"), monkeypatch, temperature=0.7)
    message = str(caught.value)
    assert "model_settings.temperature was 0.0, is 0.7" in message
    assert "sha256" not in message


async def test_another_model_behind_the_same_address_is_refused_at_its_first_reply(
    episodes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RuntimeError):
        await played(episodes, Served("one", None), monkeypatch)
    with pytest.raises(ManifestMismatch, match="served_model was 'one', is 'two'") as caught:
        await played(episodes, Served("two"), monkeypatch)
    assert caught.value.fields == ("served_model",)
    assert len(list((episodes.parent / "out").rglob("trajectories/*.json"))) == 1


async def test_a_model_that_is_exchanged_in_the_middle_is_refused(
    episodes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ManifestMismatch, match="answers as another model"):
        await played(episodes, Served("one", "two"), monkeypatch)
    assert len(list((episodes.parent / "out").rglob("trajectories/*.json"))) == 1


async def test_an_override_goes_on_and_leaves_its_mark(
    episodes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RuntimeError):
        await played(episodes, Served("one", None), monkeypatch)
    manifest = await played(episodes, Served("two"), monkeypatch, stale=True)
    assert manifest["stale_fields"] == ["served_model"]
    assert manifest["served_model"] == "two"


async def test_an_override_leaves_its_mark_on_a_finished_cell_and_changes_nothing_else(
    episodes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = await played(episodes, Served("one"), monkeypatch)
    moved = {"LOCAL_BASE_URL": "http://127.0.0.1:9000/v1"}
    server = Served("two")
    after = await played(episodes, server, monkeypatch, environment=moved, stale=True)
    assert server.calls == 0
    assert after == before | {"stale_fields": ["address"]}
    assert after["complete"] is True
    with pytest.raises(ManifestMismatch):
        await played(episodes, server, monkeypatch, environment=moved)


def test_an_unusable_address_is_refused_without_its_secrets() -> None:
    assert issubclass(CellAbort, Exception)
    config = RunConfig.model_validate({"name": "x", "variants": ["atr"], "models": ["local/m"]})
    from atr_client.errors import ConfigError
    from atr_client.sweep.registry import remote_specs

    clients = ModelClients(environment={"LOCAL_BASE_URL": "ftp://user:pass@host/v1?key=abc"})
    with pytest.raises(ConfigError) as caught:
        clients.check(remote_specs(config))
    assert "got 'ftp://host/v1'" in str(caught.value)
    assert "pass" not in str(caught.value) and "abc" not in str(caught.value)
