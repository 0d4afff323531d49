"""Public names of a package that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def loaded_on_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """What a package takes for its `__getattr__`, from each public name to the module below that has it: a
    command's `--help` waits neither for pydantic nor for the MCP SDK, and who reads transcripts for neither
    server nor agent."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load
