"""A study of a data frame for scripts and notebooks: what `gridatlas.from_frame` gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as with_changes
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from gridatlas.api import OpenStudy, opened
from gridatlas.data.reader import STUDY_FILE
from gridatlas.model.format import format_value
from gridatlas.model.inert import without_commands
from gridatlas.model.problems import DataProblems, Problem, join_names
from gridatlas_import.cells import make_cells
from gridatlas_import.choose import Choice, choose
from gridatlas_import.frames import table_of_frame
from gridatlas_import.options import ImportOptions
from gridatlas_import.propose import Proposal, collision
from gridatlas_import.report import proposal_lines
from gridatlas_import.rows import CannotImport
from gridatlas_import.study_text import study_text
from gridatlas_import.write import check_place, check_staged, put, staged

SOURCE = "data frame"


@dataclass(frozen=True, slots=True, repr=False)
class FrameStudy(OpenStudy):
    """A study of a data frame, in memory until you save it.

    Attributes:
        findings: What the checks noticed.
    """

    texts: Mapping[str, str] = field(kw_only=True, repr=False, compare=False)
    findings: tuple[Problem, ...] = field(default=(), kw_only=True, repr=False, compare=False)

    def save(self, folder: str | Path, *, replace: bool = False) -> Path:
        """Write `study.yml` and `cells.csv`.

        Args:
            folder: The folder of the study, such as `data/tuning`. Its name is the id.
            replace: Whether to replace an existing study.

        Returns:
            The folder.

        Raises:
            ValueError: The folder already has a study, and `replace` is false.
        """
        folder = Path(folder)
        try:
            check_place(folder.parent, folder.name, replace=replace)
            with staged(folder.parent, folder.name, self.texts, dry=False) as stage:
                put(stage, folder.parent, folder.name)
        except CannotImport as error:
            raise ValueError(_for_python(error)) from None
        return folder


def from_frame(
    frame: Any,
    *,
    x: str | None = None,
    y: str | None = None,
    metric: str | None = None,
    facets: Iterable[str] = (),
    repeats: str | Iterable[str] = (),
    better: Literal["higher", "lower"] | None = None,
    unit: str | None = None,
    range: tuple[float, float] | None = None,
    decimals: int | None = None,
    n: str | None = None,
    successes: str | None = None,
    stderr: str | None = None,
    spread: str | None = None,
    spread_kind: Literal["sd", "se", "ci95"] | None = None,
    spread_n: int | None = None,
    title: str = "Results",
    study: str = "results",
) -> FrameStudy:
    """Create a study from a data frame with one row per measurement, and check it.

    It proposes the roles that you leave out, as `gridatlas import` does, and prints the reasons.

    Args:
        frame: Of pandas or polars, or any with `__dataframe__` or Arrow's `__arrow_c_stream__`.
        x: The column of the horizontal axis.
        y: The column of the vertical axis; `""` for none.
        metric: The column of the values.
        facets: The columns of other varied quantities.
        repeats: The columns that number the repeats of a cell, or `"rows"` if none does.
        better: Which values are better. The default comes from the name of the metric.
        unit: The unit of the values, such as `%`; `""` for none.
        range: Lowest and highest possible value, in the unit.
        decimals: Decimals in pictures, from 0 to 12.
        n: The column of trials behind each value.
        successes: The column of trials that succeeded, from 0 to n.
        stderr: The column of standard errors, in the unit.
        spread: The column of the numbers after ±, in the unit; `""` for none.
        spread_kind: Standard deviation, standard error, or half of a 95 % interval.
        spread_n: The number of repeats behind each value, 2 or more.
        title: The title of the study.
        study: The id of the study.

    Returns:
        The study, in memory.

    Raises:
        ValueError: Several roles are reasonable, or rows of one cell differ. The message has the
            argument to add.
        DataProblems: The study has problems.
    """
    ends = None if range is None else (Decimal(str(range[0])), Decimal(str(range[1])))
    counts = {"n": n, "successes": successes, "stderr": stderr}
    asked = ImportOptions(
        x,
        y,
        metric,
        (facets,) if isinstance(facets, str) else tuple(facets),
        (repeats,) if isinstance(repeats, str) else tuple(repeats),
        counts={kind: name for kind, name in counts.items() if name is not None},
        unit=unit,
        range=ends,
        better=better,
        decimals=decimals,
        spread=spread,
        spread_kind=spread_kind,
        spread_n=spread_n,
    )
    return _study_of(_proposed(frame, asked), with_changes(asked, title=title, study=study))


def _study_of(proposal: Proposal, asked: ImportOptions) -> FrameStudy:
    """The study of a proposal, checked.

    Raises:
        ValueError: For rows that are wrong.
        DataProblems: Where it can't be shown.
    """
    imported = make_cells(proposal, None)
    bad = [row for row in imported.reported if row.bad]
    if bad and proposal.collisions:
        raise ValueError(_for_python(collision(proposal)))
    if bad:
        wrong = join_names((f"{row.place}: {row.why}" for row in bad), 5)
        raise ValueError(f"{len(bad)} wrong rows: {wrong}")
    text = study_text(imported, proposal, asked, SOURCE)
    study, texts = asked.study or "", {STUDY_FILE: text, **imported.tables()}
    with staged(Path("data"), study, texts, dry=True) as stage:
        checked = check_staged(stage, Path("data"))
    if not checked.usable:
        raise DataProblems(checked.problems)
    if not asked.complete:
        print(without_commands(_python_names("\n".join(proposal_lines(proposal, SOURCE)))))
    for problem in checked.problems:
        print(without_commands(str(problem)))
    found = opened(checked.loaded[study])
    return FrameStudy(
        found.study,
        found.grids,
        found.problems,
        assessment=checked.loaded[study],
        texts=texts,
        findings=checked.problems,
    )


def _proposed(frame: Any, asked: ImportOptions) -> Proposal:
    """What the columns of a frame are.

    Raises:
        ValueError: Where that isn't clear; with what to do.
    """
    try:
        choice = choose(table_of_frame(frame), asked)
    except CannotImport as error:
        raise ValueError(_for_python(error)) from None
    if choice.proposal is None:
        raise ValueError(_question(choice))
    return choice.proposal


def _for_python(error: CannotImport) -> str:
    """A refusal with arguments where the command has options."""
    each = (f"{problem.found}; fix: {problem.fix}" for problem in error.problems)
    return _python_names("; ".join(each))


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
