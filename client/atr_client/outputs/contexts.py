"""The memory text that each session of a cell should have seen, made anew from its learning trajectories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from atr_client.session.readability import context_digest
from atr_data.episode import Episode
from atr_data.trajectory import Trajectory
from atr_data.variants import VARIANTS
from atr_memory import LAYERS, Entry, MemoryLayer, render_transcript


def contexts_of(
    episode: Episode, variant: str | None, layer: str | None
) -> Callable[[Sequence[Trajectory]], Mapping[str, str]]:
    """From the trajectories of a cell to SHA-256 by session id. Sessions behind a learning session that is
    missing are left out, and all of them where the variant or the layer is unknown."""

    def rebuilt(trajectories: Sequence[Trajectory]) -> Mapping[str, str]:
        if variant is None or variant not in VARIANTS or (layer or "context") not in LAYERS:
            return {}
        learned = {t.session_id: t for t in trajectories if t.session_type == "learning"}
        return _seen(episode, variant, LAYERS[layer or "context"], learned)

    return rebuilt


def _seen(
    episode: Episode, variant: str, layer: MemoryLayer, learned: Mapping[str, Trajectory]
) -> Mapping[str, str]:
    def digest(entries: Sequence[Entry]) -> str:
        return context_digest(layer.render(entries))

    statements = {rule.rule_id: Entry("prior", rule.canonical_answer) for rule in episode.rules}
    told = VARIANTS[variant].statements
    if told == "own":
        return {
            test.session_id: digest([statements[test.rule_id]])
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
            seen[session.session_id] = digest(entries)
            if text := render_transcript(learned[session.session_id].messages):
                entries.append(Entry("session", text, session.session_id))
    return seen | dict.fromkeys((test.session_id for test in episode.test_sessions), digest(entries))
