"""How a domain server can be reached, by name: configurations and manifests need no more than that."""

from __future__ import annotations

from typing import Literal

TransportName = Literal["in-process", "stdio", "http"]
