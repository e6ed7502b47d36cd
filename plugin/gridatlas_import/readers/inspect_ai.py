"""Logs of Inspect, which are read together: some are copies of others, or tried again."""

from __future__ import annotations

from collections.abc import Sequence

from gridatlas_import.files import File
from gridatlas_import.logs.inspect_files import ENDING, is_inspect
from gridatlas_import.logs.inspect_logs import inspect_table
from gridatlas_import.rows import RawTable

ENDINGS = (ENDING, ".json")


def recognise(file: File) -> bool:
    """Whether a file is such a log."""
    return file.ending == ENDING or is_inspect(file.tree)


def read_all(files: Sequence[File]) -> RawTable:
    """The table of all logs.

    Raises:
        CannotImport: For logs that can't be read, or have no score.
    """
    return inspect_table(files)
