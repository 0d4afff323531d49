"""What `validate` finds in an episode that loads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atr_data import validate_episode
from atr_datagen.source.episodes import as_text
from tests.support.sources import compiled

Change = Callable[[dict[str, Any]], object]


def required(data: dict[str, Any], index: int) -> dict[str, Any]:
    return data["test_sessions"][index]["labels"]["task_success"]["required_actions"][0]


def env(data: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return data["test_sessions"][index]["local_env"]


WRONG: list[tuple[str, Change]] = [
    ("episode_id: should be pavla_ondrus_seedNNN", lambda d: d.update(episode_id="other_seed000")),
    ("rules[pavla_ondrus_commerce_01]: id stands 2 times", lambda d: d["rules"].append(d["rules"][2])),
    ("id stands 2 times", lambda d: d["learning_sessions"].append(d["learning_sessions"][0])),
    ("rules[pavla_ondrus_commerce_01]: has no test session", lambda d: d["test_sessions"].pop(2)),
    ("rule_id: no rule 'ghost'", lambda d: d["test_sessions"][0].update(rule_id="ghost")),
    ("metadata.selected_rules: no rule 'ghost'", lambda d: d["metadata"].update(selected_rules=["ghost"])),
    ("no tool 'fly' in the ontology", lambda d: d["rules"][0].update(action_step={"tool": "fly"})),
    ("param should be an id parameter", lambda d: d["rules"][0]["action_step"].update(param="party_size")),
    (
        "should be get_user_confirmation and a writing tool",
        lambda d: d["rules"][1]["action_step"].update(param="x"),
    ),
    ("param should be an enum parameter", lambda d: d["rules"][2]["action_step"].update(param="order_id")),
    ("param should be null", lambda d: d["rules"][3]["action_step"].update(param="body")),
    ("domain: no domain 'space'", lambda d: d["test_sessions"][0].update(domain="space")),
    ("reservation has no tool 'place_order'", lambda d: env(d)["tools"].append("place_order")),
    ("knows no reference type 'product'", lambda d: env(d)["references"][0].update(type="product")),
    ("id stands 2 times", lambda d: env(d)["references"].append(env(d)["references"][0])),
    ("labels: has no required action", lambda d: d["test_sessions"][0].update(labels={})),
    ("no tool 'fly' in the ontology", lambda d: required(d, 0).update(tool="fly")),
    ("book_restaurant is not offered", lambda d: env(d)["tools"].remove("book_restaurant")),
    ("book_restaurant has no parameter 'table'", lambda d: required(d, 0)["arguments"].update(table=1)),
    (
        "compared argument 'date_time' has no gold",
        lambda d: required(d, 0)["compare_args"].append("date_time"),
    ),
    ("is no object of the session", lambda d: required(d, 0)["arguments"].update(restaurant_id="rst_none")),
    ("target_tool 'fly' is no tool", lambda d: required(d, 1)["arguments"].update(target_tool="fly")),
    (
        "but the rule's action_step names 'set_reminder'",
        lambda d: required(d, 1)["arguments"].update(target_tool="book_event_ticket", target_params={}),
    ),
    (
        "resolution_type has no value 'gold'",
        lambda d: required(d, 2)["arguments"].update(resolution_type="gold"),
    ),
    ("has no parameter 'mood'", lambda d: d["test_sessions"][2]["labels"]["target"].update(mood="x")),
    (
        "gold_trajectory[1]: no tool 'fly' in the ontology",
        lambda d: d["learning_sessions"][0]["gold_trajectory"][1].update(tool="fly"),
    ),
    (
        "return_order lacks order_id",
        lambda d: d["learning_sessions"][0]["gold_trajectory"][1]["arguments"].pop("order_id"),
    ),
    ("expected_tools: no tool 'fly'", lambda d: d["learning_sessions"][0]["expected_tools"].append("fly")),
    (
        "list_events is not offered in this session",
        lambda d: d["learning_sessions"][0]["gold_trajectory"][0].update(tool="list_events", arguments={}),
    ),
]


def findings(folder: Path, change: Change | None = None) -> list[str]:
    data = json.loads(as_text(compiled().episode))
    if change:
        change(data)
    path = folder / "e.json"
    path.write_text(json.dumps(data))
    return [str(finding) for finding in validate_episode(path)]


def test_a_compiled_episode_has_no_finding(tmp_path: Path) -> None:
    assert findings(tmp_path) == []


@pytest.mark.parametrize(("message", "change"), WRONG, ids=[message for message, _ in WRONG])
def test_what_does_not_fit_together_is_an_error(tmp_path: Path, message: str, change: Change) -> None:
    found = findings(tmp_path, change)
    assert any(line.startswith("error: ") and message in line for line in found), found
