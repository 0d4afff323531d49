"""Debiasing: the order in which a session's objects are listed, drawn by hash.

Where the right object tends to stand first, an agent that takes the first one scores without knowing a rule.
"""

from __future__ import annotations

import hashlib
from typing import TypeVar

from atr_data.episode import Episode, LearningSession, Reference, TestSession

SessionT = TypeVar("SessionT", LearningSession, TestSession)


def shuffle_references(episode: Episode, seed: int) -> Episode:
    """The episode with the references of every session in the order of SHA-256 over seed, session id and
    reference id. The order on file does not matter; nothing else changes."""
    return episode.model_copy(
        update={
            "learning_sessions": [_shuffled(session, seed) for session in episode.learning_sessions],
            "test_sessions": [_shuffled(session, seed) for session in episode.test_sessions],
        }
    )


def _shuffled(session: SessionT, seed: int) -> SessionT:
    def position(reference: Reference) -> bytes:
        return hashlib.sha256(f"{seed}\0{session.session_id}\0{reference.id}".encode()).digest()

    references = sorted(session.local_env.references, key=position)
    local_env = session.local_env.model_copy(update={"references": references})
    return session.model_copy(update={"local_env": local_env})


def reordered(episode: Episode, seed: int | None) -> Episode:
    """With the references shuffled by the seed, or as it is without one."""
    return episode if seed is None else shuffle_references(episode, seed)
