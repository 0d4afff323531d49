"""The command line of the tool servers."""

from atr_servers.cli.app import main

__all__ = ["main"]
