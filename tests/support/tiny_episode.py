"""The smallest episode that a server can be asked for, and how to start one on it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mcp import StdioServerParameters

PRODUCTS = [
    {"id": "prod_lamp", "type": "product", "attributes": {"name": "Reading lamp", "price": 40}},
    {"id": "prod_desk", "type": "product", "attributes": {"name": "Desk", "price": 210.5}},
]
HOTELS = [{"id": "hot_a", "type": "hotel_offer", "attributes": {"name": "Harbour House"}}]
GOLD = "SECRET-GOLD-TEXT"


def episode() -> dict[str, Any]:
    shop = {"tools": ["search_products", "place_order", "build_shopping_list"], "references": PRODUCTS}
    return {
        "episode_id": "tiny_seed000",
        "raw_persona": {"persona_id": "tiny", "narrative": "Somebody."},
        "structured_persona": {},
        "rules": [
            {
                "rule_id": "tiny_rule",
                "rule_text": GOLD,
                "canonical_answer": GOLD,
                "check_type": "param_id",
                "action_step": {"tool": "place_order", "param": "product_id"},
            }
        ],
        "learning_sessions": [
            {
                "session_id": "tiny_s00",
                "day_offset": 0,
                "domain": "commerce",
                "reason_for_call": "A lamp.",
                "task_params": {"quantity": 1},
                "expected_tools": ["place_order"],
                "gold_trajectory": [],
                "local_env": shop,
            }
        ],
        "test_sessions": [
            _test_session("tiny_shop_test", "commerce", shop),
            _test_session("tiny_trip_test", "travel", {"tools": ["search_hotels"], "references": HOTELS}),
        ],
    }


def _test_session(session_id: str, domain: str, local_env: dict[str, Any]) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "domain": domain,
        "rule_id": "tiny_rule",
        "instruction": "Do it.",
        "local_env": local_env,
        "labels": {"target": {"product_id": GOLD}},
    }


def write_episode(folder: Path) -> Path:
    path = folder / "tiny_seed000.json"
    path.write_text(json.dumps(episode()), encoding="utf-8")
    return path


def serve_command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "atr_servers.cli", "serve", *map(str, arguments)]


def stdio_server(*arguments: object) -> StdioServerParameters:
    command, *rest = serve_command(*arguments)
    return StdioServerParameters(command=command, args=rest)
