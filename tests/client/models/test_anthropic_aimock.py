"""A tool loop with thinking against aimock, which answers 400 when a signature does not come back in place.

Needs the npm package @copilotkit/aimock 1.43, with its command `aimock` on the PATH.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from atr_client.errors import WireError
from atr_client.models.wire import WireRequest
from atr_client.models.wires.anthropic import open_wire
from atr_data.usage import Usage
from tests.support.aimock import running_aimock
from tests.support.wire_calls import FIND, conversation, endpoint, opened

TOOL_TURN = {
    "content": "Looking.",
    "toolCalls": [{"id": "toolu_1", "name": "find_parcels", "arguments": {"city": "Bern"}}],
    "reasoning": "First look.",
    "reasoningSignature": "EqQB+/sig==",
    "redactedThinking": ["sealed+/=="],
    "usage": {"input_tokens": 11, "output_tokens": 7},
}

CHECKED_THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
"""The only kind of thinking that aimock checks."""


@pytest.fixture
def aimock() -> str:
    command = shutil.which("aimock")
    if command is None:
        pytest.skip("no aimock here (npm package @copilotkit/aimock)")
    return command


async def test_thinking_passes_the_check_of_a_strict_server(aimock: str, tmp_path: Path):
    transcript = conversation()
    with running_aimock(aimock, tmp_path, [TOOL_TURN, {"content": "Found."}]) as url:
        to = replace(endpoint(url, base_url=url), model="claude-opus-4-7", parameters=CHECKED_THINKING)
        async with opened(open_wire, to) as wire:
            reply = await wire.send(WireRequest(transcript.messages, [FIND]))
            transcript.assistant(reply, reply.tool_calls)
            transcript.tool(reply.tool_calls[0], "{}", False)
            assert (await wire.send(WireRequest(transcript.messages, [FIND]))).content == "Found."
            transcript.messages[2].native_assistant_payload = None
            with pytest.raises(WireError, match="must begin with a `thinking` block"):
                await wire.send(WireRequest(transcript.messages, [FIND]))
    assert reply.native_assistant_payload == [
        {"type": "redacted_thinking", "data": "sealed+/=="},
        {"type": "thinking", "thinking": "First look.", "signature": "EqQB+/sig=="},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "toolu_1", "name": "find_parcels", "input": {"city": "Bern"}},
    ]
    assert (reply.reasoning_content, reply.content) == ("First look.", "Looking.")
    assert reply.usage == Usage(11, 7, 18, calls=1)
