"""The failure that ends a cell: something around the agent broke, so nothing of it may be scored."""

from __future__ import annotations

from typing import Literal

Module = Literal["agent", "hook_retry", "router", "cls", "user_sim", "environment", "memory"]


class CellAbort(Exception):
    """The session in flight leaves no trajectory; finished sessions stay. `module` says what broke."""

    def __init__(self, module: Module, session_id: str, reason: str) -> None:
        self.module, self.session_id, self.reason = module, session_id, reason
        super().__init__(f"{module} failed in session {session_id}: {reason}")
