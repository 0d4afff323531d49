"""Files that must outlast a crash, written by a thread: those that wait together share their syncs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.to_thread

from atr_client.errors import StoreFault
from atr_data.files import write_all_atomic


@dataclass(eq=False, slots=True)
class _Waiting:
    path: Path
    text: str
    done: bool = False
    problem: Exception | None = None


@dataclass(eq=False, slots=True)
class Commits:
    """One for all that may be written together. `then` is called whenever something was, and what is written
    does not count before it is through."""

    then: Callable[[], None] | None = None
    _waiting: list[_Waiting] = field(default_factory=list[_Waiting])
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def write(self, path: Path, text: str) -> None:
        """As `write_atomic`; other tasks go on meanwhile. A cancellation waits until the file is there."""
        mine = _Waiting(path, text)
        self._waiting.append(mine)
        with anyio.CancelScope(shield=True):
            async with self._lock:
                if not mine.done:
                    await self._write_all()
        if mine.problem is not None:
            raise mine.problem

    async def _write_all(self) -> None:
        batch, self._waiting = self._waiting, []
        files = [(one.path, one.text) for one in batch]
        problems = await anyio.to_thread.run_sync(self._written, files)
        for one, problem in zip(batch, problems, strict=True):
            one.done, one.problem = True, problem

    def _written(self, files: Sequence[tuple[Path, str]]) -> Sequence[Exception | None]:
        problems = write_all_atomic(files)
        try:
            if self.then:
                self.then()
        except (OSError, StoreFault) as error:
            return [problem or error for problem in problems]
        return problems
