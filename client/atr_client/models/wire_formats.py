"""The wire formats: each is a module of its name in `wires`, and an entry here with the package it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Annotated

from pydantic import AfterValidator


@dataclass(frozen=True, slots=True)
class Sdk:
    """`extra` is the part of `atrbench` that brings it, `address` the variable that it reads by itself where
    no address is given."""

    module: str
    distribution: str
    extra: str
    address: str

    @property
    def version(self) -> str | None:
        """None when it is not installed."""
        try:
            return version(self.distribution) if find_spec(self.module) else None
        except (ModuleNotFoundError, PackageNotFoundError):
            return None


_OPENAI = Sdk("openai", "openai", "openai", "OPENAI_BASE_URL")

WIRE_FORMATS: Mapping[str, Sdk] = {
    "openai_responses": _OPENAI,
    "openai_chat": _OPENAI,
    "anthropic": Sdk("anthropic", "anthropic", "anthropic", "ANTHROPIC_BASE_URL"),
    "google": Sdk("google.genai", "google-genai", "google", "GOOGLE_GEMINI_BASE_URL"),
}


def _known(name: str) -> str:
    if name not in WIRE_FORMATS:
        *others, last = map(repr, WIRE_FORMATS)
        raise ValueError(f"Input should be {', '.join(others)} or {last}")
    return name


WireFormat = Annotated[str, AfterValidator(_known)]
"""The name of one of them."""
