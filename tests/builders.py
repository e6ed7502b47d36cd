"""What tests say of studies: the least that works, and tables from lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gridatlas.data.reader import StudySource
from gridatlas.model.problems import Problem
from gridatlas.model.study import Study

REPOSITORY = Path(__file__).parents[1]

HEAD = "format: 1\ntitle: A demo\nmetric: {name: Accuracy}\nx: rate\ny: depth\n"
"""The least study.yml that works; its cells are in the columns rate, depth and value."""

Read = Callable[..., tuple[StudySource | None, list[Problem]]]
Checked = Callable[..., tuple[Study | None, list[Problem]]]
MakeStudy = Callable[..., Study]


def table(head: str, *rows: str) -> str:
    """CSV text from its lines."""
    return "\n".join((head, *rows)) + "\n"
