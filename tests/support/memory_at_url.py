"""A memory server behind a URL, with one memory for all, that can be frozen and set back by tools."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from mcp.server import MCPServer

from atr_servers.hosts.serve_http import serving


@dataclass
class Ledger:
    """`names_snapshots`: whether freezing answers with a name."""

    names_snapshots: bool = True
    texts: list[str] = field(default_factory=list)
    snapshots: dict[str, list[str]] = field(default_factory=dict)

    def remember(self, text: str) -> str:
        """Keep a text."""
        self.texts.append(text)
        return "kept"

    def recall(self, query: str) -> str:
        """Texts that share a word with the query."""
        words = set(query.lower().split())
        return json.dumps([text for text in self.texts if words & set(text.lower().split())])

    def keep_state(self) -> str:
        """Name the memory as it is now."""
        name = f"state-{len(self.snapshots)}"
        self.snapshots[name] = list(self.texts)
        return name if self.names_snapshots else ""

    def set_back(self, snapshot: str) -> str:
        """Make the memory what it was under a name."""
        self.texts = list(self.snapshots[snapshot])
        return "as it was"

    @asynccontextmanager
    async def at_url(self) -> AsyncGenerator[str]:
        server = MCPServer("ledger", version="1", log_level="ERROR")
        for tool in (self.remember, self.recall, self.keep_state, self.set_back):
            server.add_tool(tool)
        async with serving(server.streamable_http_app()) as base:
            yield f"{base}/mcp"
