"""A group of commands that is imported when one of them is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

import click


class LazyGroup(click.Group):
    """`home` is `package.module:group`. `help` is given, so that the help above it need not load it."""

    def __init__(self, name: str, home: str, help: str) -> None:
        super().__init__(name, help=help)
        self._home = home

    def _loaded(self) -> click.Group:
        module, _, name = self._home.partition(":")
        return cast(click.Group, getattr(import_module(module), name))

    def list_commands(self, ctx: click.Context) -> list[str]:
        return self._loaded().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Any:
        return self._loaded().get_command(ctx, cmd_name)
