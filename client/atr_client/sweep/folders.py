"""Where a sweep reads its episodes and writes its cells."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from atr_client.errors import ConfigError
from atr_client.sweep.config import RunConfig
from atr_data import packaged_episodes_dir

EPISODES_VARIABLE = "ATR_EPISODES"
OUTPUTS_VARIABLE = "ATR_OUTPUTS_ROOT"


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


def outputs_root(
    config: RunConfig, option: Path | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """The option, else ATR_OUTPUTS_ROOT, else the configuration."""
    if option:
        return option
    from_environment = environment.get(OUTPUTS_VARIABLE)
    return Path(from_environment) if from_environment else config.outputs


def check_writable(root: Path) -> None:
    """Creates the folder if need be. Raises ConfigError when nothing can be written there."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=root, prefix=".write-test-"):
            pass
    except OSError as error:
        raise ConfigError(f"outputs folder {root} cannot be written to: {error.strerror}") from error
