"""The command `gridatlas`."""

from gridatlas.cli.main import main

__all__ = ["main"]
