"""Fixtures of all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


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
