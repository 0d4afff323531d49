"""The benchmark as a task of Inspect: `inspect eval atrbench/atr -T persona=... -T variant=atr --model ...`.

Needs the extra `inspect`. A sample is one episode in one variant, a span one session; the model is Inspect's,
everything else ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall as InspectCall
from inspect_ai.tool import ToolCallError, ToolInfo, ToolParams
from inspect_ai.util import span

from atr_client.gateway.stepper import EpisodeStepper
from atr_client.models.base import Finish, ModelReply, ToolSpec
from atr_client.session.turns import SessionSettings
from atr_data import packaged_episodes_dir, select_episodes
from atr_data.trajectory import Message, ToolCall
from atr_data.usage import Usage

EVALUATION = "atr/evaluation"
"""Where a sample's store holds what `evaluate_episode` made of it."""

_FINISH: Mapping[str, Finish] = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
}


def atr(
    persona: str = "all",
    variant: str = "atr",
    memory: str = "context",
    max_steps: int = 20,
    hook: bool = False,
    episodes: str | None = None,
) -> Task:
    """`persona` and `variant` may name several, with commas between; a persona is whatever selects episodes.
    `episodes` is the folder in which they are looked for, that of the package by default."""
    folder = Path(episodes) if episodes else packaged_episodes_dir()
    samples = [
        Sample(
            id=f"{path.stem}/{name}",
            input=f"Episode {path.stem} in variant {name}.",
            metadata={"episode": str(path), "variant": name},
        )
        for path in select_episodes(_names(persona), folder)
        for name in _names(variant)
    ]
    return Task(
        dataset=samples,
        solver=episode_player(memory=memory, max_steps=max_steps, hook=hook),
        scorer=tests_passed(),
    )


# Inspect puts the name of the import package before that of a task; ours is to be found under the package's.
atr.__module__ = "atrbench"
atr = task(name="atrbench/atr")(atr)


@solver
def episode_player(memory: str = "context", max_steps: int = 20, hook: bool = False) -> Solver:
    """Plays the sample's episode with the model of the evaluation."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        player = _Player(get_model())
        async with EpisodeStepper(
            state.metadata["episode"],
            state.metadata["variant"],
            memory=memory,
            settings=SessionSettings(max_steps, hook=hook),
        ) as stepper:
            step = await stepper.reset()
            while not step.done:
                session_id = step.session_id
                player.begin()
                async with span(f"session {session_id}", type="session"):
                    while not step.done and step.session_id == session_id:
                        step = await stepper.step(await player.reply(stepper.conversation, step.tools))
            evaluation = stepper.result.evaluation
        metrics = evaluation["metrics"]
        state.store.set(EVALUATION, evaluation)
        told = f"{metrics['success_count']} of {metrics['total_test']} tests passed"
        state.output = ModelOutput.from_content(str(state.model), told)
        state.completed = True
        return state

    return solve


@scorer(metrics={"passed": [mean(), stderr()], "rules_hit": [mean(), stderr()]})
def tests_passed() -> Scorer:
    """The share of tests passed, and of rules that were asked for; all our metrics go along."""

    async def score(state: TaskState, target: Target) -> Score:
        evaluation = state.store.get(EVALUATION)
        metrics = evaluation["metrics"]
        coverage, tests = metrics["rule_coverage"], metrics["total_test"]
        return Score(
            value={
                "passed": metrics["success_count"] / tests if tests else 0.0,
                "rules_hit": coverage["hit_count"] / coverage["total"] if coverage["total"] else 0.0,
            },
            answer=state.output.completion,
            metadata={
                "metrics": metrics,
                "tests": {r["session_id"]: bool(r["task_success"]) for r in evaluation["session_results"]},
            },
        )

    return score


class _Player:
    """Inspect's model as an agent. The messages that it wrote in a session go back to it as they were."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._written: dict[int, ChatMessageAssistant] = {}

    def begin(self) -> None:
        self._written = {}

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        output = await self._model.generate([self._message(m) for m in messages], [_tool(t) for t in tools])
        self._written[len(messages)] = output.message
        usage = output.usage
        return ModelReply(
            content=output.message.text or None,
            tool_calls=[
                ToolCall(
                    id=call.id, name=call.function, arguments=call.arguments, parse_error=call.parse_error
                )
                for call in output.message.tool_calls or ()
            ],
            usage=Usage(
                prompt_tokens=usage.input_tokens if usage else 0,
                completion_tokens=usage.output_tokens if usage else 0,
                total_tokens=usage.total_tokens if usage else 0,
                calls=1,
            ),
            finish=_FINISH.get(output.stop_reason, "stop"),
        )

    def _message(self, message: Message) -> ChatMessage:
        text = message.content or ""
        match message.role:
            case "system":
                return ChatMessageSystem(content=text)
            case "user":
                return ChatMessageUser(content=text)
            case "tool":
                error = ToolCallError("unknown", text) if message.tool_error else None
                return ChatMessageTool(content=text, tool_call_id=message.tool_call_id, error=error)
            case "assistant":
                written = self._written.get(message.turn_idx)
                if written and [c.id for c in written.tool_calls or ()] == [c.id for c in _calls(message)]:
                    return written
                calls = [InspectCall(c.id, c.name, c.arguments) for c in _calls(message)]
                return ChatMessageAssistant(content=text, tool_calls=calls or None)


def _calls(message: Message) -> list[ToolCall]:
    return message.tool_calls or []


def _tool(tool: ToolSpec) -> ToolInfo:
    schema = dict(tool.input_schema)
    known = {name: schema[name] for name in ("properties", "required") if name in schema}
    return ToolInfo(name=tool.name, description=tool.description, parameters=ToolParams.model_validate(known))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
