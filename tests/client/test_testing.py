"""The test doubles that ship with the library."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from atr_client.errors import ModelError
from atr_client.models.base import ModelReply, ToolSpec
from atr_client.testing import FunctionModel, ScriptedModel
from atr_data.trajectory import Message

HELLO = [Message(role="user", content="hello")]


async def test_a_function_plain_or_async_is_a_model() -> None:
    def plain(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        return ModelReply(f"heard {messages[-1].content}")

    async def later(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        return plain(messages, tools)

    for function in (plain, later):
        assert (await FunctionModel(function).respond(HELLO, [])).content == "heard hello"


async def test_a_script_is_played_in_order_and_remembers_what_it_saw() -> None:
    script = [
        "text",
        [("list_files", {}), ("move_files", {"folder_id": "f"})],
        ModelReply("x"),
        ModelError("down"),
    ]
    model = ScriptedModel(script)
    assert (await model.respond(HELLO, [])).content == "text"
    calls = (await model.respond(HELLO, [])).tool_calls
    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ("call_2_0", "list_files", {}),
        ("call_2_1", "move_files", {"folder_id": "f"}),
    ]
    assert (await model.respond(HELLO, [])).content == "x"
    with pytest.raises(ModelError, match="down"):
        await model.respond(HELLO, [])
    with pytest.raises(ModelError, match="ended after 4 replies"):
        await model.respond(HELLO, [])
    assert len(model.seen) == 5
