"""The error for data that cannot be used as it stands."""

from __future__ import annotations

from pathlib import Path


class DataError(Exception):
    """Says in one line which file, which key, and what is wrong with it."""

    def __init__(self, reason: str, *, path: Path | None = None, key: str | None = None) -> None:
        self.reason, self.path, self.key = reason, path, key
        super().__init__(": ".join(str(part) for part in (path, key, reason) if part is not None))
