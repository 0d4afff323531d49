"""What an environment is made of, taken from an episode's session, a request or a file of references."""

from __future__ import annotations

import hashlib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from atr_data.episode import Episode, LearningSession, PersonaProfile, Reference, TestSession
from atr_data.errors import DataError
from atr_data.load import describe, load_episode, read_json


class EnvironmentSpec(BaseModel):
    """The four arguments of `build_server`. Nothing of an episode's rules or labels has a place here.

    `allowed_tools` null: every tool of the domain.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    domain: str
    references: list[Reference]
    persona: PersonaProfile | None = None
    allowed_tools: list[str] | None = None


class Binding(BaseModel):
    """Tells one environment from every other: the digest is that of its spec.

    The ids are null for an environment made from a list of references.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    environment_sha256: str
    episode_id: str | None = None
    session_id: str | None = None


def episode_environment(
    path: Path, session_id: str, domain: str | None = None
) -> tuple[EnvironmentSpec, Binding]:
    """The environment of one session of an episode file.

    Raises DataError when the file cannot be used, the episode has no such session, or `domain` is given and
    is not the session's.
    """
    episode = read_episode(path)
    session = _session(episode, session_id, domain)
    spec = EnvironmentSpec(
        domain=session.domain,
        references=session.local_env.references,
        persona=episode.profile,
        allowed_tools=session.local_env.tools,
    )
    return spec, Binding(
        environment_sha256=_digest(spec), episode_id=episode.episode_id, session_id=session_id
    )


def references_environment(path: Path, domain: str) -> tuple[EnvironmentSpec, Binding]:
    """The environment of a JSON list of references, with every tool and no persona. Raises DataError."""
    data = read_json(_require(path))
    try:
        references = TypeAdapter(list[Reference]).validate_python(data)
    except ValidationError as error:
        key, reason = describe(error.errors(include_url=False)[0])
        raise DataError(reason, path=path, key=key) from error
    spec = EnvironmentSpec(domain=domain, references=references)
    return spec, Binding(environment_sha256=_digest(spec))


def read_episode(path: Path) -> Episode:
    """Raises DataError, with near matches when there is no such file."""
    return load_episode(_require(path))


def sessions_of(episode: Episode) -> list[LearningSession | TestSession]:
    """Learning sessions in the order in which they are run, then test sessions."""
    return [*episode.ordered_learning_sessions(), *episode.test_sessions]


def task_of(session: LearningSession | TestSession) -> dict[str, Any]:
    """What somebody needs who plays a session: ids, the task and the tools; nothing of rules or labels.

    `task_params` are the facts that the user of a learning session tells when asked.
    """
    learning = isinstance(session, LearningSession)
    return {
        "session_id": session.session_id,
        "session_type": session.session_type,
        "domain": session.domain,
        "task": session.reason_for_call if learning else session.instruction,
        **({"task_params": session.task_params} if learning else {}),
        "tools": session.local_env.tools,
    }


def _session(episode: Episode, session_id: str, domain: str | None) -> LearningSession | TestSession:
    sessions = sessions_of(episode)
    session = next((s for s in sessions if s.session_id == session_id), None)
    if session is None:
        near = get_close_matches(session_id, [s.session_id for s in sessions], n=5, cutoff=0.5)
        hint = f"near matches: {', '.join(near)}" if near else "`atr-server sessions` lists them"
        raise DataError(f"episode {episode.episode_id} has no session {session_id!r}; {hint}")
    if domain not in (None, session.domain):
        of_domain = [s.session_id for s in sessions if s.domain == domain]
        has = f"its {domain} sessions: {', '.join(of_domain)}" if of_domain else f"it has no {domain} session"
        raise DataError(
            f"session {session_id} of episode {episode.episode_id} is a {session.domain} session; {has}"
        )
    return session


def _require(path: Path) -> Path:
    if path.exists():
        return path
    near = get_close_matches(path.name, [p.name for p in path.parent.glob("*.json")], n=5, cutoff=0.5)
    raise DataError("no such file" + (f"; near matches: {', '.join(near)}" if near else ""), path=path)


def _digest(spec: EnvironmentSpec) -> str:
    """SHA-256 of everything that decides how the environment starts."""
    return hashlib.sha256(spec.model_dump_json().encode()).hexdigest()
