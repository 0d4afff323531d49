"""What a run of the timing track will need, before any money is spent.

Where no earlier session of the same model was kept, a silent player goes through the sittings of one user,
and what a model would have had to read is counted, four characters to a token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from atr_client.models.base import ModelReply, ToolSpec
from atr_client.outputs.spending import on_disk
from atr_client.session.agent_memory import SessionMemory
from atr_client.session.layers import named_layer
from atr_client.session.recorder import SessionRecorder
from atr_client.sweep.estimate import Estimate, priced, scaled
from atr_client.timing.chooser_agent import ChooserAgent
from atr_client.timing.choosers.chooser import User
from atr_client.timing.choosers.simple import Never
from atr_client.timing.history_pass import history_days, play_day
from atr_client.timing.note_tool import NotePad, writes_by_tools
from atr_client.timing.played_sitting import VARIANT
from atr_client.timing.sitting_loop import SittingLimits
from atr_client.timing.sitting_runner import SittingSettings, play_sitting
from atr_client.timing.timing_config import TimingConfig
from atr_client.timing.timing_players import ModelPlayer, chosen_players
from atr_client.timing.timing_results import stored_cells
from atr_data.calls import CallRecord, SessionEnd, SessionStart
from atr_data.timing.set_folder import UserFiles
from atr_data.trajectory import Message
from atr_data.usage import Usage
from atr_servers.timing.sitting import MemoryMode

Kind = Literal["learning", "test"]
CHARACTERS_PER_TOKEN, TOKENS_PER_REPLY, REPLIES_PER_DAY = 4, 60, 3
_DRY, _EARLIER = "a dry play of one user", "earlier sessions of the same model"


async def timing_estimate(config: TimingConfig, sample: UserFiles, users: int, root: Path) -> list[Estimate]:
    """One line per model, memory mode and window, whole cells from the start; players without a model cost
    nothing and have none. `sample` is one of the `users`. Raises ConfigError."""
    found: list[Estimate] = []
    for player in chosen_players(config):
        if not isinstance(player, ModelPlayer):
            continue
        for memory in dict.fromkeys(config.memory):
            for window in dict.fromkeys(config.history_window_s):
                settings = SittingSettings(
                    memory, window, config.observation, limits=SittingLimits(config.turn_budget)
                )
                counts = _sessions(sample, settings, users)
                dry: Mapping[Kind, Usage] = {}
                usages: list[Usage] = []
                sources: dict[str, str] = {}
                for kind, number in counts.items():
                    usage = _earlier(root, player.model_id, memory, window, kind)
                    sources[f"{kind} agent"] = _EARLIER if usage else _DRY
                    if usage is None:
                        dry = dry or await dry_play(sample, settings, config.memory_layer)
                        usage = dry[kind]
                    usages.append(priced(scaled(usage, number), player.entry.spec.model))
                name = f"memory {memory}, window {window} s"
                found.append(
                    Estimate(player.model_id, name, sum(counts.values()), sum(usages, Usage()), sources)
                )
    return found


def _sessions(sample: UserFiles, settings: SittingSettings, users: int) -> dict[Kind, int]:
    counts: dict[Kind, int] = {"test": users * len(sample.stream.header.sittings)}
    if settings.keeps_notes:
        counts["learning"] = users * len(history_days(sample.stream))
    return counts


def _earlier(root: Path, model: str, memory: MemoryMode, window: int, kind: Kind) -> Usage | None:
    """What one such session took, on average; None when there was none that told."""
    cells = [
        cell.folder
        for cell in stored_cells(root)
        if (cell.key.model, cell.key.memory, cell.key.history_window_s) == (model, memory, window)
    ]
    usages = [
        usage
        for trajectory in on_disk(cells)
        if trajectory.session_type == kind
        for usage in (trajectory.token_usage.get("agent"),)
        if usage and usage.calls and not usage.calls_without_usage
    ]
    return scaled(sum(usages, Usage()), 1 / len(usages)) if usages else None


async def dry_play(files: UserFiles, settings: SittingSettings, layer_name: str) -> dict[Kind, Usage]:
    """What one session of each kind would take, on average over a user's."""
    layer, nothing = named_layer(layer_name), SessionMemory.of_text(None)
    counters: dict[Kind, list[_Counting]] = {"test": [], "learning": []}
    user = User(files.stream, files.gold)

    def pad_of(recorder: SessionRecorder, *, of_day: bool) -> NotePad:
        return NotePad(nothing.unopened(recorder), not writes_by_tools(layer), of_day)

    for sitting in files.stream.header.sittings:
        recorder = SessionRecorder(_Nowhere(), 1, sitting.sitting_id, "test", VARIANT)
        pad = pad_of(recorder, of_day=False) if settings.keeps_notes else None
        agent = _Counting(ChooserAgent(Never(), user, sitting))
        counters["test"].append(agent)
        await play_sitting(agent, files, sitting.sitting_id, settings, recorder=recorder, pad=pad)
    for day, events in history_days(files.stream).items() if settings.keeps_notes else ():
        recorder = SessionRecorder(_Nowhere(), 1, day, "learning", VARIANT)
        agent = _Counting(None)
        counters["learning"].append(agent)
        await play_day(agent, day, events, pad_of(recorder, of_day=True))
    return {kind: _mean([one.usage for one in some]) for kind, some in counters.items()}


def _mean(usages: Sequence[Usage]) -> Usage:
    return scaled(sum(usages, Usage()), 1 / len(usages)) if usages else Usage()


@dataclass(slots=True)
class _Counting:
    """Counts what a model would read; without an `inner` player it says a few times that it has noted the
    day."""

    inner: ChooserAgent | None
    usage: Usage = field(default_factory=Usage)

    async def respond(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        replies = 1 if self.inner else REPLIES_PER_DAY
        characters = sum(len(message.content or "") for message in messages)
        characters += sum(len(tool.description) + len(str(tool.input_schema)) for tool in tools)
        self.usage += Usage(
            prompt_tokens=replies * (characters // CHARACTERS_PER_TOKEN),
            completion_tokens=replies * TOKENS_PER_REPLY,
            calls=replies,
        )
        return await self.inner.respond(messages, tools) if self.inner else ModelReply("Noted.")


class _Nowhere:
    """A call log that keeps nothing."""

    def append(self, record: CallRecord | SessionStart | SessionEnd) -> None: ...
