"""The tool of every domain."""

from __future__ import annotations

from typing import Any

from atr_servers.domains.tables import State


def get_user_confirmation(
    state: State, *, target_tool: str, target_params: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Confirms whatever is announced; neither value is looked up."""
    return {"confirmed": True, "target_tool": target_tool, "target_params": target_params or {}}
