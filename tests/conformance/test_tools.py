"""The tool environments against the recorded calls, each through an MCP client."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server import Server
from mcp.types import TextContent

from atr_data.episode import Episode, PersonaProfile
from atr_servers import build_server
from tests.support.comparison import agrees, same_json, same_order
from tests.support.vectors import first, read_jsonl

Line = dict[str, Any]
Builder = Callable[[Line], Server[Any]]
EVERY = {"auto": 1, "legacy": 7}
"""Of how many lines one is played: the era changes how a client connects, not what a tool answers."""


def synthetic(line: Line) -> Server[Any]:
    persona = PersonaProfile.model_validate(line["persona"])
    return build_server(line["domain"], line["references"], persona, line["allowed_tools"])


def official(episodes: Path) -> Builder:
    @cache
    def load(episode_id: str) -> Episode:
        return Episode.model_validate_json((episodes / f"{episode_id}.json").read_text(encoding="utf-8"))

    def build(line: Line) -> Server[Any]:
        episode = load(line["episode_id"])
        sessions = (*episode.learning_sessions, *episode.test_sessions)
        environment = next(s for s in sessions if s.session_id == line["session_id"]).local_env
        return build_server(line["domain"], environment.references, episode.profile, environment.tools)

    return build


async def disagreement(line: Line, server: Server[Any], mode: str) -> str | None:
    """The first call of a line that is answered otherwise, as one line of text, or None."""
    async with Client(server, mode=mode) as client:
        await client.list_tools()
        for number, call in enumerate(line["calls"]):
            result = await client.call_tool(call["tool"], call["arguments"])
            (block,) = result.content
            assert isinstance(block, TextContent)
            content = json.loads(block.text)
            same_text = same_json(result.structured_content, content)
            in_order = call["is_error"] or result.is_error or same_order(call["content"], content)
            if not (agrees(call, result.is_error, content) and same_text and in_order):
                name = line.get("case_id") or line["session_id"]
                return f"{name} call {number}: expected {json.dumps(call)[:400]}, got {block.text[:400]}"
    return None


async def check(lines: Iterable[Line], build: Builder, name: str, mode: str = "auto") -> None:
    """Prints `agree/total`; fails when they differ."""
    played = islice(lines, 0, None, EVERY[mode])
    found = [await disagreement(line, build(line), mode) for line in played]
    wrong = [text for text in found if text is not None]
    report = f"{name} ({mode}): {len(found) - len(wrong)}/{len(found)} lines agree"
    print(report)
    assert not wrong, "\n".join([report, *wrong[:5]])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_synthetic_sessions_are_answered_as_recorded(conformance_dir: Path, mode: str) -> None:
    name = "tools_synthetic.jsonl.gz"
    await check(read_jsonl(conformance_dir / name), synthetic, name, mode)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_official_sessions_are_answered_as_recorded(
    conformance_dir: Path, official_dir: Path, mode: str
) -> None:
    name = "tools_official.jsonl.gz"
    await check(read_jsonl(conformance_dir / name), official(official_dir / "episodes"), name, mode)


async def test_a_flipped_expectation_makes_the_check_fail(conformance_dir: Path, tmp_path: Path) -> None:
    line = first(read_jsonl(conformance_dir / "tools_synthetic.jsonl.gz"), _strict_calls)
    call = _strict_calls(line)[0]
    call["is_error"] = not call["is_error"]
    flipped = tmp_path / "tools_synthetic.jsonl.gz"
    flipped.write_bytes(gzip.compress(json.dumps(line).encode()))
    with pytest.raises(AssertionError, match="0/1 lines agree"):
        await check(read_jsonl(flipped), synthetic, flipped.name)


async def test_a_changed_value_makes_the_check_fail(conformance_dir: Path) -> None:
    def counting(line: Line) -> list[Line]:
        return [call for call in _strict_calls(line) if "count" in call["content"]]

    line = first(read_jsonl(conformance_dir / "tools_synthetic.jsonl.gz"), counting)
    counting(line)[0]["content"]["count"] += 1
    with pytest.raises(AssertionError, match="0/1 lines agree"):
        await check([line], synthetic, "changed")


def _strict_calls(line: Line) -> list[Line]:
    return [call for call in line["calls"] if not call.get("reference_lenient")]
