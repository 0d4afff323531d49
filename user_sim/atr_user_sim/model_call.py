"""Calls of a model that plays a role, with the faults that end a cell."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from atr_data.usage import Usage
from atr_user_sim.interface import (
    ChatMessage,
    Completion,
    CompletionFault,
    CompletionModel,
    ToolOffer,
    UserSimFault,
)
from atr_user_sim.prompt_files import prompt

Module = Literal["router", "cls", "user_sim"]

TRIES = 3
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n?\s*```", re.DOTALL)


async def call(
    model: CompletionModel,
    module: Module,
    messages: Sequence[ChatMessage],
    *,
    schema: Mapping[str, Any] | None = None,
    tools: Sequence[ToolOffer] = (),
) -> tuple[Completion, Usage]:
    """One completion and its usage, which counts as one call when the model reports any.

    Raises UserSimFault when the model could not be had.
    """
    try:
        completion = await model.complete(messages, schema=schema, tools=tools)
    except CompletionFault as error:
        raise UserSimFault(module, f"the model call failed: {error}") from error
    usage = completion.usage
    if usage is None:
        return completion, Usage()
    return completion, usage if usage.calls_without_usage else replace(usage, calls=1)


async def call_for_json(
    model: CompletionModel, module: Module, messages: Sequence[ChatMessage], schema: Mapping[str, Any]
) -> tuple[Any, Usage]:
    """The parsed JSON of an answer, and the usage of all calls it took. A code fence around it is accepted.

    An answer that cannot be parsed is asked for again, up to three calls in total, with a reminder of the
    form. Raises UserSimFault when none could be parsed.
    """
    *earlier, last = messages
    reminder = ChatMessage(last.role, f"{last.content}\n\n{prompt('json_reminder')}")
    usage, text = Usage(), ""
    for attempt in range(TRIES):
        asked = [*earlier, last if attempt == 0 else reminder]
        completion, spent = await call(model, module, asked, schema=schema)
        usage += spent
        text = (completion.text or "").strip()
        fenced = _FENCED.fullmatch(text)
        try:
            return json.loads(fenced[1] if fenced else text), usage
        except (ValueError, RecursionError):
            continue
    raise UserSimFault(module, f"no JSON in {TRIES} answers; the last one begins {text[:80]!r}")
