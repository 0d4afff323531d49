"""The `workstream` command: one sitting of the timing track over standard input and output."""

from __future__ import annotations

from pathlib import Path

import click

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("stream", type=_FILE)
@click.option("--sitting", required=True, help="Its id, as the stream's first line names it.")
@click.option(
    "--memory", type=click.Choice(["off", "search", "priors", "own"]), default="off", show_default=True
)
@click.option("--window", type=int, default=300, show_default=True, help="History window in seconds.")
@click.option("--priors", type=_FILE, help="The user's priors, for memory mode priors.")
@click.option("--log", type=_FILE, help="Where the decisions are written, after each call.")
def workstream(
    stream: Path, sitting: str, memory: str, window: int, priors: Path | None, log: Path | None
) -> None:
    """Serve one sitting of the timing track; STREAM is a `USER.stream.jsonl`. No gold is read."""
    import signal
    from typing import cast

    import anyio

    from atr_data.timing import load_stream
    from atr_data.timing.set_folder import load_priors, save_logs
    from atr_servers.hosts.stdio import serve_stdio
    from atr_servers.timing.sitting import MemoryMode
    from atr_servers.timing.tools import Workstream
    from atr_servers.workstream import serve_workstream

    try:
        served = Workstream(
            load_stream(stream),
            sitting,
            memory=cast(MemoryMode, memory),
            history_window_s=window,
            priors=load_priors(priors) if priors else None,
        )
    except KeyError as error:
        raise click.UsageError(f"{stream} has no sitting {sitting!r}") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error

    def write() -> None:
        if log:
            save_logs([served.state.log()], log)

    # A thread blocked on standard input cannot be interrupted; what is on disk is whole at any instant.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    anyio.run(serve_stdio, serve_workstream(served, after_call=write))
