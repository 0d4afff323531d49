"""No byte that a server can emit comes from the gold of its episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server import Server

from atr_data.episode import Episode, LocalEnv
from atr_ontology import load_ontology
from atr_servers import build_server
from tests.support.tiny_episode import episode as tiny_episode
from tests.support.worlds import ADA, WORLDS, ref

GOLD_KEYS = {"gold_value", "labels", "required_actions", "expected_tools", "gold_trajectory"}
OWN_KEYS = {"communication": {"labels"}, "workspace": {"labels"}}
"""Fields of messages and files that happen to be called like a part of the gold."""

ALL: dict[str, dict[str, Any]] = {
    "search_restaurants": {"location": ""},
    "search_service_providers": {"service_type": "", "location": ""},
    "search_flights": {"origin": "", "destination": "", "passenger_count": 0},
    "search_hotels": {"location": "", "guest_count": 0, "room_count": 0},
    "search_ground_transport": {"origin": "", "destination": "", "passenger_count": 0},
}
"""Arguments that filter nothing, for the searches that need some."""


async def everything_said(server: Server[Any]) -> Iterator[tuple[bool, str]]:
    """Keys and texts of the instructions, the tools, and all that searches and listings show unfiltered."""
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        said: list[Any] = [client.instructions, *(tool.model_dump() for tool in tools)]
        for tool in tools:
            if tool.name.startswith(("search_", "list_", "review_")):
                said.append((await client.call_tool(tool.name, ALL.get(tool.name, {}))).structured_content)
            if tool.name == "search_messages":
                said.append((await client.call_tool(tool.name, {"folder": "archive"})).structured_content)
    return leaves(said)


def leaves(value: Any) -> Iterator[tuple[bool, str]]:
    """Every key, as (True, key), and every text, as (False, text)."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield True, key
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str):
        yield False, value


def texts_of(values: Iterable[tuple[bool, str]]) -> str:
    return "\n".join(text for is_key, text in values if not is_key)


def gold_texts(episode: Episode) -> set[str]:
    """What the rules say. A single word, such as the value of an enum, is part of tool descriptions too."""
    texts = {
        text
        for rule in episode.rules
        for text in (
            rule.rule_text,
            rule.canonical_answer,
            rule.counterfactual_default,
            *(evidence.content for evidence in rule.evidence),
        )
    }
    return {text for text in texts if " " in text.strip()}


async def leaks(episode: Episode, domain: str, environment: LocalEnv) -> list[str]:
    """Gold that a session's server says and its references do not."""
    said = list(await everything_said(build_server(domain, environment.references, episode.profile)))
    public = texts_of(leaves([reference.attributes for reference in environment.references]))
    said_text = texts_of(said)
    texts = [text for text in gold_texts(episode) if text in said_text and text not in public]
    return texts + sorted({key for is_key, key in said if is_key} & GOLD_KEYS - OWN_KEYS.get(domain, set()))


@pytest.fixture(scope="session")
def episodes(shared_dir: Path) -> list[Episode]:
    own = Path(__file__).resolve().parents[2] / "data" / "episodes"
    paths = [*shared_dir.glob("official/episodes/*.json"), *shared_dir.glob("spec/example/*.json")]
    paths += own.glob("*_seed*.json")
    if not paths:
        pytest.skip("no episodes here")
    return [Episode.model_validate_json(path.read_text(encoding="utf-8")) for path in paths]


async def test_no_server_says_anything_of_the_gold_of_its_episode(episodes: list[Episode]) -> None:
    for episode in episodes:
        for session in (*episode.learning_sessions, *episode.test_sessions):
            assert await leaks(episode, session.domain, session.local_env) == [], session.session_id


@pytest.mark.parametrize("domain", WORLDS)
async def test_what_is_said_holds_every_primary_reference(domain: str) -> None:
    said = texts_of(await everything_said(build_server(domain, WORLDS[domain], ADA)))
    cancelled = {"e2"}
    for reference in WORLDS[domain]:
        assert reference["id"] in said or reference["id"] in cancelled


async def test_gold_that_is_said_is_found() -> None:
    wording = load_ontology().domain("commerce").policy
    planted = tiny_episode()
    planted["rules"][0]["rule_text"] = wording[:40]
    env = LocalEnv.model_validate({"tools": [], "references": [ref("product", "p", labels=[])]})
    assert await leaks(Episode.model_validate(planted), "commerce", env) == [wording[:40], "labels"]
