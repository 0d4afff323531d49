"""Cells for tests that need no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from atr_client.cell.definition import Cell, CellOptions, SessionRunner
from atr_client.outputs.layout import CellKey
from atr_client.outputs.manifest import Manifest, ModelIdentity, new_manifest
from atr_client.outputs.provenance import Provenance, episode_sha256
from atr_client.session.agent_memory import AgentMemory
from atr_client.session.readability import context_digest
from atr_client.session.recorder import SessionRecorder
from atr_data.constants import SEND_ACK, SEND_TO_USER, USER_END
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Message, ToolCall, Trajectory

PROVENANCE = Provenance(
    prompt_hashes={"a.md": "1"},
    code_hash="src1",
    tool_schemas_sha256="2",
    tool_count=75,
    packages={"python": "3"},
    scorer_version="4",
)


def manifest_of(key: CellKey, episode: Episode, *, max_steps: int = 20) -> Manifest:
    return new_manifest(
        key,
        PROVENANCE,
        episode_path=None,
        episode_sha256=episode_sha256(episode),
        model=ModelIdentity("5"),
        user_sim={"make": "offline"},
        max_steps=max_steps,
        timeout=None,
    )


def small_episode(persona: str = "pp_a", *, learning: int = 3, tests: int = 2) -> Episode:
    """A workspace episode with one rule per test; its sessions are `l0`, `l1`, ... and `t0`, `t1`, ..."""
    return Episode.model_validate(
        {
            "episode_id": f"{persona}_seed000",
            "raw_persona": {"persona_id": persona, "narrative": "n"},
            "structured_persona": {},
            "rules": [
                {
                    "rule_id": f"r{n}",
                    "rule_text": "x",
                    "canonical_answer": f"I keep {n}.",
                    "check_type": "tool_identity",
                    "action_step": {"tool": "archive_files"},
                }
                for n in range(tests)
            ],
            "learning_sessions": [
                {
                    "session_id": f"l{n}",
                    "day_offset": n,
                    "domain": "workspace",
                    "reason_for_call": f"chore {n}",
                    "task_params": {},
                    "expected_tools": [],
                    "gold_trajectory": [],
                    "local_env": {"tools": ["archive_files"]},
                }
                for n in range(learning)
            ],
            "test_sessions": [
                {
                    "session_id": f"t{n}",
                    "domain": "workspace",
                    "rule_id": f"r{n}",
                    "instruction": f"do {n}",
                    "local_env": {"tools": ["archive_files"]},
                    "labels": {"task_success": {"required_actions": [{"tool": "archive_files"}]}},
                }
                for n in range(tests)
            ],
        }
    )


@dataclass
class Player:
    """Plays a session by saying one sentence. Notes what it was given, in `contexts`, in order.

    `seconds` is how long a session takes; `faults` maps session ids to what is raised in place of a result;
    `words` is what is said, so that two players leave different memories.
    """

    variant: str
    seconds: float = 0.0
    words: str = "hello"
    faults: Mapping[str, Exception] = field(default_factory=dict)
    contexts: dict[str, str | None] = field(default_factory=dict)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def ran(self) -> list[str]:
        return list(self.contexts)

    async def __call__(
        self,
        session: LearningSession | TestSession,
        *,
        memory: AgentMemory,
        recorder: SessionRecorder,
    ) -> Trajectory:
        self.contexts[session.session_id] = memory.context
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await anyio.sleep(self.seconds)
        finally:
            self.at_once -= 1
        if fault := self.faults.get(session.session_id):
            raise fault
        return one_sentence(session, self.variant, f"{self.words} in {session.session_id}", memory.context)


def one_sentence(
    session: LearningSession | TestSession, variant: str, words: str, context: str | None
) -> Trajectory:
    send = ToolCall(id="c1", name=SEND_TO_USER, arguments={"output": words, "reason": "z"})
    return Trajectory(
        session_id=session.session_id,
        session_type=session.session_type,
        agent_variant=variant,
        messages=[
            Message(role="system", content="s"),
            Message(role="user", content="hi"),
            Message(role="assistant", tool_calls=[send]),
            Message(role="tool", content=SEND_ACK, tool_call_id="c1", tool_error=False),
            Message(role="user", content=USER_END),
        ],
        termination_reason="task_complete" if session.session_type == "learning" else "agent_stop",
        step_count=1,
        context_sha256=context_digest(context),
    )


def small_cell(
    root: Path,
    *,
    variant: str = "atr",
    persona: str = "pp_a",
    model: str = "gpt-5.4",
    player: SessionRunner | None = None,
    options: CellOptions | None = None,
    max_steps: int = 20,
    learning: int = 3,
    tests: int = 2,
) -> Cell:
    episode = small_episode(persona, learning=learning, tests=tests)
    key = CellKey.of(episode, variant=variant, model=model, layer="context", hook=False, smoke=False)
    return Cell(
        key,
        episode,
        key.folder(root),
        manifest_of(key, episode, max_steps=max_steps),
        player or Player(variant),
        options or CellOptions(),
    )


def trajectory_names(cell: Cell) -> Sequence[str]:
    return sorted(path.name for path in cell.folder.trajectories.iterdir())
