"""A person at the agent's own client: her answers come by MCP elicitation, in both eras of the protocol.

In the older one the server asks the client while the call waits. In the newer one a server cannot call: the
call is answered with what is wanted, and comes again with the answer; meanwhile the session goes on waiting.
"""

from __future__ import annotations

from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
)

from atr_client.gateway.acting import Told
from atr_client.gateway.person import Answer, Person, Question
from atr_client.gateway.served_place import Place

ANSWER = "answer"
"""Under which the newer era knows the one thing that is wanted."""

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "title": "Your answer"},
        "ends": {"type": "boolean", "title": "I take my leave", "default": False},
    },
    "required": ["text"],
}


async def call_with_person(
    context: ServerRequestContext[Any],
    params: CallToolRequestParams,
    seat: Place,
    person: Person,
    longest: int | None,
    *,
    modern: bool,
) -> Told | InputRequiredResult:
    """The call, with the person asked on the way when it comes to that."""
    if modern:
        return await _in_turns(params, seat, person, longest)
    told = Told([])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_relay, context, person)
        told = await seat.call(params.name, params.arguments or {}, longest)
        tasks.cancel_scope.cancel()
    return told


async def _relay(context: ServerRequestContext[Any], person: Person) -> None:
    number = 0
    while True:
        question = await person.asked(after=number)
        number = question.number
        if _can_ask(context):
            result = await context.session.elicit_form(question.text, _SCHEMA, context.request_id)
            _take(person, question, result)
        else:
            person.leave("the agent's client cannot ask anybody")


def _can_ask(context: ServerRequestContext[Any]) -> bool:
    params = context.session.client_params
    return params is not None and params.capabilities.elicitation is not None


async def _in_turns(
    params: CallToolRequestParams, seat: Place, person: Person, longest: int | None
) -> Told | InputRequiredResult:
    given = (params.input_responses or {}).get(ANSWER)
    if isinstance(given, ElicitResult) and person.question:
        _take(person, person.question, given)
    told: Told | None = None
    async with anyio.create_task_group() as tasks:

        async def stop_when_asked() -> None:
            await person.asked()
            tasks.cancel_scope.cancel()

        tasks.start_soon(stop_when_asked)
        resumed = given is not None
        told = await (seat.resume() if resumed else seat.call(params.name, params.arguments or {}, longest))
        tasks.cancel_scope.cancel()
    if told is not None:
        return told
    assert person.question, "what stops the call is a question"
    wanted = ElicitRequestFormParams(message=person.question.text, requested_schema=_SCHEMA)
    return InputRequiredResult(
        input_requests={ANSWER: ElicitRequest(params=wanted)}, request_state=str(person.question.number)
    )


def _take(person: Person, question: Question, result: ElicitResult) -> None:
    if result.action != "accept":
        person.leave(f"the agent's client answered {result.action}")
        return
    content = result.content or {}
    person.answer(question.number, Answer(str(content.get("text", "")), content.get("ends") is True))
