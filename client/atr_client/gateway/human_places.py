"""Where people sit: pages for whoever plays agent or user, a terminal for a user."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal

import anyio
from starlette.routing import Route

from atr_client.gateway.desk import Desk
from atr_client.gateway.human_pages import agent_routes, pages, person_routes
from atr_client.gateway.person import Person
from atr_client.gateway.seat import Seat
from atr_client.gateway.terminal import ask_at_the_terminal

HUMAN = "human"
"""The name of an agent that is a person."""

UserAt = Literal["page", "terminal", "client"]
"""Where a human user is asked: in a page, at the terminal, by the agent's own client."""


@asynccontextmanager
async def human_places(
    desks: Sequence[Desk], agent: str, user_at: UserAt, announce: Callable[[str], None]
) -> AsyncGenerator[None]:
    """What the people at these desks need, while the block runs. `announce` gets a line for each page."""
    made: dict[str, Callable[[str], list[Route]]] = {}
    at_terminal: list[Person] = []
    for desk in desks:
        desk.asks_through_client = user_at == "client"
        if agent == HUMAN:
            made[f"agent of {desk.cell.key.cell_id}"] = partial(agent_routes, Seat(desk))
        if desk.person and user_at == "page":
            made[f"user of {desk.cell.key.cell_id}"] = partial(person_routes, desk.person)
        if desk.person and user_at == "terminal":
            at_terminal.append(desk.person)
    async with pages(made, announce), anyio.create_task_group() as tasks:
        for person in at_terminal:
            tasks.start_soon(ask_at_the_terminal, person, announce)
        yield
        tasks.cancel_scope.cancel()


async def play_at_pages(desks: Sequence[Desk]) -> None:
    """Runs the desks until every session of each is over and scored."""
    async with anyio.create_task_group() as tasks:
        for desk in desks:
            tasks.start_soon(desk.run)
        for desk in desks:
            await desk.finished()
        tasks.cancel_scope.cancel()
