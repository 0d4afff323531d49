"""Where a sweep reads its episodes and writes its cells."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from atr_client.errors import ConfigError
from atr_client.outputs.stores import Store, is_address, place_of
from atr_client.sweep.config import RunConfig
from atr_data import packaged_episodes_dir

EPISODES_VARIABLE = "ATR_EPISODES"
OUTPUTS_VARIABLE = "ATR_OUTPUTS_ROOT"

_NO_STORE = "the address of a store is for atr-client run on episodes; name a folder"


def episodes_folder(
    config: RunConfig, option: Path | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """The option, else the configuration, else ATR_EPISODES, else the episodes that ship with the package.

    Raises ConfigError when the configuration wants a folder and nobody names one.
    """
    if folder := option or config.episodes.folder:
        return folder
    if from_environment := environment.get(EPISODES_VARIABLE):
        return Path(from_environment)
    if config.episodes.needs_folder:
        raise ConfigError(
            f"{config.name}: name the folder of the episodes with --episodes DIR or {EPISODES_VARIABLE}"
        )
    return packaged_episodes_dir()


class _Writes(Protocol):
    """A configuration of either track."""

    @property
    def outputs(self) -> Path | str: ...


def outputs_place(
    config: _Writes, option: Path | Store | None = None, environment: Mapping[str, str] = os.environ
) -> Path | Store:
    """The option, else ATR_OUTPUTS_ROOT, else the configuration: a folder, or a store at an address. Raises
    ConfigError for an address that is none."""
    return option or place_of(environment.get(OUTPUTS_VARIABLE) or str(config.outputs))


def outputs_root(
    config: _Writes, option: Path | Store | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """The same for a command that needs a folder. Raises ConfigError for another address."""
    place = outputs_place(config, option, environment)
    if isinstance(place, Store):
        raise ConfigError(f"outputs {place.address}: {_NO_STORE}")
    _refuse_address(place)
    return place


@contextmanager
def playing_root(place: Path | Store) -> Generator[Path]:
    """The folder in which cells are played: the place itself, or one for the while, from which they go to the
    store."""
    if isinstance(place, Path):
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="atr-run-") as root:
        yield Path(root)


def check_writable(root: Path | Store) -> None:
    """Creates the folder if need be. Raises ConfigError when nothing can be written there."""
    if isinstance(root, Store):
        root.check()
        return
    _refuse_address(root)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=root, prefix=".write-test-"):
            pass
    except OSError as error:
        raise ConfigError(f"outputs folder {root} cannot be written to: {error.strerror}") from error


def _refuse_address(folder: Path) -> None:
    """One that was read as a path would become a folder called `s3:`."""
    if is_address(str(folder)):
        raise ConfigError(f"outputs {folder}: {_NO_STORE}")
