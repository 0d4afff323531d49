"""The memory that each session of a cell should have seen, made anew from its learning trajectories."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from atr_client.outputs.stored_cells import CellRecord
from atr_client.session.layers import recorded_layer
from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_data.variants import VARIANTS
from atr_memory import Entry, FinishedSession, MemoryLayer, seen_text


def contexts_of(
    episode: Episode, variant: str | None, record: CellRecord
) -> Callable[[Sequence[Trajectory]], Mapping[str, str]]:
    """From the trajectories of a cell to SHA-256 by session id. Sessions behind a learning session that is
    missing are left out, and all of them where the variant or the layer is unknown, or what the layer keeps
    does not follow from transcripts."""

    def rebuilt(trajectories: Sequence[Trajectory]) -> Mapping[str, str]:
        layer = recorded_layer(record.memory_layer, record.memory)
        if variant is None or variant not in VARIANTS or layer is None:
            return {}
        learned = {t.session_id: t for t in trajectories if t.session_type == "learning"}
        return _seen(episode, variant, layer, learned)

    return rebuilt


def _seen(
    episode: Episode, variant: str, layer: MemoryLayer, learned: Mapping[str, Trajectory]
) -> Mapping[str, str]:
    statements = {rule.rule_id: Entry("prior", rule.canonical_answer) for rule in episode.rules}
    told, digests = VARIANTS[variant].statements, _GrowingText()
    if told == "own":
        return {
            test.session_id: digests.of(seen_text(layer, [statements[test.rule_id]], test.instruction))
            for test in episode.test_sessions
            if test.rule_id in statements
        }
    entries: list[Entry] = []
    seen: dict[str, str] = {}
    if told == "all":
        entries += [Entry("prior", rule.canonical_answer) for rule in episode.rules]
    else:
        for session in episode.ordered_learning_sessions():
            if session.session_id not in learned:
                return seen
            seen[session.session_id] = digests.of(seen_text(layer, entries))
            entries += left_by(layer, entries, learned[session.session_id])
    frozen = {
        test.session_id: digests.of(seen_text(layer, entries, test.instruction))
        for test in episode.test_sessions
    }
    return seen | frozen


class _GrowingText:
    """SHA-256 of texts, each of which is mostly the one before and more: what was digested stays so."""

    def __init__(self) -> None:
        self._text, self._digest = "", hashlib.sha256()

    def of(self, text: str) -> str:
        if not text.startswith(self._text):
            self._text, self._digest = "", hashlib.sha256()
        self._digest.update(text[len(self._text) :].encode())
        self._text = text
        return self._digest.hexdigest()


def left_by(layer: MemoryLayer, entries: Sequence[Entry], trajectory: Trajectory) -> list[Entry]:
    """What a layer that follows from transcripts keeps of a session, after these entries."""
    finished = FinishedSession(trajectory.session_id, trajectory.messages)
    text = layer.distil(entries, finished)
    return [Entry("session", text, trajectory.session_id)] if text else []
