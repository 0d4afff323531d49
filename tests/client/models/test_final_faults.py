"""What is final and what is temporary, over all wires; and what becomes of a model's other cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from atr_client.errors import ModelStopped, WireError
from atr_client.models.remote import open_wire
from atr_client.models.standing import Standing
from atr_client.models.waits import WaitNotices, span
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.models.wire_formats import WireFormat
from tests.support.command import call, trajectories, write_config
from tests.support.mock_provider import Answer, CannedServer, answer
from tests.support.provider_script import short_quickstart
from tests.support.strict_provider import ROOTS, reply_of
from tests.support.wire_calls import conversation

WIRES: Sequence[WireFormat] = ("openai_chat", "openai_responses", "anthropic", "google")
QUOTA = {
    "message": "You exceeded your current quota.",
    "type": "insufficient_quota",
    "code": "insufficient_quota",
}
FINAL, REFUSED, TEMPORARY = "final", "refused", "temporary"


def told(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


BY_STATUS: list[tuple[int, Any, str]] = [
    (401, told("who are you"), FINAL),
    (402, told("pay first"), FINAL),
    (403, told("not for you"), FINAL),
    (404, told("no such model"), FINAL),
    (429, {"error": QUOTA}, FINAL),
    (429, told("slow down"), TEMPORARY),
    (429, told("Insufficient balance in the account"), FINAL),
    (400, told("Your credit balance is too low to access the API"), FINAL),
    (400, told("billing_hard_limit_reached"), FINAL),
    (400, told("tools are not supported"), REFUSED),
    (422, told("what is this"), REFUSED),
    (500, told("insufficient_quota of patience"), TEMPORARY),
    (503, told("overloaded"), TEMPORARY),
    (529, told("overloaded"), TEMPORARY),
]
IN_BODY: list[tuple[Any, str]] = [
    (told("Insufficient credits", code=402), FINAL),
    (told("Insufficient credits", code="402"), FINAL),
    (told("No such key", code=401), FINAL),
    (told("no", type="authentication_error"), FINAL),
    (told("no", status="PERMISSION_DENIED"), FINAL),
    (told("no", code="model_not_found"), FINAL),
    ({"error": QUOTA}, FINAL),
    ([told("no", code=403)], FINAL),
    ({"error": "insufficient_quota"}, FINAL),
    ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, FINAL),
    (told("bad field", code=400), REFUSED),
    (told("bad field", type="invalid_request_error"), REFUSED),
    (told("busy", code=502), TEMPORARY),
    (told("busy", code=429), TEMPORARY),
    (told("busy", type="overloaded_error"), TEMPORARY),
    (told("busy", code=700), TEMPORARY),
    (told("busy"), TEMPORARY),
    ({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, TEMPORARY),
]


def kind(error: WireError) -> str:
    assert not (error.final and error.retryable)
    return FINAL if error.final else TEMPORARY if error.retryable else REFUSED


async def faults(wire: WireFormat, server: CannedServer, *answers: Answer) -> list[WireError]:
    server.queue(*answers)
    opened = open_wire(wire, Endpoint("m", "none", f"{server.url}{ROOTS[wire]}", timeout=10.0))
    found: list[WireError] = []
    try:
        for _ in answers:
            with pytest.raises(WireError) as caught:
                await opened.send(WireRequest(conversation().messages))
            found.append(caught.value)
    finally:
        await opened.aclose()
    return found


@pytest.mark.parametrize("wire", WIRES)
async def test_a_status_is_final_refused_or_temporary(wire: WireFormat, canned_server: CannedServer):
    errors = await faults(wire, canned_server, *(answer(body, status) for status, body, _ in BY_STATUS))
    assert [(error.status, kind(error)) for error in errors] == [(s, what) for s, _, what in BY_STATUS]
    for error, (_, body, _) in zip(errors, BY_STATUS, strict=True):
        assert body["error"]["message"] in str(error)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_fault_in_the_body_of_an_answer_goes_by_its_code(
    wire: WireFormat, canned_server: CannedServer
):
    errors = await faults(wire, canned_server, *(answer(body) for body, _ in IN_BODY))
    assert [kind(error) for error in errors] == [what for _, what in IN_BODY]
    assert [str(error) for error in errors[:3]] == [
        "Insufficient credits",
        "Insufficient credits",
        "No such key",
    ]


CHOICES: list[tuple[dict[str, Any], str, str]] = [
    ({"message": "Flagged.", "code": 403}, FINAL, "Flagged."),
    ({"message": "Credits are used up.", "code": 402}, FINAL, "Credits are used up."),
    ({"message": "It went wrong."}, REFUSED, "It went wrong."),
    ({"message": "It went wrong.", "code": "oops"}, REFUSED, "It went wrong. oops"),
    ({"message": "Upstream is busy.", "code": 502}, TEMPORARY, "Upstream is busy."),
]


@pytest.mark.parametrize("with_message", [True, False])
async def test_a_fault_within_a_choice_is_told_in_the_providers_words(
    with_message: bool, canned_server: CannedServer
):
    message = {"message": {"role": "assistant", "content": "half"}} if with_message else {}
    bodies = [{"choices": [{**message, "finish_reason": "error", "error": e}]} for e, _, _ in CHOICES]
    errors = await faults("openai_chat", canned_server, *map(answer, bodies))
    assert [(kind(error), str(error)) for error in errors] == [(what, words) for _, what, words in CHOICES]


# What becomes of the other cells

PRICE = {"input": 1.0, "output": 1.0}


def lab(server: CannedServer, **more: Any) -> dict[str, Any]:
    return {"id": "lab/m1", "wire": "openai_chat", "base_url": f"{server.url}/v1", "price": PRICE, **more}


def run(tmp_path: Path, server: CannedServer, *, attempts: int = 5, **keys: Any) -> int:
    """Four cells of one model, one after the other, each of one test."""
    episodes = short_quickstart(tmp_path / "episodes", learning=0, tests=slice(0, 1))
    (episode,) = episodes.iterdir()
    document = json.loads(episode.read_text())
    for name in ("b", "c"):
        other = {**document, "episode_id": f"{name}_seed000"}
        other["raw_persona"] = {**document["raw_persona"], "persona_id": name}
        (episodes / f"{name}_seed000.json").write_text(json.dumps(other))
    limits = {"cells": 1, "call_attempts": attempts}
    defaults = {"variants": ["oracle_target"], "models": [lab(server)], "episodes": {"select": ["all"]}}
    config = write_config(tmp_path, limits=limits, **{**defaults, **keys})
    places = ["--config", config, "--episodes", episodes, "--outputs", tmp_path / "outputs"]
    return call("run", "--no-progress", *places)


STOPPING: dict[str, tuple[Answer, str]] = {
    "quota": (answer({"error": QUOTA}, 429), "lab/m1: HTTP 429: You exceeded your current quota."),
    "body": (answer(told("Insufficient credits", code=402)), "lab/m1: HTTP 402: Insufficient credits"),
    "key": (answer(told("who are you"), 401), "lab/m1: HTTP 401: who are you"),
    "choice": (
        answer({"choices": [{"finish_reason": "error", "error": {"code": 403, "message": "Flagged."}}]}),
        "lab/m1: HTTP 403: Flagged.",
    ),
    "wait": (
        answer(told("Come back tomorrow."), 429, retry_after="5400"),
        "lab/m1: HTTP 429: Come back tomorrow.; it asks to wait 1 h 30 min, until 20",
    ),
}


@pytest.mark.parametrize(("sent", "reason"), STOPPING.values(), ids=STOPPING)
def test_a_model_that_is_refused_for_good_is_called_once_and_stops_all_its_cells(
    sent: Answer, reason: str, tmp_path: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    canned_server.queue(sent)
    assert run(tmp_path, canned_server) == 1
    assert len(canned_server.bodies) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("aborted: ")]
    assert len(lines) == 3
    assert all(reason in line for line in lines)
    assert not trajectories(tmp_path / "outputs")


def test_a_refused_request_stops_its_own_cell_alone_and_another_model_goes_on(
    tmp_path: Path, canned_server: CannedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    finish = answer(reply_of("openai_chat", ("end", "finish_session", "{}")))
    canned_server.queue(answer(told("what"), 400), finish, finish, answer(told("closed"), 403), *[finish] * 3)
    assert run(tmp_path, canned_server) == 1
    assert len(trajectories(tmp_path / "outputs")) == 2
    assert capsys.readouterr().out.count("aborted: ") == 1
    models = [lab(canned_server), lab(canned_server, id="lab/m2")]
    assert (
        run(tmp_path / "again", canned_server, models=models) == 1
        if (tmp_path / "again").mkdir() is None
        else 0
    )
    names = sorted(trajectories(tmp_path / "again" / "outputs"))
    assert len(names) == 3
    assert all("lab-m2" in name for name in names)


async def test_calls_under_way_and_in_the_queue_end_when_the_model_is_stopped() -> None:
    standing, limiter = Standing(), anyio.CapacityLimiter(1)
    reasons: list[str] = []

    async def one() -> None:
        async def wait_long() -> None:
            async with limiter:
                await anyio.sleep(60)

        with pytest.raises(ModelStopped) as caught:
            await standing.guarded(wait_long)
        reasons.append(str(caught.value))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(one)
            await anyio.sleep(0.01)
            standing.stop("closed")
            standing.stop("closed again")
    await one()
    assert reasons == ["closed"] * 4


async def test_a_cancelled_call_is_no_stopped_model() -> None:
    standing = Standing()
    with anyio.move_on_after(0.01) as scope:
        await standing.guarded(lambda: anyio.sleep(60))
    assert scope.cancelled_caught
    assert standing.refused is None
    assert await standing.guarded(lambda: anyio.lowlevel.checkpoint()) is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(5.0, False), (5.01, True), (300.0, True)],
)
def test_waits_of_more_than_five_seconds_are_told(seconds: float, shown: bool) -> None:
    told_of: list[tuple[str, float, str]] = []
    WaitNotices().tell("m", seconds, "busy")
    WaitNotices(lambda *wait: told_of.append(wait)).tell("m", seconds, "busy")
    assert told_of == ([("m", seconds, "busy")] if shown else [])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (5.4, "5 s"),
        (119.0, "119 s"),
        (120.0, "2 min"),
        (121.0, "3 min"),
        (3600.0, "1 h"),
        (5400.0, "1 h 30 min"),
    ],
)
def test_a_span_of_time_is_told_in_words(seconds: float, words: str) -> None:
    assert span(seconds) == words


@pytest.mark.parametrize("asked", ["retry_after", "requests_per_minute"])
def test_a_long_wait_shows_in_the_progress_of_a_run(
    asked: str,
    tmp_path: Path,
    canned_server: CannedServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def sleep(seconds: float) -> None:
        if seconds > 5:
            raise RuntimeError("nobody waits that long here")
        await anyio.lowlevel.checkpoint()

    finish = answer(reply_of("openai_chat", ("end", "finish_session", "{}")))
    keys: dict[str, Any] = {}
    if asked == "retry_after":
        canned_server.queue(answer(told("slow down"), 429, retry_after="290"))
        expected = "waiting 5 min for lab/m1: HTTP 429: slow down"
    else:
        canned_server.queue(finish)
        keys["models"] = [lab(canned_server, requests_per_minute=1)]
        expected = "waiting 60 s for lab/m1: its calls or tokens per minute are used up"
    monkeypatch.setattr(anyio, "sleep", sleep)
    assert run(tmp_path, canned_server, **keys) == 1
    assert expected in capsys.readouterr().err
