"""Tests cannot reach the network."""

from __future__ import annotations

import asyncio
import socket

import pytest


def test_a_foreign_address_is_refused_at_once() -> None:
    with socket.socket() as client, pytest.raises(AssertionError, match=r"reach 192\.0\.2\.1"):
        client.connect(("192.0.2.1", 80))


async def test_the_event_loop_is_guarded_too() -> None:
    with pytest.raises(AssertionError, match=r"reach 192\.0\.2\.1"):
        await asyncio.open_connection("192.0.2.1", 80)


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
