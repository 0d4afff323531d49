"""What was played of one user, and the hash by which sets are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from atr_data.timing.decisions import SittingLog
from atr_data.timing.events import Stream
from atr_data.timing.faults import TimingError
from atr_data.timing.gold import Gold
from atr_data.timing.stream_file import check_gold


@dataclass(frozen=True, slots=True)
class UserPlay:
    """One user's stream and gold, and the logs of the sittings that were played; others count as silence."""

    stream: Stream
    gold: Gold
    logs: tuple[SittingLog, ...] = ()


def check_play(play: UserPlay) -> None:
    """Raises TimingError `gold_mismatch` when the gold or a log belongs to another stream."""
    check_gold(play.gold, play.stream)
    if any(log.stream_sha256 != play.stream.header.sha256 for log in play.logs):
        raise TimingError("gold_mismatch", f"a log of {play.stream.header.user_id!r} is of another stream")


def set_hash(plays: Iterable[UserPlay]) -> str:
    """Two results may stand in one table only when these agree, and the rules."""
    lines = sorted(
        f"{play.stream.header.sha256} {play.gold.header.sha256} {_sittings(play.stream)}" for play in plays
    )
    return sha256("\n".join(lines).encode()).hexdigest()


def _sittings(stream: Stream) -> str:
    told = "\n".join(sitting.model_dump_json() for sitting in stream.header.sittings)
    return sha256(told.encode()).hexdigest()
