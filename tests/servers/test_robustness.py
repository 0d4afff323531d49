"""Any call whatsoever: answered or refused, never a crash, and no change of state behind a refusal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.types import TextContent

from atr_ontology import DOMAINS, Parameter, Tool, load_ontology
from atr_servers import Environment, serve_environment
from atr_servers.environment import Answer
from tests.support.worlds import ADA, WORLDS

Call = tuple[str, dict[str, Any]]
TOOLS: Mapping[str, tuple[Tool, ...]] = {domain: load_ontology().offered(domain) for domain in DOMAINS}
QUIET = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
moments = st.datetimes().map(lambda moment: moment.isoformat()) | st.dates().map(lambda day: day.isoformat())


def ids(domain: str) -> st.SearchStrategy[str]:
    """Ids of references, of the rows linked to them, of rows that calls may have made, and of nothing."""
    tables = Environment.build(domain, WORLDS[domain], ADA).snapshot()["tables"]
    known = [row_id for rows in tables.values() for row_id in rows]
    made = ["LIST_001", "FLT_001", "HTL_002", "TRP_002", "DRAFT_001", "EVT_003", "DOC_002", "ENT_003"]
    return st.sampled_from([*known, *made, "", "nothing"])


def values(parameter: Parameter, domain: str) -> st.SearchStrategy[Any]:
    """Mostly values of the declared type; ids where a name asks for them."""
    texts = ids(domain) if parameter.names_object else st.text(max_size=12) | moments
    match parameter.type:
        case "enum":
            return st.sampled_from(parameter.enum)
        case "integer":
            return st.integers() | st.integers(-2, 5) | st.sampled_from([2.0, 1e300, 1.5])
        case "number":
            return st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "object":
            return st.dictionaries(st.text(max_size=8), json_values, max_size=3)
        case "array[string]":
            return st.lists(texts, max_size=4)
        case "date" | "datetime":
            return moments
        case _:
            return texts | st.sampled_from(["2", "-1", "Rome", "a, b"])


def typed_arguments(tool: Tool, domain: str) -> st.SearchStrategy[dict[str, Any]]:
    required = {p.name: values(p, domain) for p in tool.parameters if p.required}
    optional = {p.name: values(p, domain) | st.none() for p in tool.parameters if not p.required}
    return st.fixed_dictionaries(required, optional=optional)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[str, list[Call]]:
    """A domain and up to eight calls of its tools: typed arguments, some spoilt, some arbitrary."""
    domain = draw(st.sampled_from(DOMAINS))
    calls: list[Call] = []
    for tool in draw(st.lists(st.sampled_from(TOOLS[domain]), min_size=1, max_size=8)):
        arguments = draw(typed_arguments(tool, domain))
        names = [p.name for p in tool.parameters]
        if draw(st.integers(0, 3)) == 0:
            keys = st.sampled_from(names) | st.text(max_size=8) if names else st.text(max_size=8)
            arguments |= draw(st.dictionaries(keys, json_values, max_size=2))
        calls.append((tool.name, arguments))
    return domain, calls


def refused_without_trace(environment: Environment, call: Call) -> Answer:
    """Makes the call; when it is refused, the message is one line and the state as it was."""
    before = environment.snapshot()
    answer = environment.call(*call)
    if answer.is_error:
        assert environment.snapshot() == before
        assert list(answer.content) == ["error"]
        assert answer.content["error"]
        assert "Traceback" not in answer.content["error"]
        assert "\n" not in answer.content["error"]
    elif any(tool.kind == "read" for tool in environment.tools if tool.name == call[0]):
        assert environment.snapshot() == before
    json.loads(json.dumps(answer.content, allow_nan=False, ensure_ascii=False).encode())
    return answer


@QUIET
@given(sessions())
def test_any_calls_in_a_row_are_answered_or_refused(session: tuple[str, list[Call]]) -> None:
    domain, calls = session
    environment = Environment.build(domain, WORLDS[domain], ADA)
    for call in calls:
        refused_without_trace(environment, call)
    again = Environment.build(domain, [])
    again.restore(json.loads(json.dumps(environment.snapshot(), allow_nan=False)))
    assert again.snapshot() == environment.snapshot()


@pytest.mark.parametrize("domain", DOMAINS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_every_tool_stands_arbitrary_and_typed_arguments(domain: str, data: st.DataObject) -> None:
    environment = Environment.build(domain, WORLDS[domain], ADA)
    for tool in TOOLS[domain]:
        names = [p.name for p in tool.parameters] or ["x"]
        arbitrary = st.dictionaries(st.sampled_from(names) | st.text(max_size=8), json_values, max_size=4)
        refused_without_trace(environment, (tool.name, data.draw(arbitrary)))
        refused_without_trace(environment, (tool.name, data.draw(typed_arguments(tool, domain))))


@settings(max_examples=15, deadline=None)
@given(sessions(), st.sampled_from(["auto", "legacy"]))
def test_a_client_sees_the_answers_of_the_environment(session: tuple[str, list[Call]], mode: str) -> None:
    """The SDK's client turns what is not finite into null, so such calls stay out here."""
    domain, calls = session
    finite = [call for call in calls if _is_finite(call[1])]
    server = serve_environment(Environment.build(domain, WORLDS[domain], ADA))
    expected = Environment.build(domain, WORLDS[domain], ADA)

    async def run() -> None:
        async with Client(server, mode=mode) as client:
            await client.list_tools()
            for name, arguments in finite:
                result = await client.call_tool(name, arguments)
                answer = expected.call(name, arguments)
                (block,) = result.content
                assert isinstance(block, TextContent)
                assert json.loads(block.text) == answer.content == result.structured_content
                assert result.is_error == answer.is_error

    anyio.run(run)


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


UNFIT = [
    (float("nan"), "must be finite"),
    ({"a": float("inf")}, "must be finite"),
    (10**400, "must be finite"),
    ("\ud800", "lone surrogate"),
    ({"\udfff": 1}, "a key must be encodable text"),
    (nested(200), "nested more than 32 levels deep"),
    (nested(100_000), "nested more than 32 levels deep"),
    ("x" * 5_000_000, "larger than 1048576 bytes"),
    ({1, 2}, "is not a JSON value"),
]


@pytest.mark.parametrize(("value", "complaint"), UNFIT, ids=[complaint for _, complaint in UNFIT])
@pytest.mark.parametrize("domain", DOMAINS)
def test_values_unfit_for_the_wire_are_refused_by_every_tool(domain: str, value: Any, complaint: str) -> None:
    environment = Environment.build(domain, WORLDS[domain], ADA)
    for tool in TOOLS[domain]:
        name = tool.parameters[0].name if tool.parameters else "x"
        answer = refused_without_trace(environment, (tool.name, {name: value}))
        assert answer.is_error
        assert complaint in answer.content["error"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("value", ["\ud800", nested(40), nested(200), "x" * 5_000_000, 10**400])
async def test_a_server_outlives_unfit_arguments_and_goes_on(value: Any, mode: str) -> None:
    server = serve_environment(Environment.build("commerce", WORLDS["commerce"]))
    async with Client(server, mode=mode) as client:
        await client.list_tools()
        assert (await client.call_tool("search_products", {"category": value})).is_error
        assert not (await client.call_tool("search_products", {})).is_error


@pytest.mark.parametrize(
    ("domain", "tool", "arguments"),
    [
        ("commerce", "track_order", {"order_id": "kettle"}),
        ("commerce", "cancel_subscription", {"subscription_id": "O1"}),
        ("reservation", "book_event_ticket", {"event_id": "pho", "ticket_type": "vip", "ticket_count": 1}),
        ("reservation", "track_reservation_updates", {"appointment_id": "R1"}),
        ("travel", "book_flight", {"flight_offer_id": "h1"}),
        ("travel", "plan_trip", {"destination": "x", "selected_stop_ids": ["castle", "coast"]}),
        ("communication", "label_messages", {"message_ids": ["m1"], "label_ids": ["la1", "fo1"]}),
        ("communication", "archive_messages", {"message_ids": ["m1"], "folder_id": "la1"}),
        ("workspace", "move_files", {"file_ids": ["fi1", "d1"], "folder_id": "fd1"}),
        ("workspace", "update_document", {"document_id": "t1", "content_delta": "x"}),
    ],
)
def test_an_id_of_another_kind_is_refused_as_such(domain: str, tool: str, arguments: dict[str, Any]) -> None:
    environment = Environment.build(domain, WORLDS[domain], ADA)
    answer = refused_without_trace(environment, (tool, arguments))
    assert "it is the id of another kind" in answer.content["error"]
