"""Studies for tests: their files, written from a few arguments."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gridatlas.assessment.assessment import Assessments
from gridatlas.assessment.pipeline import load_data
from gridatlas.data.reader import StudySource
from gridatlas.model.problems import Problem
from gridatlas.model.study import Study

REPOSITORY = Path(__file__).parents[1]

HEAD = "format: 1\ntitle: A demo\nmetric: {name: Accuracy, better: higher}\nx: rate\ny: depth\n"
"""The smallest study.yml that works; its cells are in the columns rate, depth and value."""
CELLS = "rate,depth,value\n1,1,1\n"
"""The smallest table of it."""

Read = Callable[..., tuple[StudySource | None, list[Problem]]]
Checked = Callable[..., tuple[Study | None, list[Problem]]]
MakeStudy = Callable[..., Study]


@functools.cache
def real_data() -> Assessments:
    """This repository's own studies, read and assessed once per process."""
    return load_data(REPOSITORY / "data")


def calls(do: Callable[[], object]) -> int:
    """How many functions are called while something is done, which is the same on any machine."""
    count = 0

    def called(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        do()
    finally:
        sys.setprofile(before)
    return count


def cases(test: str, name: str) -> list[Any]:
    """Give the rows of one table in the YAML file beside a test, by their ids where they have some.

    A list within a list is a tuple.
    """
    tables = yaml.safe_load(Path(test).with_suffix(".yml").read_text("utf-8"))
    rows = tables[name].items() if isinstance(tables[name], dict) else enumerate(tables[name])
    return [
        pytest.param(*map(_of_tuples, row), id=key if isinstance(key, str) else None)
        for key, row in rows
    ]


def _of_tuples(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [tuple(item) if isinstance(item, list) else item for item in value]


def table(head: str, *rows: str) -> str:
    """CSV text from its lines."""
    return "\n".join((head, *rows)) + "\n"


def rows(grid: str, *before: str) -> list[str]:
    """CSV lines of a grid: rows (levels of y) by lines, columns (of x) by spaces, - where absent.

    Args:
        before: Facet levels that stand in each line.
    """
    return [
        ",".join((*before, str(x), str(y), value))
        for y, line in enumerate(grid.strip().splitlines(), 1)
        for x, value in enumerate(line.split(), 1)
        if value != "-"
    ]


def write_study(
    folder: Path,
    study: str | Mapping[str, Any] = HEAD,
    cells: str | None = CELLS,
    files: Mapping[str, str] | None = None,
) -> Path:
    """Write a study's files, over those that are there, and give its folder back.

    Args:
        folder: Of the study, such as `data/demo`; it is made where it isn't there.
        study: The text of `study.yml`, or its content.
        cells: The text of `cells.csv`; None to write none.
        files: Texts of further files, by their paths in the folder.
    """
    text = study if isinstance(study, str) else json.dumps(study)
    tables = {} if cells is None else {"cells.csv": cells}
    return write_files(folder, {"study.yml": text, **tables, **(files or {})})


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write texts by their paths in a folder, as UTF-8 (`?` for half a character)."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace", newline="")
    return folder
