"""Fixtures of all tests."""

from __future__ import annotations

import faulthandler
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

ROOT = Path(__file__).resolve().parent.parent
SECONDS_TO_END = 300


def pytest_configure() -> None:
    """A shell's background job ignores SIGINT (and nohup SIGHUP): what a test starts would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process that something keeps from its end says what it was, and ends all the same. (A worker of
    pytest-xdist waits for the others, and is ended by the process that began it.)"""
    if not hasattr(session.config, "workerinput"):
        faulthandler.dump_traceback_later(SECONDS_TO_END, exit=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


@pytest.fixture(autouse=True)
def log_configuration() -> Iterator[None]:
    """A command run in this process logs to its own stderr, which ends with its test."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder that holds conformance vectors, official episodes and the specification."""
    return Path(os.environ.get("ATR_CONFORMANCE_DIR", ROOT.parent / "shared" / "conformance")).parent


@pytest.fixture(scope="session")
def conformance_dir(shared_dir: Path) -> Path:
    folder = Path(os.environ.get("ATR_CONFORMANCE_DIR", shared_dir / "conformance"))
    if not folder.is_dir():
        pytest.skip("no conformance vectors here (ATR_CONFORMANCE_DIR)")
    return folder


@pytest.fixture(scope="session")
def official_dir(shared_dir: Path) -> Path:
    folder = shared_dir / "official"
    if not folder.is_dir():
        pytest.skip("no official release here")
    return folder


@pytest.fixture(scope="session", autouse=True)
def only_loopback() -> Iterator[None]:
    """No test reaches any other machine: a connection to a foreign address is an error at once."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise AssertionError(f"a test wants to reach {address[0]}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        yield


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")
