"""The options of the commands that let agents play from outside.

What a command needs is imported when it is called, so that `--help` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from atr_client.cli.completion import configs, personas
from atr_client.cli.completion import variants as variant_names

_FILE = click.Path(path_type=Path)


HTTP = click.option("--http", is_flag=True, help="Serve over HTTP instead of standard input and output.")
HOST = click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to.")
TOKEN_ENV = click.option("--token-env", metavar="NAME", help="Environment variable with a bearer token.")
ALLOW_HOST = click.option("--allow-host", multiple=True, metavar="NAME", help="A name clients may use.")


@click.command()
@click.argument("episodes", metavar="EPISODE...", nargs=-1, required=True, shell_complete=personas)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    default=["atr"],
    show_default=True,
    shell_complete=variant_names,
    help="Variant to play.",
)
@click.option(
    "--memory",
    "layer",
    default="context",
    show_default=True,
    help="Memory layer: context, none, notes, retrieval or rules, or one that `memory` of --config names.",
)
@click.option(
    "--agent",
    default="external",
    show_default=True,
    help="What tables call the agent. human: a person plays it, in a page with the tools as forms.",
)
@click.option(
    "--user",
    type=click.Choice(["simulated", "human"]),
    default="simulated",
    show_default=True,
    help="Who plays the user.",
)
@click.option(
    "--user-at",
    type=click.Choice(["page", "terminal", "client"]),
    default="page",
    show_default=True,
    help="Where a human user is asked: in a page, at this terminal, by the agent's own client.",
)
@click.option(
    "--mode",
    type=click.Choice(["learn", "test", "episode"]),
    default="episode",
    show_default=True,
    help="Which part to play.",
)
@click.option(
    "--all-tools/--session-tools", "all_tools", default=None, help="List every tool from the start."
)
@click.option("--episodes", "folder", type=_FILE, help="Folder in which episodes are looked for.")
@click.option("--outputs", type=_FILE, help="Folder that is written to.")
@click.option("--config", shell_complete=configs, help="A configuration that says who plays the user.")
@click.option("--max-steps", type=click.IntRange(1), help="Calls per session.  [default: 20]")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds per session.")
@click.option("--fresh", is_flag=True, help="Start over: what is on disk is removed.")
@click.option("--allow-stale-resume", is_flag=True, help="Go on with sessions of a different run.")
@HTTP
@HOST
@click.option("--port", type=click.IntRange(0, 65535), default=8766, show_default=True, help="0: a free one.")
@TOKEN_ENV
@ALLOW_HOST
def play(
    episodes: tuple[str, ...],
    variants: tuple[str, ...],
    layer: str,
    agent: str,
    user: Literal["simulated", "human"],
    user_at: Literal["page", "terminal", "client"],
    mode: Literal["learn", "test", "episode"],
    all_tools: bool | None,
    folder: Path | None,
    outputs: Path | None,
    config: str | None,
    max_steps: int | None,
    timeout: float | None,
    fresh: bool,
    allow_stale_resume: bool,
    http: bool,
    host: str,
    port: int,
    token_env: str | None,
    allow_host: tuple[str, ...],
) -> None:
    """Serve an episode to an MCP agent, which plays it through tools.

    EPISODE is a path or a selector. The same command again goes on where it stopped. Over HTTP there may be
    several episodes and variants; each has an address, and so has each test session.
    """
    from atr_client.cli.play_command import PlayRequest, play_command
    from atr_client.cli.served import HttpRequest

    play_command(
        PlayRequest(
            episodes=episodes,
            variants=variants,
            layer=layer,
            agent=agent,
            human_user=user == "human",
            user_at=user_at,
            mode=mode,
            all_tools=all_tools,
            folder=folder,
            outputs=outputs,
            config=config,
            max_steps=max_steps,
            timeout=timeout,
            fresh=fresh,
            allow_stale_resume=allow_stale_resume,
            http=HttpRequest(host, port, token_env, allow_host) if http else None,
        )
    )


@click.command("serve-episodes")
@click.argument("episodes", metavar="[EPISODE...]", nargs=-1, shell_complete=personas)
@click.option("--episodes", "folder", type=_FILE, help="Folder in which episodes are looked for.")
@click.option(
    "--without", multiple=True, metavar="EPISODE", help="Leave out all episodes of the personas in these."
)
@click.option("--timing", type=_FILE, help="Folder of a timing set, whose users are served as timing/USER.")
@HOST
@click.option("--port", type=click.IntRange(0, 65535), default=8767, show_default=True, help="0: a free one.")
@TOKEN_ENV
@click.option("--token-file", type=_FILE, help="Where a fresh token is written (mode 0600).")
@ALLOW_HOST
@click.option("--ttl", type=click.FloatRange(0, min_open=True), default=3600.0, help="Idle seconds to live.")
@click.option("--max-episodes", type=click.IntRange(1), default=256, show_default=True, help="Open at once.")
def serve_episodes(
    episodes: tuple[str, ...],
    folder: Path | None,
    without: tuple[str, ...],
    timing: Path | None,
    host: str,
    port: int,
    token_env: str | None,
    token_file: Path | None,
    allow_host: tuple[str, ...],
    ttl: float,
    max_episodes: int,
) -> None:
    """Serve episodes step by step over HTTP, for training loops that hold the model themselves.

    EPISODE is a path or a selector, all when none is given; --without split:NAME keeps the personas apart
    that are to be evaluated on, under whatever seed or salt they were compiled. Requests need a bearer token:
    that of --token-env, else a fresh one, whose file is told at the start.
    """
    from atr_client.cli.serve_episodes_command import ServeEpisodesRequest, serve_episodes_command

    serve_episodes_command(
        ServeEpisodesRequest(
            episodes=episodes or ("all",),
            folder=folder,
            address=host,
            port=port,
            token_env=token_env,
            token_file=token_file,
            allow_host=allow_host,
            ttl=ttl,
            cap=max_episodes,
            timing=timing,
            without=without,
        )
    )
