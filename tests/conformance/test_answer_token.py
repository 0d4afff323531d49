"""The answer token is found, replaced, cleaned away and appended as recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from atr_user_sim import answer_token
from tests.support.vectors import Case, first, read_jsonl, report


def _agrees(case: Case) -> bool:
    reply, answer = case["reply"], case["replacement"]
    return (
        answer_token.has_token(reply) == case["has_token"]
        and answer_token.substitute(reply, answer) == case["substituted"]
        and answer_token.strip(reply) == case["stripped"]
        and ("appended" not in case or answer_token.append(reply, answer) == case["appended"])
    )


def test_answer_token_agrees(conformance_dir: Path) -> None:
    report("rule_answer_token.jsonl", read_jsonl(conformance_dir / "rule_answer_token.jsonl"), _agrees)


@pytest.mark.parametrize("field", ["has_token", "substituted", "stripped", "appended"])
def test_a_flipped_expectation_is_noticed(conformance_dir: Path, field: str) -> None:
    cases = read_jsonl(conformance_dir / "rule_answer_token.jsonl")
    case = first(cases, lambda case: field in case)
    case[field] = not case[field] if field == "has_token" else case[field] + "x"
    with pytest.raises(AssertionError, match="0/1 agree"):
        report("rule_answer_token.jsonl", [case], _agrees)
