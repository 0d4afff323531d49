"""The error for timing data that cannot be used, with a code that scripts can tell apart."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from atr_data.errors import DataError

FaultCode = Literal["bad_stream", "gold_mismatch", "bad_config", "import_error"]


class TimingError(DataError):
    """`code` says what kind of input is at fault; `line` counts from 1."""

    def __init__(
        self, code: FaultCode, reason: str, *, path: Path | None = None, line: int | None = None
    ) -> None:
        self.code, self.line = code, line
        place = None if line is None else f"line {line}"
        super().__init__(f"{code}: {reason}", path=path, key=place)
