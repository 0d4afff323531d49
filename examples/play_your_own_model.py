"""Play one whole episode with a model function of your own: learn, freeze, test. Nothing is written to disk.

python examples/play_your_own_model.py
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from atr_client import play_episode
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.testing import FunctionModel
from atr_data import load_episode, packaged_episodes_dir
from atr_data.trajectory import Message, ToolCall


def reply(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
    """Put your model here: it sees the transcript and the tools, and nothing else.

    This one takes its leave of every session at once, so it passes nothing.
    """
    offered = {tool.name for tool in tools}
    if "finish_session" in offered:
        call = ToolCall(id=f"call_{len(messages)}", name="finish_session", arguments={})
    else:
        said = {"output": "Thank you, goodbye!", "reason": "closing the session"}
        call = ToolCall(id=f"call_{len(messages)}", name="send_to_user", arguments=said)
    return ModelReply(tool_calls=[call])


async def main() -> None:
    episode = load_episode(packaged_episodes_dir() / "odalys_renner_seed000.json")
    result = await play_episode(episode, "atr", FunctionModel(reply))
    metrics = result.evaluation["metrics"]
    print(len(result.trajectories), "sessions played")
    print("passed", metrics["success_count"], "of", metrics["total_test"])


if __name__ == "__main__":
    anyio.run(main)
