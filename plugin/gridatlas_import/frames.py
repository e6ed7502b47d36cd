"""A study of a data frame: the roles that are proposed for a table, without a file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.cells import require_pandas
from gridatlas.model.format import format_value
from gridatlas.model.problems import DataProblems, Problem, join_names
from gridatlas_import.cells import make_cells
from gridatlas_import.choose import Choice, choose
from gridatlas_import.options import ImportOptions
from gridatlas_import.propose import collision
from gridatlas_import.report import proposal_lines
from gridatlas_import.rows import CannotImport, RawTable, SeveralProblems, by_columns, unique_names
from gridatlas_import.study_text import About, study_text
from gridatlas_import.write import FILES, check_place, check_staged, put, staged

SOURCE = "data frame"


@dataclass(frozen=True, slots=True)
class FrameResult:
    """What becomes of a frame.

    Attributes:
        texts: The files of the study, by their names.
        lines: What is proposed, and why.
        findings: What the checks say of its numbers.
    """

    assessment: Assessment
    texts: dict[str, str]
    lines: tuple[str, ...]
    findings: tuple[Problem, ...]


def table_of_frame(frame: Any) -> RawTable:
    """The rows of a data frame as texts, every number with the digits that Python prints.

    Args:
        frame: Of pandas or polars, or anything with `__dataframe__` or `__arrow_c_stream__`. An
            index that has names gives columns.

    Raises:
        ImportError: Without pandas.
    """
    if hasattr(frame, "iter_rows") and hasattr(frame, "columns"):
        return _of_polars(frame)
    require_pandas()
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        if hasattr(frame, "__dataframe__"):
            frame = pd.api.interchange.from_dataframe(frame)
        elif hasattr(frame, "__arrow_c_stream__"):
            import pyarrow as pa  # whoever has a table of Arrow has it

            frame = pa.table(frame).to_pandas()
        else:
            raise TypeError(f"{type(frame).__name__} instead of a data frame")
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    given = [SEPARATOR.join(map(str, _parts(name))) for name in frame.columns]
    names, notes = unique_names(given)
    columns = {
        name: ["" if absent else str(value) for value, absent in _values(frame.iloc[:, at])]
        for at, name in enumerate(names)
    }
    places = [f"row {at}" for at in range(len(frame))]
    return RawTable("in memory", columns, places, notes=tuple(notes))


def _of_polars(frame: Any) -> RawTable:
    """The rows of a frame of polars, which needs neither pandas nor pyarrow."""
    names, notes = unique_names([*map(str, frame.columns)])
    rows = [["" if _is_gap(value) else str(value) for value in row] for row in frame.iter_rows()]
    places = [f"row {at}" for at in range(len(rows))]
    return RawTable("in memory", by_columns(names, rows), places, notes=tuple(notes))


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


SEPARATOR = "."


def _parts(name: Any) -> Sequence[Any]:
    return [part for part in name if str(part)] if isinstance(name, tuple) else [name]


def _values(column: Any) -> Iterator[tuple[Any, bool]]:
    return zip(column, column.isna(), strict=True)


def study_of_frame(frame: Any, asked: ImportOptions, study: str, title: str) -> FrameResult:
    """A checked study of a frame.

    Raises:
        ValueError: Where it isn't clear what its columns are, or rows are wrong; with what to do.
        DataProblems: Where the study can't be shown.
    """
    try:
        choice = choose(table_of_frame(frame), asked, None)
    except CannotImport as error:
        raise ValueError(_for_python(error)) from None
    proposal = choice.proposal
    if proposal is None:
        raise ValueError(_question(choice))
    imported = make_cells(proposal, None)
    bad = [row for row in imported.reported if row.bad]
    if bad and proposal.collisions:
        raise ValueError(_for_python(collision(proposal)))
    if bad:
        wrong = join_names((f"{row.place}: {row.why}" for row in bad), 5)
        raise ValueError(f"{len(bad)} wrong rows: {wrong}")
    about = About(title, SOURCE)
    texts = dict(zip(FILES, (study_text(imported, proposal, about), imported.csv()), strict=True))
    with staged(Path("data"), study, texts, dry=True) as stage:
        checked = check_staged(stage, Path("data"))
    if not checked.usable:
        raise DataProblems(checked.problems)
    lines = tuple(map(_python_names, proposal_lines(proposal, SOURCE)))
    return FrameResult(checked.loaded[study], texts, lines, checked.problems)


def save_texts(texts: dict[str, str], folder: Path, *, replace: bool) -> None:
    """Write a study's files into a folder: whole or not at all.

    Raises:
        ValueError: Where there is one already, or it can't be written.
    """
    try:
        check_place(folder.parent, folder.name, replace=replace)
        with staged(folder.parent, folder.name, texts, dry=False) as stage:
            put(stage, folder.parent, folder.name)
    except CannotImport as error:
        raise ValueError(_for_python(error)) from None


def _for_python(error: CannotImport) -> str:
    """A refusal with arguments where the command has options."""
    problems = error.problems if isinstance(error, SeveralProblems) else (error,)
    return _python_names("; ".join(f"{problem.found}; fix: {problem.fix}" for problem in problems))


def _python_names(text: str) -> str:
    """Arguments where a text names options: `facets=model` for `--facet model`."""
    text = re.sub("; where each column is a level of x, add --wide", "", text)
    text = text.replace("--facet ", "--facets ").replace("--replace", "replace=True")
    text = re.sub(r"--([a-z]+)(?=,| and\b|$)", r"\1=", text)
    return re.sub(r"--([a-z]+) ?", r"\1=", text)


def _question(choice: Choice) -> str:
    meant = (
        f"x={found.x!r}, y={found.y!r}, metric={found.metric!r}, facets={[*found.facets]} "
        f"({format_value(100 * found.density, 0)}% of the cells)"
        for found in choice.candidates
    )
    return f"{choice.question}: name x, y and metric, such as {'; or '.join(meant)}"
