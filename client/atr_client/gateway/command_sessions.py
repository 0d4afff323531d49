"""Sessions played by a program: started for each, with the gateway's address, and watched to its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process

from atr_client.cell.definition import SessionRunner
from atr_client.cell.isolation import outcome_of
from atr_client.errors import CellAbort, ModelError
from atr_client.gateway.agent_home import agent_folder, keeps_files
from atr_client.gateway.client_presets import Invocation, instructions_for, prepared
from atr_client.gateway.client_refusals import refused_calls
from atr_client.gateway.gateway_host import gateway_app
from atr_client.gateway.gateway_server import build_gateway_server
from atr_client.gateway.handed_session import HandedSession
from atr_client.gateway.hosted_session import HostedSession
from atr_client.models.base import Model, PerSession
from atr_client.outputs.clients_seen import note_client
from atr_client.outputs.layout import CellFolder
from atr_client.session.agent_memory import AgentMemory
from atr_client.session.recorder import SessionRecorder
from atr_client.sweep.commands import CommandSpec
from atr_data.episode import LearningSession, TestSession
from atr_data.files import write_atomic
from atr_data.trajectory import Trajectory
from atr_servers.hosts.environment_host import Host
from atr_servers.hosts.serve_http import serving

GRACE = 10.0
"""Seconds that a program has to leave after its session is over, and half of which to obey a signal."""
NOT_STARTED = 127
"""What stands for an exit code where there is none, as shells have it."""

_SHOWN = 2000


def command_players(
    spec: CommandSpec,
    folder: CellFolder,
    runner_of: Callable[[Model], SessionRunner],
    timeout: float | None,
) -> SessionRunner:
    """Plays the sessions of one cell with a command."""
    return CommandSessions(spec, folder, runner_of, timeout)


@dataclass(frozen=True, slots=True)
class CommandSessions:
    """Raises CellAbort when the program, and not what it did with the session, went wrong: it could not be
    started, failed, never came to the gateway, made no call, or had calls refused. A program that ends
    without ending the session has nothing more to say. Its output, exit code and time lie in the cell's
    folder `commands`."""

    spec: CommandSpec
    folder: CellFolder
    runner_of: Callable[[Model], SessionRunner]
    timeout: float | None

    async def __call__(
        self,
        session: LearningSession | TestSession,
        *,
        memory: AgentMemory,
        recorder: SessionRecorder,
    ) -> Trajectory:
        hosted = HostedSession(session, 1)
        hosted.admit(self.timeout)
        runner = self.runner_of(PerSession(lambda _: hosted.mailbox))
        records = self.folder.path / "commands" / session.session_id / f"attempt-{recorder.attempt}"
        records.mkdir(parents=True, exist_ok=True)

        async def play() -> Trajectory:
            return await runner(session, memory=memory, recorder=recorder)

        async def command() -> None:
            nonlocal problem
            problem = await outcome_of(lambda: self._command(hosted, memory, records))
            if isinstance(problem, Exception):
                problem = f"{type(problem).__name__}: {problem}"
            hosted.mailbox.leave(ModelError(f"{self.spec.model_id}: {problem}") if problem else None)

        problem: str | Exception | None = None
        outcome: Trajectory | Exception = RuntimeError("the session was not played")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(command)
            outcome = await outcome_of(play)
            hosted.end(None if isinstance(outcome, Exception) else outcome)
        if isinstance(outcome, Exception):
            raise outcome
        if problem is not None:
            raise CellAbort("agent", session.session_id, f"{self.spec.model_id}: {problem}")
        return outcome

    async def _command(self, hosted: HostedSession, memory: AgentMemory, records: Path) -> str | None:
        """Runs the program to its end; what was wrong with it, or None."""
        asked = await hosted.mailbox.settled()
        if asked is None:
            return None
        place = HandedSession(hosted, lambda client: note_client(self.folder.manifest, client))
        system, opening = (str(message.content) for message in asked.messages[:2])
        host = Host(ttl=3600.0, cap=1)
        with agent_folder(memory) as folder:
            async with serving(gateway_app(host, [])) as base_url:
                server = build_gateway_server(place, all_tools=False)
                door = await host.open_server(server, expires=False)
                url = f"{base_url}/play/{door}/mcp"
                home = keeps_files(memory)
                told = instructions_for(system, opening, home=home)
                invocation = prepared(self.spec, url, told, folder, home=home)
                run = await _run(invocation, records, hosted)
                await host.close_all()
        _record(records, invocation, run, place)
        return _refused(self.spec, records) or _problem(run, place, hosted)


@dataclass(frozen=True, slots=True)
class _Run:
    exit_code: int
    seconds: float
    error: str


async def _run(invocation: Invocation, records: Path, hosted: HostedSession) -> _Run:
    started = time.monotonic()
    code = NOT_STARTED
    try:
        with (records / "stdout.txt").open("wb") as out, (records / "stderr.txt").open("wb") as err:
            process = await _started(invocation, out, err)
        async with _ended(process), anyio.create_task_group() as tasks:
            tasks.start_soon(_stop_after, process, hosted)
            await _feed(process, invocation.standard_input)
            code = await process.wait()
            tasks.cancel_scope.cancel()
    except OSError as error:
        return _Run(NOT_STARTED, 0.0, f"{invocation.arguments[0]}: {error.strerror or error}")
    error = _last_words(records / "stderr.txt") or _last_words(records / "stdout.txt")
    return _Run(code, round(time.monotonic() - started, 2), error)


def _last_words(path: Path) -> str:
    return path.read_bytes()[-_SHOWN:].decode("utf-8", "replace").strip()


async def _started(invocation: Invocation, out: Any, err: Any) -> Process:
    """In a process group of its own. Raises OSError when there is no such program."""
    return await anyio.open_process(
        invocation.arguments,
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=err,
        cwd=invocation.folder,
        env=invocation.environment,
        start_new_session=True,
    )


async def _stop_after(process: Process, hosted: HostedSession) -> None:
    """Once the session is over the program has some time to leave by itself."""
    await hosted.mailbox.ended()
    await anyio.sleep(GRACE)
    _signal(process, signal.SIGTERM)
    await anyio.sleep(GRACE / 2)
    _signal(process, signal.SIGKILL)


@asynccontextmanager
async def _ended(process: Process) -> AsyncGenerator[None]:
    """Nothing is left of the process and its group afterwards."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            _signal(process, signal.SIGTERM)
            with anyio.move_on_after(GRACE / 2):
                await process.wait()
            _signal(process, signal.SIGKILL)
            await process.aclose()


def _signal(process: Process, number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return


async def _feed(process: Process, text: str) -> None:
    assert process.stdin, "opened as a pipe"
    try:
        await process.stdin.send(text.encode("utf-8", "replace"))
        await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
        return


def _record(records: Path, invocation: Invocation, run: _Run, place: HandedSession) -> None:
    told: Mapping[str, Any] = {
        "arguments": invocation.arguments,
        "exit_code": run.exit_code,
        "seconds": run.seconds,
        "connected": place.connected,
        "calls": place.calls,
    }
    write_atomic(records / "command.json", json.dumps(told, ensure_ascii=False, indent=2) + "\n")


def _problem(run: _Run, place: HandedSession, hosted: HostedSession) -> str | None:
    """A program that is still there when its session is over is stopped: how it ends then means nothing."""
    if run.exit_code != 0 and not hosted.is_over:
        return f"it ended with exit code {run.exit_code}: {run.error or 'it said nothing'}"
    if not place.connected:
        return f"it never came to the gateway: {run.error or 'it said nothing'}"
    if not place.calls:
        return "it ended without a single call"
    return None


def _refused(spec: CommandSpec, records: Path) -> str | None:
    output, errors = (
        (records / name).read_text(encoding="utf-8", errors="replace")
        for name in ("stdout.txt", "stderr.txt")
    )
    refused = refused_calls(spec.preset, output, errors)
    return f"its client refused calls: {refused}" if refused else None
