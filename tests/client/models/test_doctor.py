"""What `doctor` says of an address that is wrong, and how long it waits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import call, write_config
from tests.support.mock_provider import CannedServer, answer

KEY = "sk-sentinel-0123456789"
ASKED = {
    "openai_chat": "/wrong/chat/completions",
    "openai_responses": "/wrong/responses",
    "anthropic": "/wrong/v1/messages",
    "google": "/wrong/v1beta/models/m1:generateContent",
}


@pytest.mark.parametrize("wire", ASKED)
def test_a_404_is_shown_with_the_address_that_was_asked_and_no_secret_of_it(
    wire: str,
    tmp_path: Path,
    canned_server: CannedServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    canned_server.queue(*[answer({"error": {"message": "no such path"}}, 404)] * 3)
    base = f"{canned_server.url}/wrong"
    price = {"input": 0, "output": 0}
    model = {"id": "lab/m1", "wire": wire, "base_url": base, "key": "LAB_API_KEY", "price": price}
    assert call("doctor", "--config", write_config(tmp_path, models=[model])) == 1
    out = capsys.readouterr().out
    assert "HTTP 404" in out
    assert f"(asked {canned_server.url}{ASKED[wire]})" in out
    assert KEY not in out


@pytest.mark.parametrize("seconds", [0.5, 61.0, 900.0])
def test_the_doctor_waits_as_long_as_a_call_of_the_run_may_take(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def examined(specs: Any, environment: Any, patience: float) -> list[Any]:
        assert environment is os.environ
        waited.append(patience)
        return []

    monkeypatch.setattr("atr_client.cli.doctor_command.examine", examined)
    config = write_config(tmp_path, models=["offline/noop"], limits={"call_timeout": seconds})
    assert call("doctor", "--config", config) == 0
    assert waited == [seconds]
