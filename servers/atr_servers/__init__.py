"""Domain tool environments and the MCP servers that expose them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from atr_servers.environment import Environment
    from atr_servers.server import build_server, serve_environment

__all__ = ["Environment", "build_server", "serve_environment"]

_HOME = {"Environment": "environment", "build_server": "server", "serve_environment": "server"}


def __getattr__(name: str) -> Any:
    """Loads the public names on first use: a command's `--help` must not wait for the MCP SDK."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
