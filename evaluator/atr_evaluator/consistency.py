"""Whether the transcripts of a cell and its call log tell the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, TypedDict

from atr_data.calls import CallRecord
from atr_data.trajectory import Trajectory
from atr_evaluator.agent_calls import Attempt, TranscriptCall, transcript_calls


class Difference(TypedDict):
    """What is told of a session in two ways; "" for the session when it is about the log as a whole."""

    session_id: str
    what: str


def differences(
    trajectories: Mapping[str, Trajectory],
    attempts: Mapping[str, Attempt],
    *,
    variant: str | None,
    contexts: Mapping[str, str] | None = None,
) -> list[Difference]:
    """The first difference of each session, in the order of the trajectories.

    `trajectories` are those of a cell by the name of their file without its ending, `attempts` what its call
    log says, `variant` that of the cell (None: unknown), `contexts` the digest of the memory text that each
    session should have seen. A session without a trajectory is missing, and so not told of here.
    """
    found: list[Difference] = []
    for name, trajectory in trajectories.items():
        told = _told(name, trajectory, attempts.get(trajectory.session_id), variant, contexts or {})
        if (first := next(told, None)) is not None:
            found.append({"session_id": trajectory.session_id, "what": first})
    return found


def _told(
    name: str,
    trajectory: Trajectory,
    attempt: Attempt | None,
    variant: str | None,
    contexts: Mapping[str, str],
) -> Iterator[str]:
    if name != trajectory.session_id:
        yield f"the file {name}.json holds this session"
    if variant and trajectory.agent_variant != variant:
        yield f"the trajectory is of variant {trajectory.agent_variant!r}, the cell of {variant!r}"
    if attempt is None:
        yield "the call log has no finished attempt of it"
        return
    for what, ours, logged in (
        ("variant", trajectory.agent_variant, attempt.end.variant),
        ("session type", trajectory.session_type, attempt.end.session_type),
    ):
        if ours != logged:
            yield f"{what} is {ours!r} in the trajectory, {logged!r} in the call log"
    yield from _calls(transcript_calls(trajectory), attempt.calls)
    seen, wanted = trajectory.context_sha256, contexts.get(trajectory.session_id)
    if seen and wanted and seen != wanted:
        yield "its memory text is not what the learning trajectories give"


def _calls(told: Iterable[TranscriptCall], logged: Iterable[CallRecord]) -> Iterator[str]:
    for number, (ours, theirs) in enumerate(zip_longest(told, logged), start=1):
        if ours is not None and theirs is not None:
            for what in _unlike(ours, theirs):
                yield f"call {number} ({theirs.tool}): {what}"
        elif ours is not None:
            yield f"call {number} ({ours.call.name}) is not in the call log"
        elif theirs is not None:
            yield f"call {number} of the call log ({theirs.tool}) is not in the trajectory"


def _unlike(ours: TranscriptCall, theirs: CallRecord) -> Iterator[str]:
    call, answer = ours.call, ours.answer
    if call.name != theirs.tool:
        yield f"the trajectory has {call.name}"
    if call.id != theirs.call_id:
        yield f"its id is {call.id!r} in the trajectory, {theirs.call_id!r} in the call log"
    if ours.turn_idx != theirs.turn_idx:
        yield f"it stands in turn {ours.turn_idx}, in the call log in turn {theirs.turn_idx}"
    # What could not be read was answered with the reason, which the results below hold.
    if call.parse_error is None and _differ(call.arguments, theirs.arguments):
        yield "its arguments differ"
    if answer is None:
        yield "the trajectory has no result"
    elif answer.content != theirs.result:
        yield "its result differs"
    elif bool(answer.tool_error) != theirs.is_error:
        yield "one of both says that it failed"


def _differ(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    return repr(ours) != repr(theirs) and _text(ours) != _text(theirs)


def _text(arguments: dict[str, Any]) -> str:
    """In Python 1 equals True; on the wire it does not."""
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True)
