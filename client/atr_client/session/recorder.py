"""Writes one session's part of the call log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from atr_data.calls import CallRecord, CallSink, SessionEnd, SessionStart


@dataclass(frozen=True, slots=True)
class SessionRecorder:
    """Stamps each record with the session it belongs to. `attempt` counts from 1."""

    log: CallSink
    attempt: int
    session_id: str
    session_type: Literal["learning", "test"]
    variant: str

    def start(self) -> None:
        self.log.append(SessionStart(**self._stamp()))

    def end(self) -> None:
        """To be called once the session's trajectory is on disk."""
        self.log.append(SessionEnd(**self._stamp()))

    def call(
        self,
        *,
        turn_idx: int,
        call_id: str,
        caller: Literal["agent", "harness"],
        server: str,
        tool: str,
        arguments: dict[str, Any],
        result: str,
        is_error: bool,
        seconds: float,
        note: str | None = None,
        raw_arguments: str | None = None,
    ) -> None:
        """`seconds` is wall time; `result` is the text that came back, `raw_arguments` the text of arguments
        that could not be used."""
        self.log.append(
            CallRecord(
                **self._stamp(),
                turn_idx=turn_idx,
                call_id=call_id,
                caller=caller,
                server=server,
                tool=tool,
                arguments=arguments,
                result=result,
                is_error=is_error,
                seconds=round(seconds, 6),
                note=note,
                raw_arguments=raw_arguments,
            )
        )

    def _stamp(self) -> dict[str, Any]:
        return {
            "attempt": self.attempt,
            "session_id": self.session_id,
            "session_type": self.session_type,
            "variant": self.variant,
        }
