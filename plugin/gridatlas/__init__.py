"""Grid Atlas: grids of experiment results as a results website that people can trust.

`gridatlas.load("data")["study"].grid(model="…", benchmark="…")` gives one grid, and
`gridatlas.from_frame(frame)` a study of a data frame.
"""

from __future__ import annotations

from gridatlas.api import from_frame, load
from gridatlas.model.lookup import UnknownName
from gridatlas.model.problems import DataProblems, Problem

__all__ = ["DataProblems", "Problem", "UnknownName", "from_frame", "load"]
__version__ = "0.1.0"


def __dir__() -> list[str]:
    """What is for users; the modules that this one has imported are not."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
