"""The benchmark as a task of Inspect, offline with its mock model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai import eval_async
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall as InspectCall
from inspect_ai.tool import ToolInfo

from atr_client.gateway.inspect_task import atr
from atr_client.models.base import ToolSpec
from atr_data.trajectory import Message, ToolCall
from tests.support.gateway import EPISODE, asker, in_process

pytestmark = [pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def stub_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect's own fetches its data from the network."""

    class Words:
        def encode(self, text: str, **_: Any) -> list[str]:
            return text.split()

    monkeypatch.setattr("tiktoken.get_encoding", lambda name: Words())


async def offline_asker(messages: list[ChatMessage], tools: list[ToolInfo], *rest: Any) -> ModelOutput:
    """The asker behind Inspect's interface."""
    reply = await asker().respond(
        [ours(turn, message) for turn, message in enumerate(messages)],
        [ToolSpec(t.name, t.description, t.parameters.model_dump(exclude_none=True)) for t in tools],
    )
    output = ModelOutput.from_content("mockllm/model", reply.content or "")
    output.message.tool_calls = [InspectCall(c.id, c.name, c.arguments) for c in reply.tool_calls] or None
    output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
    return output


def ours(turn: int, message: ChatMessage) -> Message:
    calls = [ToolCall(id=c.id, name=c.function, arguments=c.arguments) for c in _calls(message)]
    return Message(
        role=message.role,
        content=message.text,
        tool_calls=calls or None,
        tool_call_id=getattr(message, "tool_call_id", None),
        tool_error=bool(getattr(message, "error", None)),
        turn_idx=turn,
    )


def _calls(message: ChatMessage) -> list[InspectCall]:
    return getattr(message, "tool_calls", None) or []


async def evaluated(tmp_path: Path, task: Any, model: Any) -> Any:
    (log,) = await eval_async(task, model=model, log_dir=str(tmp_path), fail_on_error=False)
    return log


@pytest.mark.parametrize("variant", ["atr", "oracle_target"])
async def test_it_scores_as_a_run_does(tmp_path: Path, variant: str) -> None:
    model = get_model("mockllm/model", custom_outputs=offline_asker)
    log = await evaluated(tmp_path, atr(persona=str(EPISODE), variant=variant), model)
    assert log.status == "success", log.error
    (sample,) = log.samples
    assert sample.error is None
    score = sample.scores["tests_passed"]
    alone = await in_process(variant)
    assert score.metadata["tests"] == alone
    assert score.value["passed"] == pytest.approx(sum(alone.values()) / 14)
    spans = [e for e in sample.events if e.event == "span_begin" and e.type == "session"]
    assert len(spans) == (14 if variant == "oracle_target" else 42)
    assert score.metadata["metrics"]["token_usage_total"]["agent"]["calls"] > 14


async def test_it_is_found_by_its_name_and_a_mock_that_only_talks_passes_nothing(tmp_path: Path) -> None:
    task = "atrbench/atr"
    (log,) = await eval_async(
        task,
        task_args={"persona": str(EPISODE), "variant": "oracle_target", "max_steps": 2},
        model="mockllm/model",
        log_dir=str(tmp_path),
    )
    assert log.status == "success", log.error
    assert log.samples
    assert [sample.id for sample in log.samples] == ["odalys_renner_seed000/oracle_target"]
    scores = log.samples[0].scores
    assert scores
    assert scores["tests_passed"].value == {"passed": 0.0, "rules_hit": 0.0}


async def test_what_breaks_around_the_model_is_an_error_and_no_score(tmp_path: Path) -> None:
    async def broken(*_: Any) -> ModelOutput:
        raise RuntimeError("the provider is down")

    model = get_model("mockllm/model", custom_outputs=broken)
    log = await evaluated(tmp_path, atr(persona=str(EPISODE), variant="oracle_target"), model)
    (sample,) = log.samples
    assert "provider is down" in sample.error.message
    assert not sample.scores
