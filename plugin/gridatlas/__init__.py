"""Grid Atlas: grids of experiment results as a results website that people can trust.

`gridatlas.load("data")["study"].grid(model="…", benchmark="…")` gives one grid.
"""

from __future__ import annotations

from gridatlas.analyse import UnknownName
from gridatlas.opened import load
from gridatlas.problems import DataProblems, Problem

__all__ = ["DataProblems", "Problem", "UnknownName", "load"]
__version__ = "0.1.0"
