"""Running one session: its first messages, the turn loop, and the trajectory that comes of it."""

from __future__ import annotations

import time
from functools import cache

from atr_client.errors import CellAbort
from atr_client.models.base import Model, ToolSpec, agent_for
from atr_client.session.prompting import system_prompt
from atr_client.session.readability import context_digest, rule_readability
from atr_client.session.transcript import Transcript
from atr_client.session.turns import Environment, SessionSettings, TurnLoop
from atr_data.constants import FINISH_SESSION, SEND_TO_USER
from atr_data.episode import Episode, LearningSession, TestSession
from atr_data.trajectory import Trajectory
from atr_ontology import input_schema, load_ontology
from atr_user_sim.interface import SimulatedUser, UserSimFault

NO_INSTRUCTION = "(no instruction)"


async def run_session(
    *,
    episode: Episode,
    session: LearningSession | TestSession,
    variant: str,
    model: Model,
    memory_context: str | None,
    user: SimulatedUser | None,
    environment: Environment,
    settings: SessionSettings,
) -> Trajectory:
    """Runs one session and returns its transcript.

    `user` is needed in a learning session and not consulted in a test session. Raises CellAbort when the
    agent's transport, the simulated user or the environment fails for good; the session then has no
    trajectory.
    """
    started = time.monotonic()
    transcript = Transcript()
    agent = agent_for(model, episode, session)
    try:
        transcript.system(system_prompt(session.session_type, variant, session.domain, memory_context))
        transcript.user(await _first_message(session, user, transcript))
        loop = TurnLoop(
            session_id=session.session_id,
            session_type=session.session_type,
            agent=agent,
            user=user,
            environment=environment,
            tools=[_session_tool(session.session_type), *await environment.tools()],
            settings=settings,
            transcript=transcript,
            started=started,
        )
        end = await loop.run()
    except UserSimFault as fault:
        raise CellAbort(fault.module, session.session_id, str(fault)) from fault
    readable, readability = rule_readability(episode, session, variant, memory_context)
    return Trajectory(
        session_id=session.session_id,
        session_type=session.session_type,
        agent_variant=variant,
        messages=transcript.messages,
        termination_reason=end.reason,
        termination_subreason=end.subreason,
        step_count=loop.step,
        duration_seconds=round(time.monotonic() - started, 2),
        token_usage=transcript.usage,
        interaction_events=transcript.events,
        reply_faults=dict(sorted(transcript.reply_faults.items())),
        context_sha256=context_digest(memory_context),
        rule_readable=readable,
        readability=readability,
    )


async def _first_message(
    session: LearningSession | TestSession, user: SimulatedUser | None, transcript: Transcript
) -> str:
    if isinstance(session, TestSession):
        return session.instruction.strip() or NO_INSTRUCTION
    if user is None:
        raise ValueError(f"learning session {session.session_id} needs a simulated user")
    opening = await user.open()
    transcript.count({"user_sim": opening.usage})
    return opening.text


@cache
def _session_tool(session_type: str) -> ToolSpec:
    """The tool that the turn loop itself answers."""
    name = FINISH_SESSION if session_type == "test" else SEND_TO_USER
    tool = load_ontology().session_tool(name)
    return ToolSpec(tool.name, tool.description, input_schema(tool))
