"""What stands between an agent or a role and a wire: what is counted, recorded, refused and handed on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from atr_client.errors import (
    BudgetReached,
    ContextOverflow,
    ModelError,
    ModelStopped,
    WireError,
)
from atr_client.models.base import ModelReply, ToolSpec, agent_for
from atr_client.models.catalogue import Catalogue, RemoteModel
from atr_client.models.meter import Meter, cost_text, dollars
from atr_client.models.rates import RateCeiling
from atr_client.models.recording import CallSite, Live, Recording
from atr_client.models.remote import ModelClient, RemoteRole, close_all, remote_agent
from atr_client.models.retry import RetryPolicy
from atr_client.models.standing import Standing
from atr_client.models.wire import WireRequest
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage
from atr_user_sim.interface import ChatMessage, CompletionFault, ToolOffer
from tests.support.cells import small_episode

SITE = CallSite("cell/x", "s1", "agent")
ASK = WireRequest([Message(role="system", content="s"), Message(role="user", content="hi", turn_idx=1)])
USED = Usage(prompt_tokens=1_000_000, completion_tokens=500_000, total_tokens=1_500_000, calls=1)
PRICED = {"wire": "openai_chat", "price": {"input": 1.0, "output": 4.0}}


def model(**entry: Any) -> RemoteModel:
    return Catalogue.model_validate({"models": {"lab/m": {**PRICED, **entry}}}).find("lab/m")


@dataclass
class Wire:
    """Gives one reply or fault after the other."""

    turns: list[ModelReply | Exception]
    sent: list[WireRequest] = field(default_factory=list[WireRequest])
    closed: int = 0

    async def send(self, request: WireRequest) -> ModelReply:
        self.sent.append(request)
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        return turn

    async def aclose(self) -> None:
        self.closed += 1


@dataclass
class Opened:
    """A client over a wire, and how often the wire was opened."""

    wire: Wire
    client: ModelClient = field(init=False)
    times: int = 0

    def open(self) -> Wire:
        self.times += 1
        return self.wire


def client_of(*turns: ModelReply | Exception, entry: dict[str, Any] | None = None, **parts: Any) -> Opened:
    opened = Opened(Wire(list(turns)))
    exchanges = parts.pop("exchanges", None) or Live()
    limiter = anyio.CapacityLimiter(1)
    made = ModelClient(model(**entry or {}), opened.open, exchanges=exchanges, limiter=limiter, **parts)
    opened.client = made
    return opened


async def test_a_wire_is_opened_at_the_first_call_and_closed_once() -> None:
    opened = client_of(ModelReply("a"), ModelReply("b"), ModelReply("c"))
    await close_all([opened.client])
    assert (opened.times, opened.wire.closed) == (0, 0)
    for _ in range(2):
        await opened.client.send(SITE, ASK)
    assert opened.times == 1
    await close_all([opened.client, opened.client])
    assert opened.wire.closed == 1
    await opened.client.send(SITE, ASK)
    assert opened.times == 2


@pytest.mark.parametrize(
    ("reported", "limit", "usage", "spent"),
    [
        (USED, None, replace(USED, cost_usd=3.0), (3.0, 0)),
        (USED, 9.0, replace(USED, cost_usd=3.0), (3.0, 0)),
        (None, 9.0, Usage(calls_without_usage=1, estimated_usd=5e-6), (5e-6, 1)),
    ],
)
async def test_a_call_is_priced_and_metered(
    reported: Usage | None, limit: float | None, usage: Usage, spent: tuple[float, int]
) -> None:
    meter = Meter(limit)
    opened = client_of(ModelReply("abcd", usage=reported), meter=meter)
    assert (await opened.client.send(SITE, ASK)).usage == usage
    assert (meter.dollars, meter.estimated_calls) == (pytest.approx(spent[0]), spent[1])


def test_a_limit_is_reached_when_all_of_it_is_spent_and_says_how_it_was_counted() -> None:
    Meter(None, dollars=9.0).check()
    Meter(2.0, dollars=1.9999).check()
    with pytest.raises(BudgetReached, match=r"^stopped by limits\.cost_usd: \$2\.00 of \$2\.00 are spent; "):
        Meter(2.0, dollars=2.0).check()
    meter = Meter(2.0)
    for _ in range(3):
        meter.add(Usage(calls_without_usage=2, estimated_usd=1.0))
    with pytest.raises(BudgetReached, match=r"about \$3\.00 of \$2\.00 .*estimate: 6 calls did not report"):
        meter.check()


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0.0, "$0.00"), (0.00004, "$0.0000"), (0.9999, "$0.9999"), (1.0, "$1.00"), (12.345, "$12.35")],
)
def test_dollars_below_one_have_tenths_of_cents(amount: float, text: str) -> None:
    assert dollars(amount) == text
    assert cost_text(Usage(calls=1, cost_usd=amount)) == text


def test_the_cost_of_no_call_is_empty_and_one_that_nobody_knows_is_unknown() -> None:
    assert cost_text(Usage(cost_usd=1.0)) == ""
    assert cost_text(Usage(calls=1)) == cost_text(Usage(calls_without_usage=1, cost_usd=None)) == "unknown"


async def test_what_a_call_took_counts_against_the_ceiling_also_when_it_is_guessed() -> None:
    counted: list[int] = []

    class Ceiling(RateCeiling):
        def spent(self, tokens: int) -> None:
            counted.append(tokens)

    opened = client_of(ModelReply("a", usage=USED), ModelReply("abcde"), ceiling=Ceiling())
    for _ in range(2):
        await opened.client.send(SITE, ASK)
    assert counted == [1_500_000, 1 + 2]


@pytest.mark.parametrize(
    ("fault", "error", "text"),
    [
        (WireError("bad field", retryable=False, status=400), ModelError, "lab/m: HTTP 400: bad field"),
        (WireError("gone", retryable=False), ModelError, "lab/m: gone"),
        (WireError("no money", retryable=False, final=True, status=402), ModelStopped, "HTTP 402: no money"),
        (ContextOverflow("too long"), ContextOverflow, "^too long$"),
    ],
)
async def test_a_fault_names_model_and_status_and_a_final_one_is_that_of_every_later_call(
    fault: Exception, error: type[Exception], text: str
) -> None:
    standing = Standing()
    opened = client_of(fault, ModelReply("fine"), standing=standing, policy=RetryPolicy(attempts=2))
    with pytest.raises(error, match=text) as caught:
        await opened.client.send(SITE, ASK)
    assert type(caught.value) is error
    if error is ModelStopped:
        assert standing.refused == str(caught.value)
        with pytest.raises(ModelStopped, match=text):
            await opened.client.send(SITE, ASK)
    else:
        assert (await opened.client.send(SITE, ASK)).content == "fine"
    assert len(opened.wire.sent) == (1 if error is ModelStopped else 2)


async def test_an_agent_and_a_role_send_what_they_are_told_from_where_they_are(tmp_path: Path) -> None:
    call = ToolCall(id="c", name="n")
    replies = [ModelReply("a"), ModelReply("r", [call], usage=USED), ModelReply("s")]
    opened = client_of(*replies, exchanges=Recording(tmp_path))
    episode = small_episode(learning=1, tests=1)
    agent = agent_for(remote_agent(opened.client, "cell/x", 7, 0.5), episode, episode.test_sessions[0])
    offered = [ToolSpec("look", "Looks.", {"type": "object"})]
    await agent.respond(ASK.messages, offered)
    role = RemoteRole(opened.client, CallSite("cell/x", "t0", "cls"))
    asked = [ChatMessage("system", "Judge."), ChatMessage("user", "This.")]
    completion = await role.complete(asked, schema={"type": "object"}, tools=[ToolOffer("pick", "Picks.")])
    assert (completion.text, list(completion.tool_calls)) == ("r", [call])
    assert completion.usage == replace(USED, cost_usd=3.0)
    first, second = opened.wire.sent
    assert (first.messages, first.tools, first.temperature, first.seed) == (ASK.messages, offered, 0.5, 7)
    assert [(message.role, message.content) for message in second.messages] == [
        ("system", "Judge."),
        ("user", "This."),
    ]
    assert [(tool.name, tool.description) for tool in second.tools] == [("pick", "Picks.")]
    assert (second.schema, second.temperature, second.seed) == ({"type": "object"}, None, None)
    lines = (tmp_path / "cell" / "x" / "t0.jsonl").read_text().splitlines()
    assert [json.loads(line)["role"] for line in lines] == ["agent", "cls"]
    opened.wire.turns.insert(0, WireError("gone", retryable=False))
    with pytest.raises(CompletionFault, match="lab/m: gone"):
        await role.complete(asked)
