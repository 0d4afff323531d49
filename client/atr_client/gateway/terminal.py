"""A person who plays the user at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

import anyio

from atr_client.gateway.person import Answer, Person

END = "/end"
"""What she types to take her leave."""


async def ask_at_the_terminal(person: Person, show: Callable[[str], None]) -> None:
    """Shows each question and reads a line of standard input; until cancelled. Once that has ended, nobody
    answers."""
    number = 0
    while True:
        question = await person.asked(after=number)
        number = question.number
        show(f"\n{question.text}\n\nYour answer in one line ({END} to take your leave):")
        line = await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
        if not line:
            person.leave("standard input ended")
        elif line.strip() == END:
            person.answer(number, Answer(ends=True))
        else:
            person.answer(number, Answer(line.strip() or "..."))
