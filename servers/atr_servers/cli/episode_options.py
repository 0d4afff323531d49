"""The options that name an episode and a session of it, and what the shell may offer after them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

_EPISODE = "A persona or episode id that ships with us, or the path of an episode file."


def _episodes(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    from atr_data.select import episode_files, packaged_episodes_dir

    names = sorted({name.rpartition("_seed")[0] for name in episode_files(packaged_episodes_dir())})
    found = [CompletionItem(name) for name in names if name.startswith(typed)]
    return found or [CompletionItem(typed, type="file")]


def _sessions(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """Those of the episode that was named before; nothing while there is none that can be read."""
    from atr_data import load_episode, named_episode
    from atr_data.errors import DataError

    try:
        episode = load_episode(named_episode(str(context.params.get("episode"))))
    except DataError:
        return []
    ids = [session.session_id for session in (*episode.ordered_learning_sessions(), *episode.test_sessions)]
    return [CompletionItem(session_id) for session_id in ids if session_id.startswith(typed)]


def episode_option(more_help: str = "", *, required: bool = False) -> Callable[[F], F]:
    """`--episode`, completed by the personas that ship."""
    return click.option(
        "--episode",
        metavar="EPISODE",
        required=required,
        shell_complete=_episodes,
        help=f"{_EPISODE} {more_help}".strip(),
    )


session_option = click.option(
    "--session", "session_id", metavar="ID", shell_complete=_sessions, help="A session of the episode."
)
