"""Small pages for people: one for the user, one for the agent, at addresses that cannot be guessed."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from atr_client.gateway.control_tools import offered_tools
from atr_client.gateway.person import Answer, Person, Question
from atr_client.gateway.seat import Seat
from atr_servers.hosts.http_app import BODY_SECONDS, LOOPBACK_NAMES, read_body, refusal
from atr_servers.hosts.requests import KnownSites, WholeBodies
from atr_servers.hosts.serve_http import serving

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    text: str = Field(default="", max_length=100_000)
    ends: bool = False


class _Call(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


@asynccontextmanager
async def pages(
    made: Mapping[str, Callable[[str], list[Route]]], announce: Callable[[str], None]
) -> AsyncGenerator[None]:
    """Serves pages while the block runs, and announces their addresses by name; `made` gives the routes of
    each below the secret part of its address."""
    if not made:
        yield
        return
    hidden = {name: secrets.token_urlsafe(24) for name in made}
    routes = [route for name, routes_below in made.items() for route in routes_below(hidden[name])]
    async with serving(pages_app(routes)) as url:
        for name, secret in hidden.items():
            announce(f"{name}: {url}/{secret}/")
        yield


def pages_app(routes: Sequence[Route]) -> Starlette:
    return Starlette(
        routes=list(routes),
        middleware=[
            Middleware(KnownSites, names=LOOPBACK_NAMES),
            Middleware(WholeBodies, seconds=BODY_SECONDS),
        ],
        exception_handlers={HTTPException: refusal},
    )


def person_routes(person: Person, secret: str) -> list[Route]:
    """The page below `/<secret>/`: the question at hand, and where the answer goes."""

    async def shown(_: Request) -> Response:
        return _page("user")

    async def question(_: Request) -> Response:
        return JSONResponse({"question": _told(person.question)})

    async def answer(request: Request) -> Response:
        try:
            given = _Given.model_validate_json(await read_body(request))
        except ValidationError as error:
            raise HTTPException(400, "an answer is {number, text, ends}") from error
        if not person.answer(given.number, Answer(given.text, given.ends)):
            raise HTTPException(409, "this question does not wait for an answer any more")
        return Response(status_code=204)

    return [
        Route(f"/{secret}/", shown, methods=["GET"]),
        Route(f"/{secret}/question", question, methods=["GET"]),
        Route(f"/{secret}/answer", answer, methods=["POST"]),
    ]


def agent_routes(seat: Seat, secret: str) -> list[Route]:
    """The page below `/<secret>/`: the tools as they are now, and where calls go."""

    async def shown(_: Request) -> Response:
        return _page("agent")

    async def tools(_: Request) -> Response:
        listed = [*seat.control_tools(everything=False), *offered_tools(seat.tool_names)]
        told = {"name", "description", "input_schema"}
        return JSONResponse({"tools": [tool.model_dump(include=told) for tool in listed]})

    async def call(request: Request) -> Response:
        try:
            made = _Call.model_validate_json(await read_body(request))
        except ValidationError as error:
            raise HTTPException(400, "a call is {name, arguments}") from error
        told = await seat.call(made.name, made.arguments)
        return JSONResponse({"texts": list(told.texts), "is_error": told.is_error})

    return [
        Route(f"/{secret}/", shown, methods=["GET"]),
        Route(f"/{secret}/tools", tools, methods=["GET"]),
        Route(f"/{secret}/call", call, methods=["POST"]),
    ]


def _page(name: str) -> Response:
    """It loads nothing, and puts all that it is told into text, never into markup."""
    text = files("atr_client.gateway").joinpath("pages", f"{name}.html").read_text(encoding="utf-8")
    return HTMLResponse(text, headers=_HEADERS)


def _told(question: Question | None) -> dict[str, Any] | None:
    if question is None:
        return None
    return {
        "number": question.number,
        "brief": question.brief,
        "said": [{"who": entry.role, "text": entry.content} for entry in question.said],
        "agent": question.agent,
        "note": question.note,
    }
