"""Failures of a run that a person has to see, each in one line."""

from __future__ import annotations


class ConfigError(Exception):
    """The command, the configuration or a path in it cannot be used as it stands."""


class CellError(Exception):
    """A cell cannot run, or cannot go on; other cells are not touched by it."""


class CellBusy(CellError):
    """Another process is writing to the cell."""


class ManifestMismatch(CellError):
    """The folder holds sessions that were made by a different run. `fields` names what differs."""

    def __init__(self, message: str, fields: tuple[str, ...]) -> None:
        self.fields = fields
        super().__init__(message)


class PreflightError(CellError):
    """An oracle variant needs a statement that the episode does not have."""


class BudgetReached(CellError):
    """The sweep has cost what `limits.cost_usd` allows; no further session begins."""
