"""Grid Atlas: grids of experiment results as a results website that people can trust.

`gridatlas.load("data")["study"].grid(model="…", benchmark="…")` gives one grid, and
`gridatlas.from_frame(frame)` a study of a data frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gridatlas.api import load
    from gridatlas.model.lookup import UnknownName
    from gridatlas.model.problems import DataProblems, Problem
    from gridatlas_import.frame_study import from_frame

__all__ = ["DataProblems", "Problem", "UnknownName", "from_frame", "load"]
__version__ = "0.1.0"

_MODULES = {
    "DataProblems": "gridatlas.model.problems",
    "Problem": "gridatlas.model.problems",
    "UnknownName": "gridatlas.model.lookup",
    "from_frame": "gridatlas_import.frame_study",
    "load": "gridatlas.api",
}
"""Where the public names are: each is imported once it is used, as all modules import this one."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = getattr(import_module(_MODULES[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    """What is for users; the modules that this one has imported are not."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
