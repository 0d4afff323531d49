"""Mock providers for the adapters' tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.mock_provider import CannedServer, LlmockServer


@pytest.fixture(scope="session")
def running_llmock() -> Iterator[LlmockServer]:
    server = LlmockServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def llmock_server(running_llmock: LlmockServer) -> LlmockServer:
    """llmock without requests and behaviours of earlier tests. It calls no tool unless told to."""
    running_llmock.reset()
    return running_llmock


@pytest.fixture(scope="session")
def running_canned_server() -> Iterator[CannedServer]:
    server = CannedServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def canned_server(running_canned_server: CannedServer) -> CannedServer:
    """A server that answers with what a test gives it."""
    running_canned_server.reset()
    return running_canned_server
