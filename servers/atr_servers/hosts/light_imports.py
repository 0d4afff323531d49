"""Importing the MCP SDK for stdio alone, in about half the time that all of it takes.

The packages of the SDK import each other's everything: its client, its high-level server and, with them, two
HTTP stacks. A client that starts a server process per session waits for all that before the first answer.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_DEFERRED = frozenset({"mcp", "mcp.server", "mcp.server.lowlevel"})
"""Packages whose `__init__` only gathers names from their modules."""

_HTTP_ONLY = (
    "starlette",
    "mcp.server.auth",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
    "mcp.server.transport_security",
)
"""What the low-level server needs for `streamable_http_app` and for nothing else."""

_OPTIONAL = frozenset({"rich"})
"""What structlog does without: it colours tracebacks on a terminal."""


@contextmanager
def light_imports() -> Generator[None]:
    """Inside, the SDK is imported without what stdio does not need, unless it is there already.

    A deferred package fills itself at the first name that somebody misses in it, and a message type of the
    protocol builds its validator when it is first used. The low-level server imported here makes no HTTP app.
    """
    if "mcp" in sys.modules:
        yield
        return
    from pydantic import BaseModel

    finder = _LightFinder()
    sys.meta_path.insert(0, finder)
    gc.disable()
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        gc.enable()
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Placeholder)]:
            del sys.modules[name]


class _LightFinder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in _OPTIONAL:
            raise ModuleNotFoundError(f"{fullname} is not imported here", name=fullname)
        if any(f"{fullname}.".startswith(f"{name}.") for name in _HTTP_ONLY):
            return ModuleSpec(fullname, _Bare(_Placeholder), is_package=True)
        if fullname not in _DEFERRED or not (spec := PathFinder.find_spec(fullname, path)):
            return None
        bare = ModuleSpec(fullname, _Bare(_Deferred), origin=spec.origin, is_package=True)
        bare.submodule_search_locations = spec.submodule_search_locations
        return bare


class _Bare(Loader):
    """Makes a module and runs nothing."""

    def __init__(self, kind: type[ModuleType]) -> None:
        self._kind = kind

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._kind(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Placeholder(ModuleType):
    """Has a class of any name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _Deferred(ModuleType):
    """A package without what its `__init__` defines, until somebody asks for that."""

    def __getattr__(self, name: str) -> Any:
        spec = PathFinder.find_spec(self.__name__, _parent_path(self.__name__))
        is_filled = not isinstance(self.__loader__, _Bare)
        if name.startswith("__") or is_filled or spec is None or spec.loader is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__spec__, self.__loader__, self.__file__ = spec, spec.loader, spec.origin
        spec.loader.exec_module(self)
        return getattr(self, name)


def _parent_path(name: str) -> Any:
    parent = name.rpartition(".")[0]
    return sys.modules[parent].__path__ if parent else None
