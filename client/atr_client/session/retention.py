"""Whether the rule of a test is in the memory that the test has, could be found there, and was."""

from __future__ import annotations

from atr_client.session.agent_memory import AgentMemory
from atr_client.session.readability import folded, rule_readability
from atr_data.episode import Episode, Rule, TestSession
from atr_data.trajectory import Retention, Trajectory
from atr_data.variants import VARIANTS
from atr_memory.view import MemoryView


def note_retention(
    episode: Episode, session: TestSession, variant: str, memory: AgentMemory, trajectory: Trajectory
) -> None:
    """Writes into the trajectory of a test what its memory held of its rule. What the memory's tools have
    answered counts as read; of files that the agent reads by itself nothing is known."""
    rule, view = episode.rule(session.rule_id), memory.seen.view
    if rule is None or view is None or not folded(rule.canonical_answer):
        return
    if memory.offer is not None:
        read = "\n".join(filter(None, (memory.context, *memory.answers)))
        readable, how = rule_readability(episode, session, variant, read)
        if memory.folder is not None and not memory.offer.tools and not readable:
            readable, how = None, None
        trajectory.rule_readable, trajectory.readability = readable, how
    trajectory.retention = _retention(session, rule, variant, view)


def _retention(session: TestSession, rule: Rule, variant: str, view: MemoryView) -> Retention:
    if VARIANTS[variant].is_oracle:
        return Retention(stored=True, findable=True)
    kept = view.kept
    stored = holds(view.layer.stored(kept), rule)
    found = view.layer.findable(kept, (session.instruction, rule.rule_text, rule.canonical_answer))
    # A memory that repeats what it is asked has not found it.
    return Retention(stored=stored, findable=None if found is None else stored and holds(found, rule))


def holds(text: str, rule: Rule) -> bool:
    """Whether a text has the words of the rule's answer in a row."""
    return f" {folded(rule.canonical_answer)} " in f" {folded(text)} "
