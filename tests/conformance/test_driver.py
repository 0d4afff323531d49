"""The cell driver against `driver.jsonl`, sessions replaced by a stub."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from atr_client.cell.cell_runner import run_cell
from atr_client.cell.definition import Cell, CellOptions
from atr_client.cell.isolation import outcome_of
from atr_client.errors import CellAbort, ManifestMismatch
from atr_client.outputs.layout import CellKey
from atr_client.session.agent_memory import AgentMemory
from atr_client.session.readability import context_digest
from atr_client.session.recorder import SessionRecorder
from atr_data.constants import SEND_ACK, SEND_TO_USER, USER_END
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Message, ToolCall, Trajectory
from tests.support.cells import manifest_of
from tests.support.vectors import first, read_jsonl, report

REFERENCE_REUSE = ("driver_31", "driver_55", "driver_56", "driver_61")
"""Cases that record what the original reuses and a strict run refuses."""


@dataclass
class StubRunner:
    """Returns the transcript that the vectors prescribe, and notes what it was given."""

    case: dict[str, Any]
    ran: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(
        self,
        session: LearningSession | TestSession,
        *,
        memory: AgentMemory,
        recorder: SessionRecorder,
    ) -> Trajectory:
        name = session.session_id
        self.ran.append({"session_id": name, "context": memory.context})
        if name == self.case["abort_at"]:
            raise CellAbort("agent", name, "scripted")
        if name == self.case["fail_at"]:
            raise RuntimeError("scripted")
        usual = "task_complete" if session.session_type == "learning" else "agent_stop"
        return Trajectory(
            session_id=name,
            session_type=session.session_type,
            agent_variant=self.case["variant"],
            messages=_messages(name, blank=name in self.case["blank_sessions"]),
            termination_reason=self.case["terminations"].get(name, usual),
            context_sha256=context_digest(memory.context),
        )


def _messages(name: str, *, blank: bool) -> list[Message]:
    system, end = Message(role="system", content="s"), Message(role="user", content=USER_END)
    if blank:
        return [system, end]
    send = ToolCall(
        id=f"{name}_c", name=SEND_TO_USER, arguments={"output": f"reply in {name}", "reason": "z"}
    )
    return [
        system,
        Message(role="user", content=f"opening of {name}"),
        Message(role="assistant", tool_calls=[send]),
        Message(role="tool", content=SEND_ACK, tool_call_id=send.id, tool_error=False),
        end,
    ]


async def outcome(case: dict[str, Any], root: Path, *, compatible: bool = False) -> dict[str, Any]:
    """Runs one case below `root` and tells what came of it, in the words of the vectors."""
    episode = Episode.model_validate(case["episode"])
    key = CellKey.of(
        episode, variant=case["variant"], model="gpt-5.4", layer="context", hook=True, smoke=False
    )
    folder = key.folder(root)
    folder.create()
    manifest = manifest_of(key, episode, max_steps=case["max_steps"])
    existing = case["existing_manifest"]
    if isinstance(existing, str):
        folder.manifest.write_text(existing)
    elif existing is not None:
        folder.manifest.write_text(json.dumps(json.loads(manifest.model_dump_json()) | existing))
    for name, content in case["on_disk"].items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder.trajectories / name).write_text(text)
    options = CellOptions(compatible=compatible, allow_stale_resume=case["allow_stale"])
    runner = StubRunner(case)
    result = await outcome_of(lambda: run_cell(Cell(key, episode, folder, manifest, runner, options)))
    failed = isinstance(result, Exception)
    return {
        "ran": runner.ran,
        "returned": None if failed else [t.session_id for t in result.trajectories],
        "error": _kind(result) if failed else None,
        "complete": _complete(folder.manifest),
        "files": sorted(path.name for path in folder.trajectories.iterdir()),
    }


def _kind(error: Exception) -> str:
    if isinstance(error, ManifestMismatch):
        return "manifest_mismatch"
    return "abort" if isinstance(error, CellAbort) else "failure"


def _complete(path: Path) -> bool:
    return bool(json.loads(path.read_text())["complete"])


async def test_driver_agrees(conformance_dir: Path, tmp_path: Path) -> None:
    """Strictly, but for the cases that record a reuse which a strict run refuses."""
    cases = read_jsonl(conformance_dir / "driver.jsonl")
    strict: set[str] = set()
    compatible: set[str] = set()
    for case in cases:
        name = case["case_id"]
        if await outcome(case, tmp_path / name) == case["expected"]:
            strict.add(name)
        elif await outcome(case, tmp_path / f"{name}_compatible", compatible=True) == case["expected"]:
            compatible.add(name)
    report("driver.jsonl", cases, lambda case: case["case_id"] in strict | compatible)
    assert compatible == set(REFERENCE_REUSE) & {case["case_id"] for case in cases}


async def test_a_flipped_expectation_is_noticed(conformance_dir: Path, tmp_path: Path) -> None:
    case = first(read_jsonl(conformance_dir / "driver.jsonl"))
    expected = {**case["expected"], "complete": not case["expected"]["complete"]}
    assert await outcome(case, tmp_path) != expected
