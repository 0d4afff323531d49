"""Streams with their gold, one user after the other, and whole sets of them on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from atr_data.timing.burstiness import burstiness, finite_burstiness
from atr_data.timing.events import MeasuredBurstiness, SourceNote, Stream, StreamHeader, WorkEvent
from atr_data.timing.faults import TimingError
from atr_data.timing.gold import Gold, GoldHeader, Need
from atr_data.timing.set_folder import save_index, save_user
from atr_data.timing.stream_file import body_hash, gold_lines
from atr_datagen.timing.base import Base, compile_base
from atr_datagen.timing.calibrate import Calibration, calibrate
from atr_datagen.timing.clock import midnight, moment
from atr_datagen.timing.habits import Faces
from atr_datagen.timing.help_episodes import Timeline, lay_episodes, render_episode, seconds
from atr_datagen.timing.lexicon import PUBLIC_LEXICON, Lexicon, check_private, load_lexicon
from atr_datagen.timing.needs import decide_needs
from atr_datagen.timing.settings import USERS, Settings
from atr_datagen.timing.sittings import cut_sittings
from atr_datagen.timing.snapshot_set import as_snapshots

_DRAWS = 4


@dataclass(frozen=True, slots=True)
class UserSet:
    """One user's stream and gold."""

    stream: Stream
    gold: Gold


def decide(base: Base, settings: Settings, lexicon: Lexicon) -> UserSet:
    """A base under the settings' salt: needs, episodes, burstiness."""
    scenes, needs = decide_needs(base, settings, lexicon)
    found, laid = _calibrated(Timeline.of(base), needs, settings)
    help_events = [
        event
        for need, moments in zip(needs, laid, strict=True)
        for event in render_episode(base, settings, need, moments)
    ]
    events = sorted([*base.events, *help_events], key=lambda event: (event.t_release, event.event_id))
    stream = Stream(header=_header(base, settings, events, found.follow), events=tuple(events))
    habits = Faces(settings, lexicon, base.user_id).habits(base.kinds)
    secret = settings.split == "private"
    header = GoldHeader(
        user_id=base.user_id,
        stream_sha256=stream.header.sha256,
        sha256=body_hash(gold_lines(habits, scenes, needs)),
        salt=None if secret else settings.salt,
        salt_digest=sha256(settings.salt.encode()).hexdigest() if secret else None,
    )
    return UserSet(
        stream, Gold(header=header, habits=tuple(habits), scenes=tuple(scenes), needs=tuple(needs))
    )


def _calibrated(
    timeline: Timeline, needs: Sequence[Need], settings: Settings
) -> tuple[Calibration, list[list[float]]]:
    """Episodes with the burstiness that is wanted. A user with few needs may miss it whatever the length of
    episodes, about one in four hundred: then they are drawn anew. Raises what the first draw raised."""
    missed: TimingError | None = None
    for draw in range(_DRAWS):

        def moments_at(follow: float, draw: int = draw) -> list[float]:
            laid = lay_episodes(timeline, needs, settings, follow, draw)
            return sorted(moment for episode in laid for moment in episode)

        try:
            found = calibrate(moments_at, settings)
        except TimingError as error:
            missed = missed or error
        else:
            return found, lay_episodes(timeline, needs, settings, found.follow, draw)
    assert missed
    raise missed


def _header(base: Base, settings: Settings, events: list[WorkEvent], follow: float) -> StreamHeader:
    asked = [seconds(event) for event in events if event.self_help]
    measured = MeasuredBurstiness(
        self_help=burstiness(asked),
        self_help_finite=finite_burstiness(asked),
        all_events=burstiness([seconds(event) for event in events]),
        self_help_events=len(asked),
    )
    return StreamHeader(
        user_id=base.user_id,
        role=base.desk.role,
        first_evaluation_day=moment(midnight(settings.history_days + 1)),
        source=SourceNote(
            kind="generated",
            split=settings.split,
            seed=settings.seed,
            parameters=settings.parameters | {"job": base.walk.chronicle.job, "follow": round(follow, 4)},
        ),
        burstiness=measured,
        sittings=cut_sittings(base, settings),
        sha256=body_hash(events),
    )


def generate(
    settings: Settings, *, lexicon_folder: Path = PUBLIC_LEXICON, users: int | None = None
) -> Iterator[UserSet]:
    """A set's users, one at a time. `users` overrides the number that the split has.

    Raises TimingError `bad_config`; for a private set with the published salt or lexicon, too.
    """
    lexicon = load_lexicon(lexicon_folder)
    if settings.split == "private":
        check_private(settings.salt, lexicon, lexicon_folder)
    for number in range(users or USERS[settings.split]):
        made = decide(compile_base(settings, lexicon, number), settings, lexicon)
        if settings.split == "snapshot":
            made = UserSet(as_snapshots(made.stream, made.gold), made.gold)
        yield made


def write_set(
    settings: Settings, folder: Path, *, lexicon_folder: Path = PUBLIC_LEXICON, users: int | None = None
) -> list[Path]:
    """Writes stream, gold and priors of each user and `set.json`, which names them. Nothing is written when
    the settings are refused at the first user; a set without `set.json` is not complete."""
    written: list[Path] = []
    hashes: dict[str, str] = {}
    for made in generate(settings, lexicon_folder=lexicon_folder, users=users):
        written.extend(save_user(made.stream, made.gold, folder))
        hashes[made.stream.header.user_id] = made.stream.header.sha256
    return [*written, save_index(hashes, folder, split=settings.split, seed=settings.seed)]
