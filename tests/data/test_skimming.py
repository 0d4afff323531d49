"""What a score reads quickly is what the full readers give; what they refuse is refused in their words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atr_data import DataError, load_trajectory
from atr_data.calls import LogRecord, read_calls
from atr_data.reading import read_bytes
from atr_data.skimming import skim_calls, skim_trajectory
from tests.support.skimmed import outcome

CALL = {"id": "c1", "name": "search", "arguments": {"q": "ä", "n": 2, "deep": {"list": [1.5, None, True]}}}
MESSAGES = [
    {"role": "system", "content": "be \u00e4 good", "turn_idx": 0},
    {"role": "user", "content": None, "turn_idx": 1, "timestamp": "t"},
    {"role": "assistant", "tool_calls": [CALL], "turn_idx": 2, "native_assistant_payload": [[1]]},
    {"role": "tool", "content": "{}", "tool_call_id": "c1", "tool_error": False, "turn_idx": 3},
]
WHOLE = {
    "session_id": "s",
    "session_type": "test",
    "agent_variant": "atr",
    "messages": MESSAGES,
    "step_count": 2,
    "duration_seconds": 1,
    "token_usage": {"agent": {"prompt_tokens": 3, "calls": 1, "cached_tokens": None, "cost_usd": 0.5}},
    "interaction_events": [{"kind": "cls_verdict", "turn_idx": 2, "rule_id": "r", "sim_reasoning": "x"}],
    "context_sha256": "0",
}


def _with(**changes: Any) -> str:
    return json.dumps({**WHOLE, **changes})


def _calling(arguments: str) -> str:
    return json.dumps(
        {**WHOLE, "messages": [{**MESSAGES[2], "tool_calls": [{**CALL, "arguments": "HERE"}]}]}
    ).replace('"HERE"', arguments)


CASES = {
    "whole": _with(),
    "least": json.dumps({name: WHOLE[name] for name in ("session_id", "session_type", "agent_variant")}),
    "unknown fields": _with(extra=[[{}]]),
    "no id": json.dumps({"session_type": "test", "agent_variant": "atr"}),
    "another type": _with(session_type="exam"),
    "content is a number": _with(messages=[{"role": "user", "content": 5}]),
    "content is a list": _with(messages=[{"role": "user", "content": ["x"]}]),
    "no role": _with(messages=[{"content": "x"}]),
    "messages is text": _with(messages="x"),
    "steps as text": _with(step_count="4"),
    "steps as a float": _with(step_count=4.0),
    "steps beyond all": _with(step_count=10**20),
    "unknown event": _with(interaction_events=[{"kind": "sigh", "turn_idx": 0}]),
    "usage as text": _with(token_usage={"agent": {"calls": "2"}}),
    "lone surrogate": _with(agent_variant="\ud800"),
    "surrogate in a call": _calling('{"q": "\\udc00"}'),
    "not a number": _with(duration_seconds=float("nan")),
    "infinite": _with(duration_seconds=1).replace('"duration_seconds": 1', '"duration_seconds": 1e999'),
    "deep arguments": _calling('{"q": ' + "[" * 60 + "]" * 60 + "}"),
    "too deep arguments": _calling('{"q": ' + "[" * 99 + "]" * 99 + "}"),
    "endlessly deep": _calling('{"q": ' + "[" * 5000 + "]" * 5000 + "}"),
    "large number in a call": _calling('{"n": 123456789012345678901234567890}'),
    "number without end": _calling('{"n": ' + "9" * 400 + "}"),
    "arguments are a list": _calling("[]"),
    "huge arguments": _calling(json.dumps({"q": "x" * 2**20})),
    "long arguments": _calling(json.dumps({"q": "x" * 2**17})),
    "cut off": _with()[:-20],
    "empty": "",
    "a list": "[]",
    "twice": _with().replace('"step_count": 2', '"step_count": 2, "step_count": 5'),
}


@pytest.mark.parametrize("case", CASES)
def test_a_trajectory_is_read_as_the_full_reader_reads_it(case: str, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(CASES[case].encode("utf-8", "surrogatepass"))
    assert outcome(lambda: skim_trajectory(path, read_bytes(path))) == outcome(lambda: load_trajectory(path))


def test_bytes_that_are_no_text_are_refused_wherever_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(_with().encode().replace(b"be ", b"be \xff"))
    with pytest.raises(DataError, match="not UTF-8"):
        skim_trajectory(path, read_bytes(path))


STAMP = {"attempt": 1, "session_id": "s", "session_type": "test", "variant": "atr"}
LOGGED = {
    **STAMP,
    "record": "call",
    "turn_idx": 2,
    "call_id": "c1",
    "caller": "agent",
    "server": "workspace",
    "tool": "search",
    "arguments": {"q": "x"},
    "result": "{}",
    "is_error": False,
    "seconds": 0.1,
}
LINES = [{**STAMP, "record": "session_start"}, LOGGED, {**STAMP, "record": "session_end"}]


def _records(read: Any, path: Path) -> Any:
    try:
        return [_fields(record) for record in read(path)]
    except DataError as error:
        return str(error)


def _fields(record: LogRecord) -> tuple[Any, ...]:
    names = [*STAMP, "record", *(set(LOGGED) - set(STAMP) if record.record == "call" else ())]
    return tuple(getattr(record, name) for name in sorted(names))


@pytest.mark.parametrize(
    "log",
    [
        "".join(f"{json.dumps(line)}\n" for line in LINES),
        "".join(f"{json.dumps(line)}\n\n" for line in LINES),
        "".join(f"{json.dumps(line)}\n" for line in LINES)[:-9],
        "",
        "{}\n",
        f"{json.dumps({**LOGGED, 'is_error': 'no'})}\n",
        f"{json.dumps({**LOGGED, 'arguments': {'n': 10**350}})}\n",
        f"{json.dumps({**LOGGED, 'record': 'gasp'})}\n",
        f"{json.dumps(LOGGED)}\nnonsense\n{json.dumps(LOGGED)}\n",
    ],
    ids=[
        "whole",
        "blank lines",
        "torn",
        "empty",
        "no record",
        "coerced",
        "long number",
        "unknown",
        "damaged",
    ],
)
def test_a_call_log_is_read_as_the_full_reader_reads_it(log: str, tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(log)
    assert _records(skim_calls, path) == _records(read_calls, path)
    assert _records(skim_calls, tmp_path / "none") == _records(read_calls, tmp_path / "none")
