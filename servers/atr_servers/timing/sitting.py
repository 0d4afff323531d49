"""One sitting's state: which event is current, what has been decided, which calls were refused.

It holds the stream and never the gold. Replay is open loop: an offer of help changes nothing that follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from atr_data.timing.decisions import Assist, Decision, SittingLog, SittingStatus
from atr_data.timing.events import Stream, WorkEvent

MemoryMode = Literal["off", "search", "priors", "own"]
Observation = Literal["text", "text+screenshots"]
ErrorCode = Literal[
    "no_sitting",
    "finished",
    "wrong_event",
    "already_decided",
    "no_decision_here",
    "bad_argument",
    "not_available",
    "aborted",
]
ERRORS_IN_A_ROW = 5


class Refused(Exception):
    """A call that the sitting does not grant. The stream stays where it is."""

    def __init__(self, code: ErrorCode, message: str, hint: str) -> None:
        self.code: ErrorCode = code
        self.message, self.hint = message, hint
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Step:
    """What a decision released: the events in between, then the next one to decide on, None at the end."""

    passed: tuple[WorkEvent, ...]
    current: WorkEvent | None


class SittingState:
    """Moves through one sitting as decisions come in, and keeps the log."""

    def __init__(self, stream: Stream, sitting_id: str) -> None:
        """Raises KeyError when the stream has no such sitting."""
        self.stream = stream
        self.sitting = stream.sitting(sitting_id)
        self.events = stream.events_of(self.sitting)
        self._places = {event.event_id: index for index, event in enumerate(self.events)}
        self._first = self._places[self.sitting.decide_from] if self.sitting.decide_from else 0
        self._started = False
        self._place = -1
        self._decisions: dict[str, Decision] = {}
        self._errors = Counter[str]()
        self._in_a_row = 0
        self._aborted = False

    @property
    def current(self) -> WorkEvent | None:
        """The event to decide on, None before the start and after the end."""
        inside = self._started and not self._aborted and self._place < len(self.events)
        return self.events[self._place] if inside else None

    @property
    def released(self) -> Sequence[WorkEvent]:
        """All events of the sitting that have been shown."""
        return self.events[: self._place + 1] if self._started else ()

    @property
    def left(self) -> int:
        """Decisions still to be made."""
        return sum(not event.self_help for event in self.events[max(self._first, self._place) :])

    @property
    def decided(self) -> int:
        """Decisions made so far."""
        return len(self._decisions)

    @property
    def status(self) -> SittingStatus:
        """`running` until the last decision is made or the sitting is aborted."""
        if self._aborted:
            return "aborted"
        return "finished" if self._ended else "running"

    def start(self) -> Step:
        """Raises Refused when the sitting has begun."""
        if self._started:
            self.check_running()
            raise Refused("bad_argument", "this sitting has begun", "decide on the current event")
        self._started = True
        return self._advance()

    def decide(self, event_id: str, assist: Assist | None, confidence: float | None, events: int = 1) -> Step:
        """One decision, or silence over several events. Raises Refused and stays where it is."""
        self._check_current(event_id)
        passed: list[WorkEvent] = []
        for number in range(events):
            current = self.current
            if current is None:
                break
            if number:
                passed.append(current)
            self._note(current, assist, confidence)
            step = self._advance()
            passed.extend(step.passed)
        return Step(tuple(passed), self.current)

    def pass_silently(self) -> Step:
        """The agent answered with text, twice: silence for this event, marked as not its own word."""
        current = self.current
        if current is None:
            self.check_running()
            raise Refused("no_sitting", "no sitting has begun", "call start_sitting first")
        self._decisions[current.event_id] = Decision(event_id=current.event_id, implicit=True)
        return self._advance()

    def abort(self) -> None:
        """Ends the sitting; what is left counts as silence."""
        self._aborted = True

    def count_error(self, code: ErrorCode) -> bool:
        """Notes a refused call; True when it was one too many and the sitting has been aborted."""
        self._errors[code] += 1
        self._in_a_row += 1
        if self._in_a_row >= ERRORS_IN_A_ROW and not self._ended:
            self.abort()
            return True
        return False

    def count_success(self) -> None:
        self._in_a_row = 0

    def log(self) -> SittingLog:
        """What was decided so far."""
        return SittingLog(
            user_id=self.stream.header.user_id,
            sitting_id=self.sitting.sitting_id,
            stream_sha256=self.stream.header.sha256,
            decisions=tuple(self._decisions.values()),
            status=self.status,
            protocol_errors=dict(self._errors),
        )

    @property
    def _ended(self) -> bool:
        return self._started and self._place >= len(self.events)

    def _advance(self) -> Step:
        passed: list[WorkEvent] = []
        self._place += 1
        while self._place < len(self.events) and (
            self.events[self._place].self_help or self._place < self._first
        ):
            passed.append(self.events[self._place])
            self._place += 1
        return Step(tuple(passed), self.current)

    def _note(self, event: WorkEvent, assist: Assist | None, confidence: float | None) -> None:
        self._decisions[event.event_id] = Decision(
            event_id=event.event_id, assist=assist, confidence=confidence
        )

    def check_running(self) -> None:
        """Raises Refused once the sitting is over or aborted."""
        if self._aborted:
            raise Refused("aborted", "this sitting was aborted", "nothing can be decided any more")
        if self._ended:
            raise Refused("finished", "this sitting is over", "nothing is left to decide")

    def _check_current(self, event_id: str) -> None:
        if not self._started:
            raise Refused("no_sitting", "no sitting has begun", "call start_sitting first")
        if event_id in self._decisions:
            raise Refused("already_decided", f"{event_id} has been decided", "the first decision stands")
        self.check_running()
        place = self._places.get(event_id)
        if place is not None and place < self._place and self.events[place].self_help:
            raise Refused(
                "no_decision_here",
                f"on {event_id} the user helps himself, no decision is asked for",
                "decide on the event under `current`",
            )
        current = self.current
        if current is None or current.event_id != event_id:
            shown = event_id[:60].encode(errors="backslashreplace").decode()
            raise Refused(
                "wrong_event", f"{shown!r} is not the current event", "use the event_id under `current`"
            )
