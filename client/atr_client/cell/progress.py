"""What a run tells of itself while it goes on. Whoever shows it implements this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from atr_client.outputs.layout import CellKey
from atr_data.trajectory import Trajectory


class Progress(Protocol):
    """Told of every step in the order in which they happen; cells may interleave."""

    def cell_started(self, key: CellKey, sessions: int) -> None: ...

    def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None: ...

    def cell_done(self, key: CellKey, row: Mapping[str, Any]) -> None: ...

    def model_waits(self, model_id: str, seconds: float, reason: str) -> None:
        """A call to a model waits for more than a moment."""
        ...


class Silent:
    """Shows nothing."""

    def cell_started(self, key: CellKey, sessions: int) -> None: ...

    def session_done(self, key: CellKey, trajectory: Trajectory, *, reused: bool) -> None: ...

    def cell_done(self, key: CellKey, row: Mapping[str, Any]) -> None: ...

    def model_waits(self, model_id: str, seconds: float, reason: str) -> None: ...
