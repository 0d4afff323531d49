"""Whether a test's rule is in the memory, could be found there, and was read: written into its trajectory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp.types import Tool

from atr_client import play_episode
from atr_client.cell.episode_runner import EpisodeRunner, Users, offline_users
from atr_client.models.base import ModelReply
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.readability import context_digest
from atr_client.session.recorder import SessionRecorder
from atr_client.session.turns import SessionSettings
from atr_client.testing import FunctionModel
from atr_data import Episode, Trajectory
from atr_data.calls import CallLog
from atr_data.trajectory import Retention, ToolCall
from atr_memory import CONTEXT, NONE, Answer, Entry, Kept, MemoryLayer
from atr_user_sim.interface import ClassifierVerdict, PoolRule
from tests.support.cells import small_episode

RULE = "I keep 0."
ELSEWHERE = "I keep nothing."


@dataclass
class Shelf:
    """An offer with files, tools or both. Its tool says `text`."""

    text: str
    tools: Sequence[Tool]
    folder: Path | None

    is_error: bool = False

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        return Answer(self.text, self.is_error)

    async def close(self) -> None: ...

    async def writes(self) -> int:
        return 0


class Layer(MemoryLayer):
    """Holds `held` whatever happens; `found` answers the queries of a search."""

    def __init__(
        self,
        held: str | None = "",
        found: Callable[[Sequence[str]], str | None] = "\n".join,
        offer: Shelf | None = None,
        shown: str | None = None,
    ) -> None:
        self.held, self.found, self.offer, self.offers = held, found, offer, offer is not None
        self.shown = shown
        self.queries: list[Sequence[str]] = []

    def stored(self, kept: Kept) -> str | None:
        return self.held

    def findable(self, kept: Kept, queries: Sequence[str]) -> str | None:
        self.queries.append(queries)
        return self.found(queries)

    def render(self, entries: Sequence[Entry], query: str = "") -> str | None:
        return self.shown

    @asynccontextmanager
    async def open(self, kept: Kept) -> AsyncGenerator[Shelf | None]:
        yield self.offer


def look(messages: Any, tools: Any) -> ModelReply:
    """Calls the memory's tool where there is one, then ends the session."""
    tool = next((tool.name for tool in tools if tool.name == "recall"), None)
    assert [t.description for t in tools if t.name == "recall"] in ([], ["r"])
    if tool and not any(message.role == "tool" for message in messages):
        return ModelReply(tool_calls=[ToolCall(id="r", name=tool)])
    return ModelReply(tool_calls=[ToolCall(id="f", name="finish_session")])


async def played(layer: MemoryLayer, variant: str = "atr", **rule: str) -> Trajectory:
    document = small_episode(learning=0, tests=1).model_dump(mode="json")
    document["rules"][0] |= rule
    result = await play_episode(Episode.model_validate(document), variant, FunctionModel(look), memory=layer)
    return result.trajectories[0]


@pytest.mark.parametrize(
    ("held", "found", "kept"),
    [
        (RULE, lambda queries: RULE, (True, True)),
        (RULE, lambda queries: ELSEWHERE, (True, False)),
        (RULE, lambda queries: None, (True, None)),
        (ELSEWHERE, "\n".join, (False, False)),  # it repeats what it is asked
        (ELSEWHERE, lambda queries: None, (False, None)),
        (None, lambda queries: RULE, (None, None)),
        (None, lambda queries: None, (None, None)),
    ],
)
async def test_a_rule_is_found_only_where_it_is_stored(
    held: str | None, found: Callable[[Sequence[str]], str | None], kept: tuple[bool | None, bool | None]
) -> None:
    layer = Layer(held, found)
    retention = (await played(layer)).retention
    assert retention and (retention.stored, retention.findable) == kept
    assert layer.queries == [("do 0", "x", RULE)]


@pytest.mark.parametrize("layer", [CONTEXT, NONE, Layer(ELSEWHERE)])
@pytest.mark.parametrize("variant", ["oracle_target", "oracle_full"])
async def test_what_an_oracle_was_told_is_kept_whatever_the_layer(layer: MemoryLayer, variant: str) -> None:
    retention = (await played(layer, variant)).retention
    assert retention and (retention.stored, retention.findable) == (True, True)


@pytest.mark.parametrize("rule", [{"canonical_answer": "..."}, {"rule_id": "another"}])
async def test_nothing_is_told_of_a_rule_that_has_no_words_or_is_not_there(rule: dict[str, str]) -> None:
    trajectory = await played(Layer(RULE), **rule)
    assert (trajectory.retention, trajectory.rule_readable) == (None, None)


RECALL = [Tool(name="recall", description="r", input_schema={"type": "object", "properties": {}})]


@pytest.mark.parametrize(
    ("tools", "has_files", "shown", "answered", "readable"),
    [
        (RECALL, False, None, RULE, True),
        (RECALL, False, RULE, ELSEWHERE, True),
        (RECALL, False, None, ELSEWHERE, False),
        (RECALL, True, None, ELSEWHERE, False),
        (RECALL, True, None, RULE, True),
        ([], True, None, RULE, None),  # nobody knows what the agent reads in its own files
        ([], True, RULE, ELSEWHERE, True),
        ([], False, None, RULE, False),
    ],
)
async def test_what_a_tool_of_the_memory_answered_was_read(
    tmp_path: Path,
    tools: Sequence[Tool],
    has_files: bool,
    shown: str | None,
    answered: str,
    readable: bool | None,
) -> None:
    layer = Layer(RULE, offer=Shelf(answered, tools, tmp_path if has_files else None), shown=shown)
    trajectory = await played(layer)
    assert trajectory.rule_readable is readable
    assert (trajectory.readability is None) == (readable is None)


async def test_a_refusal_that_repeats_what_it_was_asked_was_not_read() -> None:
    layer = Layer(RULE, offer=Shelf(RULE, RECALL, None, is_error=True))
    assert (await played(layer)).rule_readable is False


class Paraphrases:
    """A Classifier that takes a sentence for the first rule when it says that it is one."""

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        return ClassifierVerdict(pool[0].rule_id if "paraphrase" in question else None)


@pytest.mark.parametrize(
    ("held", "answered", "readable"),
    [
        ("Nothing of the kind.", "This paraphrase is asked for.", False),  # it repeats what it is asked
        ("A paraphrase of it.", "This paraphrase is found.", True),
        ("A paraphrase of it.", "Nothing is found there.", False),
        ("A paraphrase of it.", RULE, True),
        ("Nothing of the kind.", RULE, True),
        (RULE, "Nothing is found there.", False),
    ],
)
async def test_what_a_memory_does_not_hold_it_has_not_found_whatever_its_tools_say(
    held: str, answered: str, readable: bool
) -> None:
    layer = Layer(held, offer=Shelf(answered, RECALL, None))
    layer.rewords = True
    users = Users(offline_users().make, Paraphrases())
    episode = small_episode(learning=0, tests=1)
    played = await play_episode(episode, "atr", FunctionModel(look), memory=layer, user=users)
    (trajectory,) = played.trajectories
    assert trajectory.rule_readable is readable
    assert trajectory.retention and trajectory.retention.stored is (held != "Nothing of the kind.")
    assert trajectory.readability
    assert trajectory.readability.method == ("verbatim" if answered == RULE else "classifier")
    assert trajectory.readability.memory_sha256 == context_digest(answered)


@pytest.mark.parametrize(("text", "kept"), [(f"He said: {RULE}", True), (ELSEWHERE, False), (None, False)])
async def test_a_memory_that_is_a_text_keeps_what_it_shows(
    tmp_path: Path, text: str | None, kept: bool
) -> None:
    episode = small_episode(learning=0, tests=1)
    runner = EpisodeRunner(episode, "atr", FunctionModel(look), offline_users(), SessionSettings())
    with CallLog(tmp_path / "calls.jsonl") as log:
        recorder = SessionRecorder(log, 1, "t0", "test", "atr")
        memory = SessionMemory.of_text(text).unopened(recorder)
        trajectory = await runner(episode.test_sessions[0], memory=memory, recorder=recorder)
    assert trajectory.retention == Retention(stored=kept, findable=kept)
    assert trajectory.rule_readable is kept
