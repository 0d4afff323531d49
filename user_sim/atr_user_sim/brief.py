"""What whoever plays the user of a learning session may see of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from atr_data.episode import Episode, GoldStep, LearningSession, Reference
from atr_user_sim.opening import opening_hint, task_type


@dataclass(frozen=True, slots=True)
class UserBrief:
    """The user's side of one learning session. No rule, label or structured persona is in it.

    `task_params` are the requirements, with a `{"value": ...}` wrapper taken off. `references` holds, by id,
    the objects that a requirement or an item of one names. `gold_trajectory` is the guided path.
    `task_type` and `hint` are all that the opening may say beside `reason_for_call`.
    """

    narrative: str
    reason_for_call: str
    task_params: Mapping[str, Any]
    gold_trajectory: tuple[GoldStep, ...]
    references: Mapping[str, Reference]
    task_type: str
    hint: Mapping[str, Any]

    @classmethod
    def of(cls, episode: Episode, session: LearningSession) -> UserBrief:
        task_params = {name: _unwrapped(value) for name, value in session.task_params.items()}
        named = {id_ for value in task_params.values() for id_ in mentioned_ids(value)}
        return cls(
            narrative=episode.raw_persona.narrative,
            reason_for_call=session.reason_for_call,
            task_params=task_params,
            gold_trajectory=tuple(session.gold_trajectory),
            references={ref.id: ref for ref in session.local_env.references if ref.id in named},
            task_type=task_type(session.gold_trajectory),
            hint=opening_hint(session.gold_trajectory, task_params),
        )


def mentioned_ids(value: Any) -> list[str]:
    """What in a requirement could name an object: the value itself, or the items of a list."""
    items = cast(list[Any], value) if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str)]


def _unwrapped(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    fields = cast(dict[str, Any], value)
    return fields["value"] if fields.keys() == {"value"} else fields
