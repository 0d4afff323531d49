"""Whether an episode can be played: what `run` and `play_episode` refuse, and `validate` tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from atr_data import DataError, Episode, Finding, load_episode, validate_episode
from atr_data.reading import StrPath
from atr_servers.environment import Environment


def findings_of(path: StrPath) -> list[Finding]:
    """All there is to say about an episode's file, errors first: what stands in it, and whether the
    environment of every session can be built."""
    found = validate_episode(path)
    if any(finding.blocks for finding in found):
        return found
    unbuilt = [Finding("error", key, problem) for key, problem in _unbuilt(load_episode(path))]
    return [*unbuilt, *found]


def load_playable(path: StrPath) -> Episode:
    """The episode in a file. Raises DataError for the first error that keeps it from being played as it is
    written, and says how many more there are."""
    blocking = [finding for finding in findings_of(path) if finding.blocks]
    if blocking:
        first = blocking[0]
        more = f" (and {len(blocking) - 1} more; `atr-client validate` lists them)" if blocking[1:] else ""
        key = None if first.key == "file" else first.key
        raise DataError(f"{first.message}{more}", path=Path(path), key=key)
    return load_episode(path)


def _unbuilt(episode: Episode) -> Iterator[tuple[str, str]]:
    for kind, sessions in (
        ("learning_sessions", episode.learning_sessions),
        ("test_sessions", episode.test_sessions),
    ):
        for session in sessions:
            env = session.local_env
            try:
                Environment.build(session.domain, env.references, episode.profile, env.tools)
            except ValueError as error:
                yield f"{kind}[{session.session_id}].local_env", str(error)
