"""The memory text that sessions share may be left out; all else in a file is read as it always was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atr_data.load import trajectory_in
from atr_data.shared_memory import SharedMemory
from atr_data.skimming import skim_trajectory
from tests.support.skimmed import outcome

PATH = Path("t.json")
MEMORY = '[Session 1]\n[user]: say "süß"\n[tool call]: search({"q": "\\\\"})\n[tool result]: {"a": "\u2028"}'
MORE = f"{MEMORY}\n\n[Session 2]\n[user]: a session more"


def _file(memory: str | None, *, head: str = "Be good.", **system: Any) -> bytes:
    shown = head if memory is None else f"{head}\n\n<context>\n{memory}\n</context>\n\nGo on."
    call = {"id": "c", "name": "search", "arguments": {"q": "<context>\nx\n</context>"}}
    messages = [
        {"role": "system", "content": shown, **system},
        {"role": "user", "content": f"<context>\n{memory}\n</context>"},
        {"role": "assistant", "tool_calls": [call]},
    ]
    told = {"session_id": "s", "session_type": "test", "agent_variant": "atr", "messages": messages}
    return json.dumps(told, ensure_ascii=False, indent=2).encode()


def _after(first: bytes, content: bytes) -> Any:
    """What is read of a file after another one of the cell."""
    memory = SharedMemory()
    memory.left_out(first)
    return outcome(lambda: skim_trajectory(PATH, content, memory), with_prompt=False)


def _in_full(content: bytes) -> Any:
    return outcome(lambda: trajectory_in(content, PATH), with_prompt=False)


@pytest.mark.parametrize("second", [MEMORY, MORE, MEMORY[:40], "something else", "", None])
@pytest.mark.parametrize("first", [MEMORY, MORE, "", None])
def test_what_is_left_out_is_the_memory_in_the_prompt_alone(first: str | None, second: str | None) -> None:
    memory, content = SharedMemory(), _file(second)
    memory.left_out(_file(first))
    left = json.loads(memory.left_out(content))
    told = json.loads(content)
    shown = told["messages"][0]["content"].replace(f"<context>\n{second}\n</context>", "<context></context>")
    told["messages"][0]["content"] = shown
    assert left == told
    assert _after(_file(first), content) == _in_full(content)


@pytest.mark.parametrize(
    "content",
    [
        _file(MEMORY, head='Say "no".'),
        _file(MEMORY, head="Be good.\\"),
        _file(MEMORY, role="user"),
        _file(MEMORY, head='<context>\n"'),
        _file(MEMORY).replace(b'"role": "system"', b'"role": "user"'),
        _file(MEMORY).replace(b"</context>", b""),
        _file(None).replace(b"Be good.", b'Be good.", "name": "'),
        _file(MEMORY).replace(b"Go on.", b'", "role": "user", "name": "'),
        _file(MEMORY).replace(b"Go on.", b'", "content": "another'),
        _file(MEMORY).replace(b'"session_id": "s"', b'"session_id": "s", "messages": []'),
        _file(MEMORY).replace(b"Be good.", b"Be good." * 5000),
        _file(MEMORY).replace(b"\\n\\n<context>", b"\\\\\\n<context>"),
        _file(MEMORY)[:200],
        _file(MEMORY).replace(b"\n", b""),
    ],
)
def test_an_unusual_file_is_read_as_a_whole(content: bytes) -> None:
    assert _after(_file(MEMORY), content) == _in_full(content)


SPOILED = [b"\xff", b'"', b"\\", b"\\x", b"\n", b"\\ud800", b"\xc3", b"</context>", b"<context>", b'",']


@example(where=0.2, spoil=b'"', cut=0)
@example(where=0.3, spoil=b"\xff", cut=1)
@given(where=st.floats(0, 1), spoil=st.sampled_from(SPOILED) | st.binary(max_size=3), cut=st.integers(0, 40))
def test_a_damaged_file_is_refused_in_the_same_words(where: float, spoil: bytes, cut: int) -> None:
    whole = _file(MORE)
    place = round(where * len(whole))
    content = whole[:place] + spoil + whole[place + cut :]
    for first in (_file(MEMORY), _file(MORE), content):
        assert _after(first, content) == _in_full(content)
