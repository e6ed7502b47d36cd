"""Grid Atlas: grids of experiment results as a results website that people can trust.

`gridatlas.load("data")["study"].grid(model="…", benchmark="…")` gives one grid.
"""

from __future__ import annotations

from gridatlas.api import load
from gridatlas.model.lookup import UnknownName
from gridatlas.model.problems import DataProblems, Problem

__all__ = ["DataProblems", "Problem", "UnknownName", "load"]
__version__ = "0.1.0"


def __dir__() -> list[str]:
    """What is for users; the modules that this one has imported are not."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
