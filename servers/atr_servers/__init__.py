"""Domain tool environments and the MCP servers that expose them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from atr_data.lazy_names import loaded_on_use

if TYPE_CHECKING:
    from atr_servers.environment import Environment
    from atr_servers.server import build_server, serve_environment

__all__ = ["Environment", "build_server", "serve_environment"]

__getattr__ = loaded_on_use(
    __name__,
    {"Environment": "environment", "build_server": "server", "serve_environment": "server"},
)
