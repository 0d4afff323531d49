"""The command line: one module per command, what it prints, and the live progress."""

from atr_client.cli.app import main

__all__ = ["main"]
