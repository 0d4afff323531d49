"""Expected failures as one line and an exit code."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import click

from atr_client.errors import CellError, ConfigError
from atr_data import DataError


class UsageFault(click.ClickException):
    """The command, a file or the configuration is wrong."""

    exit_code = 2


class RunFault(click.ClickException):
    """The command was right, and could not be carried out."""

    exit_code = 1


@contextmanager
def reported_errors() -> Generator[None]:
    """Turns what is wrong with the command, its files and its folders into one line for the terminal."""
    try:
        yield
    except (ConfigError, DataError) as error:
        raise UsageFault(str(error)) from error
    except CellError as error:
        raise RunFault(str(error)) from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise RunFault(f"{where}{error.strerror or error}") from error
