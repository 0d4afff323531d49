"""What a generated set is made from, and the refusal of settings that cannot work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from atr_data.timing.faults import TimingError

PUBLIC_SALT = "atr-timing-public-1"
Split = Literal["lite", "standard", "snapshot", "private"]
Process = Literal["calendar", "regular"]

USERS: dict[Split, int] = {"lite": 4, "standard": 40, "snapshot": 40, "private": 40}
SITTINGS: dict[Split, int] = {"lite": 3, "standard": 4, "snapshot": 4, "private": 4}


@dataclass(frozen=True, slots=True)
class Settings:
    """`follow` is the mean number of self-help events in an episode: the start of the search for `target_b`,
    or the number itself when `calibrate` is off. Times are seconds unless the name says otherwise."""

    seed: int = 0
    split: Split = "standard"
    salt: str = PUBLIC_SALT
    days: int = 20
    history_days: int = 16
    change_day: int = 9
    process: Process = "calendar"
    target_b: float = 0.787
    tolerance: float = 0.02
    calibrate: bool = True
    follow: float = 8.0
    need_if_face: float = 0.85
    need_otherwise: float = 0.05
    change_share: float = 0.4
    sceneless_share: float = 0.03
    back_to_work: float = 0.35
    sitting_decisions: int = 60

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def parameters(self) -> dict[str, str | int | float | bool | None]:
        """What a stream's header tells: everything but the salt."""
        names = [name for name in self.__slots__ if name not in ("salt", "seed", "split")]
        return {name: getattr(self, name) for name in names}


def check_settings(settings: Settings) -> None:
    """Raises TimingError `bad_config` for what no stream can be made of."""
    shares = {
        name: getattr(settings, name)
        for name in ("need_if_face", "need_otherwise", "change_share", "sceneless_share")
    } | {"back_to_work": settings.back_to_work}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            _refuse(f"{name} is {share}, no probability between 0 and 1")
    if settings.back_to_work == 0 or settings.sceneless_share == 1:
        _refuse("back_to_work must be above 0 and sceneless_share below 1")
    if settings.need_if_face / 3 + settings.need_otherwise * 2 / 3 + settings.sceneless_share > 1:
        _refuse("the need probabilities sum to more than 1")
    if not settings.tolerance > 0:
        _refuse(f"tolerance is {settings.tolerance}, must be above 0")
    if settings.days < 2:
        _refuse(f"days is {settings.days}, must be at least 2")
    if not 1 <= settings.history_days < settings.days:
        _refuse(f"history_days is {settings.history_days}, must leave a day for evaluation")
    if not settings.change_day >= 2:
        _refuse(f"change_day is {settings.change_day}, must be at least 2")
    if not -1 < settings.target_b < 1:
        _refuse(f"target_b is {settings.target_b}, must lie between -1 and 1")
    if not 1 <= settings.follow <= 60:
        _refuse(f"follow is {settings.follow}, must lie in 1..60")
    if settings.sitting_decisions < 40:
        _refuse("sitting_decisions must be at least 40, the length of the longest block")


def _refuse(reason: str) -> None:
    raise TimingError("bad_config", reason)
