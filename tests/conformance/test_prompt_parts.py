"""System prompts have the right parts in the right order."""

from __future__ import annotations

from pathlib import Path

from atr_client.session.prompting import system_prompt_parts
from tests.support.vectors import read_jsonl, report


def _agrees(case: dict) -> bool:
    args = (case["session_type"], case["variant"], case["domain"], case["context"])
    try:
        parts = system_prompt_parts(*args)
    except ValueError:
        return case["expected"] == {"error": True}
    return case["expected"] == {"parts": [name for name, _ in parts]} and all(text for _, text in parts)


def test_prompt_parts_agree(conformance_dir: Path) -> None:
    report("prompt_parts.jsonl", read_jsonl(conformance_dir / "prompt_parts.jsonl"), _agrees)
