"""The HTTP application of the step host: requests, replies, refusals."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from atr_client.errors import CellAbort, CellError, ConfigError, StepError
from atr_client.gateway.step_host import StepHost, Stepper
from atr_client.gateway.stepped_play import Step
from atr_client.gateway.stepper import EpisodeStepper, Shaping
from atr_client.logs import get_logger
from atr_client.models.base import ModelReply
from atr_client.session.turns import SessionSettings
from atr_data.errors import DataError
from atr_data.load import describe
from atr_data.trajectory import ToolCall
from atr_servers.hosts.http_app import BODY_SECONDS, LOOPBACK_NAMES, Bearer, health, read_body, refusal
from atr_servers.hosts.requests import KnownSites, WholeBodies

_log = get_logger()

B = TypeVar("B", bound=BaseModel)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OpenRequest(_Body):
    """`episode` names one that the host has; the rest is as for `EpisodeStepper`. Of the sittings of a user,
    `timing/USER`, only `memory` (a mode of the workstream) and `timeout` mean something."""

    episode: str
    variant: str
    memory: str | None = None
    max_steps: int = Field(default=20, ge=0, le=1000)
    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    hook: bool = False
    reward_asked: float = Field(default=0.0, allow_inf_nan=False)
    reward_hit: float = Field(default=0.0, allow_inf_nan=False)


class CallBody(_Body):
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    id: str | None = None


class ReplyBody(_Body):
    """An agent's reply: text, tool calls, or both."""

    content: str | None = None
    tool_calls: list[CallBody] = Field(default_factory=list[CallBody], max_length=256)

    def reply(self, turn: int) -> ModelReply:
        calls = [
            ToolCall(id=call.id or f"call_{turn}_{n}", name=call.name, arguments=call.arguments)
            for n, call in enumerate(self.tool_calls)
        ]
        return ModelReply(self.content, calls)


def step_app(host: StepHost, *, token: str, allowed_hosts: Sequence[str] = ()) -> Starlette:
    """`GET` and `POST /episodes`, `GET` and `DELETE /episodes/<id>`, `POST /episodes/<id>/step` and `/reset`,
    all behind the bearer token, and `GET /health`. A refusal is `{"error": message}`.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with host.running():
            yield

    async def listed(_: Request) -> Response:
        return JSONResponse({"episodes": sorted([*host.episodes, *host.others])})

    async def opened(request: Request) -> Response:
        wanted = _read(OpenRequest, await read_body(request))
        async with _explained():
            stepper = _stepper(wanted, host)
            episode_id, step = await host.open(stepper)
        return JSONResponse({"id": episode_id, **_shown(step, stepper)}, status_code=201)

    async def stepped(request: Request) -> Response:
        body = _read(ReplyBody, await read_body(request))
        async with host.using(request.path_params["episode_id"]) as stepper, _explained():
            step = await stepper.step(body.reply(len(stepper.conversation)))
            return JSONResponse(_shown(step, stepper))

    async def shown(request: Request) -> Response:
        """The last step once more, for a client that lost the answer."""
        async with host.using(request.path_params["episode_id"]) as stepper:
            if stepper.last is None:
                raise HTTPException(409, "the episode broke off; reset it")
            return JSONResponse(_shown(stepper.last, stepper))

    async def reset(request: Request) -> Response:
        async with host.using(request.path_params["episode_id"]) as stepper, _explained():
            return JSONResponse(_shown(await stepper.reset(), stepper))

    async def closed(request: Request) -> Response:
        if not host.close(request.path_params["episode_id"]):
            raise HTTPException(404, "no such episode is open; it may have been closed")
        return Response(status_code=204)

    behind_token = [Middleware(Bearer, token=token)]
    return Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            *(
                Route(f"/episodes{path}", endpoint, methods=[method], middleware=behind_token)
                for path, method, endpoint in (
                    ("", "GET", listed),
                    ("", "POST", opened),
                    ("/{episode_id}/step", "POST", stepped),
                    ("/{episode_id}/reset", "POST", reset),
                    ("/{episode_id}", "GET", shown),
                    ("/{episode_id}", "DELETE", closed),
                )
            ),
        ],
        middleware=[
            Middleware(KnownSites, names=(*LOOPBACK_NAMES, *allowed_hosts)),
            Middleware(WholeBodies, seconds=BODY_SECONDS),
        ],
        exception_handlers={HTTPException: refusal},
        lifespan=lifespan,
    )


def _stepper(wanted: OpenRequest, host: StepHost) -> Stepper:
    if wanted.episode in host.others:
        return host.others[wanted.episode](wanted.memory, wanted.timeout)
    if wanted.episode not in host.episodes:
        raise HTTPException(404, "no such episode; GET /episodes lists them")
    return EpisodeStepper(
        host.episodes[wanted.episode],
        wanted.variant,
        memory=wanted.memory,
        settings=SessionSettings(wanted.max_steps, wanted.timeout, wanted.hook),
        shaping=Shaping(wanted.reward_asked, wanted.reward_hit),
    )


@asynccontextmanager
async def _explained() -> AsyncGenerator[None]:
    """What can go wrong with a step as a refusal; what broke around the agent is told in the log alone."""
    try:
        yield
    except StepError as error:
        raise HTTPException(409, str(error)) from error
    except (ConfigError, DataError) as error:
        raise HTTPException(400, str(error)) from error
    except CellAbort as error:
        _log.error("an episode broke off", error=str(error))
        raise HTTPException(502, f"{error.module} failed; reset the episode to play it again") from error
    except CellError as error:
        raise HTTPException(400, "the episode cannot be played in this variant") from error


def _read(kind: type[B], body: bytes) -> B:
    try:
        return kind.model_validate(json.loads(body))
    except ValidationError as error:
        reason = ": ".join(describe(error.errors(include_url=False)[0]))
        raise HTTPException(400, reason.encode("utf-8", "backslashreplace").decode()[:500]) from error
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the request body is no JSON: {str(error)[:200]}") from error


def _shown(step: Step, stepper: Stepper) -> dict[str, Any]:
    document: dict[str, Any] = {
        "session_id": step.session_id,
        "messages": [m.model_dump(mode="json", exclude_none=True) for m in step.messages],
        "kept": step.kept,
        "tools": [
            {"name": t.name, "description": t.description, "input_schema": dict(t.input_schema)}
            for t in step.tools
        ],
        "reward": step.reward,
        "done": step.done,
        "ended": [asdict(session) for session in step.ended],
    }
    if step.done:
        document["result"] = stepper.outcome
    return document
