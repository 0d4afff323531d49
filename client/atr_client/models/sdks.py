"""Which package each wire format needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from atr_client.models.wire import WireFormat


@dataclass(frozen=True, slots=True)
class Sdk:
    """`extra` is the part of `atrbench` that brings it."""

    module: str
    distribution: str
    extra: str

    @property
    def version(self) -> str | None:
        """None when it is not installed."""
        try:
            return version(self.distribution) if find_spec(self.module) else None
        except (ModuleNotFoundError, PackageNotFoundError):
            return None


_OPENAI = Sdk("openai", "openai", "openai")

SDKS: Mapping[WireFormat, Sdk] = {
    "openai_responses": _OPENAI,
    "openai_chat": _OPENAI,
    "anthropic": Sdk("anthropic", "anthropic", "anthropic"),
    "google": Sdk("google.genai", "google-genai", "google"),
}
