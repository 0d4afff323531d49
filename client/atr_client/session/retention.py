"""Whether the rule of a test is in the memory that the test has, could be found there, and was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from atr_client.errors import CellAbort
from atr_client.session.agent_memory import AgentMemory
from atr_client.session.readability import context_digest, folded, rule_readability
from atr_client.session.rewording import RewordedRules
from atr_data.episode import Episode, Rule, TestSession
from atr_data.trajectory import Readability, Retention, Trajectory
from atr_data.usage import count_usage
from atr_data.variants import VARIANTS
from atr_user_sim.interface import UserSimFault

Says = Callable[[str], Awaitable[bool | None]]
"""Whether a text of the memory says the rule; None where that cannot be told."""


async def note_retention(
    episode: Episode,
    session: TestSession,
    variant: str,
    memory: AgentMemory,
    trajectory: Trajectory,
    reworded: RewordedRules | None = None,
) -> None:
    """Writes into the trajectory of a test what its memory held of its rule. What the memory's tools have
    answered counts as read; of files that the agent reads by itself nothing is known. `reworded` judges what
    a layer keeps in other words than the user's; without it the words of the answer alone count.

    Raises CellAbort when the Classifier fails for good.
    """
    rule = episode.rule(session.rule_id)
    if rule is None or not folded(rule.canonical_answer):
        return
    view = memory.seen.view
    judged = reworded if view and view.layer.rewords else None
    read = "\n".join(filter(None, (memory.context, *memory.answers)))

    async def says(text: str) -> bool | None:
        if judged is None or holds(text, rule):
            return holds(text, rule)
        answer, usage = await judged.says(text, rule)
        count_usage(trajectory.token_usage, "classifier", usage)
        return answer

    try:
        retention = await _retention(session, rule, variant, memory, says)
        readable, how = rule_readability(episode, session, variant, read)
        if not readable and memory.offer is not None and memory.folder and not memory.offer.tools:
            readable, how = None, None
        elif not readable and judged is not None:
            # A memory that repeats what it is asked has not found it.
            readable = retention.stored is not False and await says(read)
            how = Readability(method="classifier", memory_sha256=context_digest(read))
        trajectory.rule_readable, trajectory.readability = readable, how
        trajectory.retention = retention
    except UserSimFault as fault:
        raise CellAbort(fault.module, session.session_id, str(fault)) from fault


async def _retention(
    session: TestSession, rule: Rule, variant: str, memory: AgentMemory, says: Says
) -> Retention:
    view = memory.seen.view
    if VARIANTS[variant].is_oracle:
        return Retention(stored=True, findable=True)
    if view is None:
        shown = holds(memory.context, rule)
        return Retention(stored=shown, findable=shown)
    kept = view.kept
    held = view.layer.stored(kept)
    stored = None if held is None else await says(held)
    found = view.layer.findable(kept, (session.instruction, rule.rule_text, rule.canonical_answer))
    findable = None if found is None else stored and await says(found)
    return Retention(stored=stored, findable=findable)


def holds(text: str | None, rule: Rule) -> bool:
    """Whether a text has the words of the rule's answer in a row."""
    return f" {folded(rule.canonical_answer)} " in f" {folded(text or '')} "
