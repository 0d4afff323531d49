"""Numbers that a provider reports are checked; what it does not report is unknown, and metered by a guess."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atr_client.models.base import ModelReply, ToolSpec
from atr_client.models.guess import guessed_usage
from atr_client.models.remote import open_wire
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wire_formats import WireFormat
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage
from tests.support.command import call, only_row, trajectories, write_config
from tests.support.mock_provider import CannedServer, answer
from tests.support.provider_script import short_quickstart
from tests.support.strict_provider import MISSING, ROOTS, reply_of
from tests.support.wire_calls import conversation

NAMES: dict[WireFormat, Sequence[str]] = {
    "openai_chat": ("prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens"),
    "openai_responses": ("input_tokens", "output_tokens", "input_tokens_details.cached_tokens"),
    "anthropic": ("input_tokens", "output_tokens", "output_tokens_details.thinking_tokens"),
    "google": ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount"),
}
ROW = {
    "whole": ((100, 20, 0), (100, 20)),
    "nothing_said": ((100, 0, MISSING), (100, 0)),
    "no_completion": ((100, MISSING, MISSING), (100, 0)),
    "null_details": ((100, 20, None), (100, 20)),
    "odd_details": ((100, 20, -7), (100, 20)),
    "huge_details": ((100, 20, 10**400), (100, 20)),
    "largest": ((100_000_000, 20, 0), (100_000_000, 20)),
    "floats": ((100.0, 20.0, 0), (100, 20)),
    "no_prompt": ((MISSING, 20, 0), None),
    "null_prompt": ((None, 20, 0), None),
    "negative_prompt": ((-1, 20, 0), None),
    "negative_completion": ((100, -5_000_000, 0), None),
    "huge": ((100_000_001, 20, 0), None),
    "beyond_every_double": ((10**400, 20, 0), None),
    "more_digits_than_python_reads": ((100, 10**4200, 0), None),
    "not_a_number": ((float("nan"), 20, 0), None),
    "infinite": ((100, float("inf"), 0), None),
    "text": (("many", 20, 0), None),
    "boolean": ((True, 20, 0), None),
    "list": (([100], 20, 0), None),
}
SECTIONS: Sequence[Any] = (MISSING, None, {}, [], "none", 5)


def reported(wire: WireFormat, counts: Sequence[Any]) -> dict[str, Any]:
    usage: dict[str, Any] = {}
    for name, count in zip(NAMES[wire], counts, strict=True):
        if count is not MISSING:
            section, _, inner = name.rpartition(".")
            (usage.setdefault(section, {}) if section else usage)[inner] = count
    return usage


async def usages(wire: WireFormat, server: CannedServer, *bodies: dict[str, Any]) -> list[Usage | None]:
    opened = open_wire(wire, Endpoint("m", "none", f"{server.url}{ROOTS[wire]}", timeout=10.0))
    try:
        server.queue(*map(answer, bodies))
        return [(await opened.send(WireRequest(conversation().messages))).usage for _ in bodies]
    finally:
        await opened.aclose()


@pytest.mark.parametrize("wire", NAMES)
async def test_a_count_is_what_can_be_true_and_unknown_else(
    wire: WireFormat, canned_server: CannedServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sys.set_int_max_str_digits", lambda _: None)
    bodies = [reply_of(wire, content="Hi.", usage=reported(wire, counts)) for counts, _ in ROW.values()]
    found = await usages(wire, canned_server, *bodies)
    for name, usage, (_, expected) in zip(ROW, found, ROW.values(), strict=True):
        assert (usage and (usage.prompt_tokens, usage.completion_tokens)) == expected, name
        assert usage is None or usage.total_tokens == sum(expected or ()), name
        assert usage is None or (usage.calls, usage.cached_tokens, usage.reasoning_tokens) == (1, 0, 0), name


@pytest.mark.parametrize("wire", NAMES)
async def test_a_usage_that_is_none_is_unknown(wire: WireFormat, canned_server: CannedServer):
    bodies = [reply_of(wire, content="Hi.", usage=section) for section in SECTIONS]
    assert await usages(wire, canned_server, *bodies) == [None] * len(SECTIONS)


def test_a_guess_goes_by_the_length_of_what_was_sent_and_came() -> None:
    tool = ToolSpec("find", "Finds.", {"type": "object"})
    messages = [
        Message(role="system", content="s" * 100),
        Message(role="assistant", reasoning_content="r" * 10),
    ]
    call_ = ToolCall(id="c", name="find", arguments={"a": 1})
    reply = ModelReply("c" * 30, [call_], reasoning_content="r" * 5)
    prompt = -(-(100 + 10 + 4 + 6 + len('{"type": "object"}')) // 4)
    completion = -(-(30 + 5 + 4 + len('{"a": 1}')) // 4)
    assert guessed_usage(WireRequest(messages, [tool]), reply) == Usage(
        prompt, completion, prompt + completion, calls=1
    )


KNOWN = Usage(prompt_tokens=5, calls=1, cost_usd=1.0)
UNKNOWN = Usage(calls_without_usage=1, estimated_usd=0.5)
UNPRICED = Usage(calls_without_usage=1)


@pytest.mark.parametrize(
    ("parts", "cost", "estimate", "metered"),
    [
        ([KNOWN, KNOWN], 2.0, None, 2.0),
        ([KNOWN, UNKNOWN], None, 1.5, 1.5),
        ([UNKNOWN, UNKNOWN, KNOWN], None, 2.0, 2.0),
        ([Usage(), UNKNOWN], None, 0.5, 0.5),
        ([KNOWN, UNPRICED], None, None, None),
        ([KNOWN, Usage(calls=1)], None, None, None),
        ([Usage(), Usage()], None, None, None),
        ([Usage(calls_without_usage=1, cost_usd=0.0, estimated_usd=0.0)] * 2, 0.0, 0.0, 0.0),
    ],
)
def test_unknown_costs_stay_unknown_in_a_sum_and_estimates_add_up(
    parts: list[Usage], cost: float | None, estimate: float | None, metered: float | None
) -> None:
    total = sum(parts, Usage())
    assert (total.cost_usd, total.estimated_usd, total.metered_usd) == (cost, estimate, metered)
    assert total.calls_without_usage == sum(part.calls_without_usage for part in parts)
    assert "calls_without_usage" not in total.counters()


# Whole runs


def lab(server: CannedServer, price: float) -> dict[str, Any]:
    prices = {"input": price, "output": price}
    return {"id": "lab/m1", "wire": "openai_chat", "base_url": f"{server.url}/v1", "price": prices}


def run(tmp_path: Path, server: CannedServer, *, price: float = 1000.0, **more: float) -> int:
    """Three tests, each of which ends at once; `more` are limits."""
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 3))
    limits = {"test_sessions": 1, "call_attempts": 1, **more}
    config = write_config(tmp_path, variants=["oracle_target"], models=[lab(server, price)], limits=limits)
    places = ["--config", config, "--episodes", episodes, "--outputs", tmp_path / "outputs"]
    return call("run", "--no-progress", *places)


FINISH = ("end", "finish_session", "{}")


@pytest.mark.parametrize(
    "usage", [MISSING, {"prompt_tokens": -14_000_000, "completion_tokens": 1}, {"prompt_tokens": 10**400}]
)
def test_a_cost_that_nobody_knows_is_shown_as_unknown(
    usage: Any, tmp_path: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {"prompt_tokens": 10, "completion_tokens": 1}
    replies = [reply_of("openai_chat", FINISH, usage=u) for u in (known, usage, known)]
    canned_server.queue(*map(answer, replies))
    assert run(tmp_path, canned_server) == 0
    row = only_row(tmp_path / "outputs")
    assert (row["cost_usd"], row["calls_without_usage"], row["tok_agent_calls"]) == (None, 1, 2)
    assert row["cost_usd_by_role"] == {"agent": None}
    printed = capsys.readouterr()
    assert ", cost unknown" in printed.err
    (line,) = [line for line in printed.out.splitlines() if line.split()[:1] == ["cost"]]
    assert line.split() == ["cost", "unknown"]
    manifest = json.loads(next((tmp_path / "outputs").rglob("cell_manifest.json")).read_text())
    assert manifest["cost_usd"] is None
    original = next((tmp_path / "outputs").rglob("trajectories/*.json"))
    assert call("show", original, "--original") == 0
    (shown,) = json.loads(capsys.readouterr().out)["token_usage"].values() or [{}]
    assert not {"calls_without_usage", "estimated_usd", "cost_usd"} & set(shown)


def test_of_a_model_that_costs_nothing_the_cost_is_known(tmp_path: Path, canned_server: CannedServer) -> None:
    canned_server.queue(*[answer(reply_of("openai_chat", FINISH))] * 3)
    assert run(tmp_path, canned_server, price=0.0) == 0
    assert only_row(tmp_path / "outputs")["cost_usd"] == 0.0


def test_a_limit_on_cost_counts_an_estimate_and_says_so_also_on_resume(
    tmp_path: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    canned_server.queue(*[answer(reply_of("openai_chat", FINISH))] * 3)
    assert run(tmp_path, canned_server, cost_usd=1.0) == 3
    printed = capsys.readouterr().err
    assert printed.count("limits.cost_usd counts an estimate") == 1
    (line,) = [line for line in printed.splitlines() if line.startswith("stopped by limits.cost_usd")]
    assert " are spent (an estimate: 1 calls did not report their tokens)" in line
    assert line.split(": about $", 1)[1].split()[1:3] == ["of", "$1.00"]
    assert len(canned_server.bodies) == 1
    assert run(tmp_path, canned_server, cost_usd=1.0) == 3
    assert len(canned_server.bodies) == 1, "what earlier runs have cost counts, by their estimates"
    assert run(tmp_path, canned_server, cost_usd=100_000.0) == 0
    assert len(trajectories(tmp_path / "outputs")) == 3


def test_tokens_per_minute_count_an_estimate_too(
    tmp_path: Path,
    canned_server: CannedServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import anyio.lowlevel

    async def sleep(seconds: float) -> None:
        if seconds > 5:
            raise RuntimeError("a long wait")
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(anyio, "sleep", sleep)
    canned_server.queue(answer(reply_of("openai_chat", FINISH)))
    assert run(tmp_path, canned_server, tokens_per_minute=100) == 1
    assert "waiting 60 s for lab/m1" in capsys.readouterr().err
    assert len(canned_server.bodies) == 1
