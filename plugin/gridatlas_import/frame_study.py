"""A study of a data frame for scripts and notebooks: what `gridatlas.from_frame` gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from gridatlas.api import OpenStudy, opened
from gridatlas.model.inert import without_commands
from gridatlas.model.problems import Problem
from gridatlas_import.frames import FrameResult, save_texts, study_of_frame
from gridatlas_import.metric import MetricAsked
from gridatlas_import.options import ImportOptions, SpreadAsked


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
        save_texts(dict(self.texts), folder, replace=replace)
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
        about=MetricAsked(unit, ends, better, decimals),
        spread=SpreadAsked(spread, spread_kind, spread_n),
    )
    found = study_of_frame(frame, asked, study, title)
    if None in (x, y, metric):
        print(without_commands("\n".join(found.lines)))
    for problem in found.findings:
        print(without_commands(str(problem)))
    return _in_memory(found)


def _in_memory(found: FrameResult) -> FrameStudy:
    in_memory = opened(found.assessment)
    return FrameStudy(
        in_memory.study,
        in_memory.grids,
        in_memory.problems,
        assessment=found.assessment,
        texts=found.texts,
        findings=found.findings,
    )
