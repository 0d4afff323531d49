"""What a user may want from an assistant: the closed list of intents and the slots that each one takes."""

from __future__ import annotations

from typing import Literal, get_args

Intent = Literal[
    "information_lookup",
    "knowledge_qa",
    "data_analysis",
    "coding",
    "content_generation",
    "advice",
    "summarization",
    "document_editing",
    "comparison",
    "translation",
    "creative_design",
    "format_conversion",
    "math_calculation",
    "functional_testing",
    "error_correction",
    "uncategorized",
]

INTENTS: tuple[Intent, ...] = get_args(Intent)

_SECOND_SLOT: dict[Intent, str] = {
    "comparison": "against",
    "translation": "language",
    "format_conversion": "format",
}


def slot_keys(intent: Intent) -> tuple[str, ...]:
    """The slots of an intent: what it is about, and one detail of it."""
    return ("about", _SECOND_SLOT.get(intent, "detail"))
