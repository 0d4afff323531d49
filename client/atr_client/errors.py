"""Everything that can go wrong in a run, as one tree: what a person must see, each in one line."""

from __future__ import annotations

from typing import Literal

Module = Literal["agent", "hook_retry", "router", "cls", "user_sim", "environment", "memory"]
"""The part of a cell that broke."""


class ClientError(Exception):
    """The root of the tree."""


class ConfigError(ClientError):
    """The command, the configuration or a path in it cannot be used as it stands."""


class CellError(ClientError):
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


class StoreFault(CellError):
    """A store of results refused something, or is not there. The message names the object and says why."""


class CellAbort(CellError):
    """Something around the agent broke, so nothing of the session in flight may be scored: it leaves no
    trajectory. Finished sessions stay. `module` says what broke."""

    def __init__(self, module: Module, session_id: str, reason: str) -> None:
        self.module, self.session_id, self.reason = module, session_id, reason
        super().__init__(f"{module} failed in session {session_id}: {reason}")


class StepError(ClientError):
    """A step that an episode cannot take: it is over, has not begun, or broke off before."""


class ModelError(ClientError):
    """A model call failed for good: retries are spent, or the provider refused it."""


class ModelStopped(ModelError):
    """The provider refuses the model for good, or for longer than anybody waits: no call to it is made any
    more. The message holds the provider's words."""


class DamagedRecording(ModelError):
    """A line of a replay's store cannot be read. The message names file and line."""


class NotRecorded(ModelError):
    """A replay's store has no such call. The message shows how the nearest recorded request differs."""


class OutOfTime(ModelError):
    """The session's time was over while an agent from outside had the word: an outcome, not a failure."""


class ContextOverflow(ModelError):
    """The conversation no longer fits the model's context: an outcome of the session, not a failure."""


class WireError(ClientError):
    """A call failed at the provider or on the way. `status` is the HTTP status, None when there was no
    answer; `retry_after` in seconds, as the provider asked. `final`: the provider would refuse every other
    call to the model too. The message is the provider's, without keys."""

    def __init__(
        self,
        reason: str,
        *,
        retryable: bool,
        final: bool = False,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.retryable, self.final = retryable, final
        self.status, self.retry_after = status, retry_after
        super().__init__(reason)
