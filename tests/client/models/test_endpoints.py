"""The clients of a sweep: one per endpoint, limits per model, closed whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from atr_client.models.addresses import shown_address
from atr_client.models.base import ModelReply
from atr_client.models.catalogue import Catalogue, packaged_catalogue
from atr_client.models.recording import CallSite
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.sweep import endpoints
from atr_client.sweep.config import LimitConfig, ModelChoice
from atr_client.sweep.endpoints import ModelClients, RemoteSpec
from atr_client.sweep.registry import RemoteEntry, find_model
from atr_data.trajectory import Message, ToolCall

SITE = CallSite("cell", "s1", "agent")
HELLO = [Message(role="system", content="s"), Message(role="user", content="u")]
ENVIRONMENT: Mapping[str, str] = {"DEEPSEEK_API_KEY": "sk-0123456789", "OPENAI_API_KEY": "sk-0123456789"}


class FakeWire:
    """Answers at once, or when `gate` opens."""

    def __init__(self, endpoint: Endpoint, gate: anyio.Event | None) -> None:
        self.endpoint, self.gate = endpoint, gate
        self.sent: list[list[Message]] = []
        self.at_once = self.most_at_once = 0
        self.closed = False

    async def send(self, request: WireRequest) -> ModelReply:
        self.sent.append(list(request.messages))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        if self.gate:
            await self.gate.wait()
        await anyio.sleep(0.001)
        self.at_once -= 1
        return ModelReply("hi")

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()
        self.closed = True


class Wires:
    """What has been opened; wires opened from now on wait at `gate`."""

    def __init__(self) -> None:
        self.opened: list[FakeWire] = []
        self.gate: anyio.Event | None = None

    def open(self, _: str, endpoint: Endpoint) -> FakeWire:
        self.opened.append(FakeWire(endpoint, self.gate))
        return self.opened[-1]


@pytest.fixture
def wires(monkeypatch: pytest.MonkeyPatch) -> Wires:
    wires = Wires()
    monkeypatch.setattr(endpoints, "open_wire", wires.open)
    return wires


def spec(name: str, catalogue: Catalogue | None = None, **said: Any) -> RemoteSpec:
    entry = find_model(ModelChoice.model_validate({"id": name, **said}), catalogue)
    assert isinstance(entry, RemoteEntry)
    return entry.spec


def clients_of(**limits: Any) -> ModelClients:
    return ModelClients(LimitConfig.model_validate(limits), environment=ENVIRONMENT)


async def test_an_endpoint_is_opened_once_and_only_when_it_is_called(wires: Wires) -> None:
    async with clients_of() as clients:
        one, other = spec("deepseek-v4-pro"), spec("deepseek-v4-pro", reasoning="off")
        assert clients.client(one) is clients.client(spec("deepseek/deepseek-v4-pro"))
        assert clients.client(one) is not clients.client(other)
        assert wires.opened == []
        for _ in range(3):
            await clients.client(one).send(SITE, WireRequest(HELLO))
        assert len(wires.opened) == 1
        await clients.client(other).send(SITE, WireRequest(HELLO))
        assert [wire.endpoint.parameters["thinking"]["type"] for wire in wires.opened] == [
            "enabled",
            "disabled",
        ]
    assert all(wire.closed for wire in wires.opened)


async def test_a_cancelled_sweep_closes_its_clients(wires: Wires) -> None:
    wires.gate = anyio.Event()
    async with anyio.create_task_group() as group:

        async def sweep() -> None:
            async with clients_of() as clients:
                await clients.client(spec("gpt-5.4")).send(SITE, WireRequest(HELLO))

        group.start_soon(sweep)
        while not (wires.opened and wires.opened[0].sent):
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    (wire,) = wires.opened
    assert wire.closed


async def test_the_limit_on_calls_holds_per_model_over_all_its_endpoints(wires: Wires) -> None:
    async with clients_of(calls_per_model=2) as clients, anyio.create_task_group() as group:
        for reasoning in ("on", "off"):
            client = clients.client(spec("deepseek-v4-pro", reasoning=reasoning))
            for _ in range(5):
                group.start_soon(client.send, SITE, WireRequest(HELLO))
    assert sum(len(wire.sent) for wire in wires.opened) == 10
    assert max(wire.most_at_once for wire in wires.opened) == 2


@pytest.mark.parametrize(
    ("said", "limits"),
    [({"requests_per_minute": 1}, {}), ({}, {"requests_per_minute": 1}), ({}, {"tokens_per_minute": 1})],
)
async def test_ceilings_come_from_the_model_or_from_the_run(
    said: dict[str, Any], limits: dict[str, Any], wires: Wires
) -> None:
    async with clients_of(**limits) as clients:
        client = clients.client(spec("gpt-5.4", **said))
        await client.send(SITE, WireRequest(HELLO))
        if "tokens_per_minute" in limits:
            client._ceiling.spent(5)  # pyright: ignore[reportPrivateUsage]
        with anyio.move_on_after(0.02) as scope:
            await client.send(SITE, WireRequest(HELLO))
        assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("name", "sent"), [("local/m", "sauaCataC"), ("deepseek-v4-pro", "sauaata"), ("gpt-5.4", "sauaata")]
)
async def test_a_text_that_nobody_answers_is_followed_by_the_users_word_where_servers_want_it(
    name: str, sent: str, wires: Wires
) -> None:
    call = ToolCall(id="c", name="t")
    messages = [
        Message(role="system", content="s"),
        Message(role="assistant", content="a"),
        Message(role="user", content="u"),
        Message(role="assistant", content="a"),
        Message(role="assistant", content="a", tool_calls=[call]),
        Message(role="tool", content="t", tool_call_id="c"),
        Message(role="assistant", content="a"),
    ]
    async with clients_of() as clients:
        await clients.client(spec(name)).send(SITE, WireRequest(messages))
    (request,) = wires.opened[0].sent
    assert "".join("C" if m.content == "Continue." else m.role[0] for m in request) == sent


def test_an_entry_of_the_run_changes_only_what_it_names() -> None:
    mine = Catalogue.model_validate({"models": {"gpt-5.4": {"price": {"input": 1, "output": 2}}}})
    model = spec("gpt-5.4", packaged_catalogue().extended(mine)).model
    assert (model.model_id, model.entry.context) == ("openai/gpt-5.4", 400_000)
    assert model.entry.price is not None


def test_a_price_does_not_make_another_model_of_it_and_an_address_does() -> None:
    plain = spec("gpt-5.4")
    assert spec("gpt-5.4", price={"input": 1, "output": 1}).digest == plain.digest
    assert spec("gpt-5.4", key="OTHER_KEY").digest == plain.digest
    assert spec("gpt-5.4", base_url="http://127.0.0.1:9").digest != plain.digest
    assert spec("gpt-5.4", temperature=0.7).digest != plain.digest


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://host/v1", "https://host/v1"),
        ("https://user:pass@host:8443/v1", "https://host:8443/v1"),
        ("https://host/v1?api_key=secret", "https://host/v1"),
        ("https://host/v1#secret", "https://host/v1"),
        ("https://u:p@w@host/v1", "https://host/v1"),
        ("user:pass@host/v1", "host/v1"),
        ("http://user:pass@[bad/v1", "http://[bad/v1"),
        ("//u:p@host", "//host"),
        ("https://host/v1?a=1\nb=secret", "https://host/v1"),
        ("https://host/a@b", "https://host/a@b"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(address: str, shown: str) -> None:
    assert shown_address(address) == shown
