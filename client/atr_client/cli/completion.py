"""What the shell may offer after an option: names that ship with us, else files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _names(known: Callable[[], Iterable[str]], *, files: bool = False) -> Completer:
    def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in known() if name.startswith(typed)]
        return found or ([CompletionItem(typed, type="file")] if files else [])

    return complete


def _configs() -> Iterable[str]:
    from atr_client.sweep.config_file import packaged_configs

    return packaged_configs()


def _variants() -> Iterable[str]:
    from atr_data.variants import VARIANTS

    return VARIANTS


def _personas() -> Iterable[str]:
    from atr_data.select import episode_files, packaged_episodes_dir

    return sorted({name.rpartition("_seed")[0] for name in episode_files(packaged_episodes_dir())})


configs = _names(_configs, files=True)
variants = _names(_variants)
personas = _names(_personas, files=True)
