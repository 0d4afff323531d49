"""What QUIRKS.md says of arguments, by example."""

from __future__ import annotations

from typing import Any

import pytest

from atr_servers import Environment
from tests.conftest import ROOT
from tests.support.worlds import ADA, WORLDS

RIDE = {"origin": "", "destination": "", "passenger_count": 1}
REFUSED: list[tuple[str, str, dict[str, Any]]] = [
    ("communication", "search_messages", {"folder": "newsletters"}),
    ("scheduling", "list_events", {"calendar": "default"}),
    ("workspace", "list_files", {"file_type": "PDF"}),
    ("workspace", "search_documents", {"doc_type": "letter"}),
    ("travel", "search_flights", {**RIDE, "sort_by": "cheapest"}),
    ("travel", "search_flights", {**RIDE, "origin": None}),
    ("travel", "search_flights", {**RIDE, "passenger_count": None}),
    *(
        ("scheduling", "check_conflicts", {"start_time": spelling, "end_time": "2025-03-05"})
        for spelling in (
            "20250304",
            "2025-W10-2",
            "2025-03-04t10:00",
            "2025-03-04_10:00",
            "2025-03-04T10:00+0500",
            "2025-03-04T10:00+05",
            "٢٠٢٥-03-04",
        )
    ),
    *(
        ("commerce", "modify_order", {"order_id": "O1", "field": "quantity", "new_value": digits})
        for digits in ("٣", "９", "1_0", "9" * 301)
    ),
]


@pytest.mark.parametrize(("domain", "tool", "arguments"), REFUSED)
def test_what_is_said_to_be_refused_is_refused(domain: str, tool: str, arguments: dict[str, Any]) -> None:
    environment = Environment.build(domain, WORLDS[domain], ADA)
    before = environment.snapshot()
    assert environment.call(tool, arguments).is_error
    assert environment.snapshot() == before


@pytest.mark.parametrize(
    "moment",
    [
        "2025-03-04",
        " 2025-03-04T10 ",
        "2025-03-04 10:30",
        "2025-03-04T10:30:05.1234567Z",
        "2025-03-04T10:30+05:30",
    ],
)
def test_what_is_said_to_be_a_date_is_taken(moment: str) -> None:
    environment = Environment.build("scheduling", WORLDS["scheduling"], ADA)
    assert not environment.call("check_conflicts", {"start_time": moment, "end_time": moment}).is_error


def test_every_name_in_the_list_of_quirks_exists() -> None:
    """Tools stand in the first column; a renamed one would make the list say nothing."""
    lines = (ROOT / "servers" / "QUIRKS.md").read_text(encoding="utf-8").splitlines()
    named = {
        word.strip(",`") for line in lines if line.startswith("| ") for word in line.split("|")[1].split()
    }
    tools = {tool.name for domain in WORLDS for tool in Environment.build(domain, []).tools}
    assert {word for word in named if "_" in word} <= tools | {"sort_by"}
