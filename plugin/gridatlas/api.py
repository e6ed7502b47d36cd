"""Studies for scripts and notebooks: what `gridatlas.load` and `gridatlas.from_frame` give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gridatlas.assessment.answers import Answer
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.cells import columns, to_frame
from gridatlas.assessment.pipeline import load_data
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.model.format import many
from gridatlas.model.inert import without_commands
from gridatlas.model.limits import limited, limits_of
from gridatlas.model.problems import DataProblems, Problem, only_problems
from gridatlas.model.study import Levels
from gridatlas.table.grids import Results, find_study
from gridatlas.table.study_table import Grid

if TYPE_CHECKING:
    import pandas as pd

    from gridatlas.charts.altair_chart import Chart
    from gridatlas.importing.frames import FrameResult

Shown = dict[str, str]
"""What a notebook shows, by its media type."""


@dataclass(frozen=True, eq=False, repr=False)
class OpenGrid(Grid):
    """A grid of a study. In Jupyter, it shows its heatmap, without scripts or other hosts."""

    assessment: Assessment = field(kw_only=True, repr=False)

    @property
    def uncertainty(self) -> GridUncertainty:
        """Intervals of its cells, and the set that may be the best."""
        return self.assessment.uncertainty.of(self)

    @property
    def answer(self) -> Answer:
        """What the values of this grid alone support.

        Raises:
            LookupError: The grid is an aggregate. Use the answer of the study.
        """
        if self.aggregate:
            raise LookupError(f"{self.label} is an aggregate: ask the study, study.answer")
        return self.assessment.grid_answers[self.levels]

    def frame(self) -> pd.DataFrame:
        """The cells as a tidy pandas frame: one row per cell, in the order of the levels.

        It has these columns. What isn't known is NaN, `<NA>` or empty.

        - One per facet, x and y: the level. It is a number if all levels of the factor are
          numbers, else the id.
        - `value`: the metric in its unit, a float. Without a value it is NaN.
        - `state`: `ok`, `missing`, `failed`, `oom` or `disputed`.
        - `n`, `successes`: trials, and those that succeeded.
        - `stderr`: the standard error, in the unit.
        - `spread`: the number after ±, in the unit, if the study has one.
        - `interval_low`, `interval_high`: the widest 95 % interval, in the unit.
        - `may_be_best`: whether the cell is in the 95 % confidence set for the best of its grid.
        - `reading`: the reading of the value; empty for a computed aggregate.
        - `place`, `note`, `run`: its place in the source, a note, and its run.

        Raises:
            ImportError: Without pandas: install the extra `pandas`.
        """
        return to_frame(self._columns())

    def chart(self) -> Chart:
        """The heatmap as a plain `altair.Chart`, without the marks of the website.

        Returns:
            A chart with the columns of `frame()` as its data. It has no configuration, so you can
                layer, join and save it.
        """
        from gridatlas.charts.altair_chart import altair_chart

        return altair_chart(self.study, self._columns(), self.label)

    def svg(self) -> str:
        """The heatmap of the website.

        Returns:
            SVG as text. Its letters have the colour of the text around it.
        """
        from gridatlas.charts.compose import draw_grid
        from gridatlas.charts.pool import draw

        heatmap = draw_grid(self, best_set=self.assessment.cells(self).best_set)
        return draw([heatmap], self.assessment.cache)[heatmap].svg

    def _columns(self) -> dict[str, list[Any]]:
        return columns(self.study, [self.assessment.cells(self)])

    def _repr_html_(self) -> str:
        from gridatlas.pages.notebook_display import grid_html

        return grid_html(self, self.svg())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Shown:
        """As HTML with the SVG in it: nothing is loaded from anywhere, and no script runs."""
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def __str__(self) -> str:
        from gridatlas.pages.notebook_display import grid_text

        return grid_text(self)

    def __repr__(self) -> str:
        return f"<grid {self.study.id}/{self.address}>"


@dataclass(frozen=True, slots=True, repr=False)
class OpenStudy(Results):
    """A study. In Jupyter, it shows an overview of its grids; `print` lists them as text.

    Attributes:
        grids: The grids by their levels: one id per facet, in the order of the facets.
        problems: The notes of the checks.
    """

    grids: Mapping[Levels, OpenGrid]
    assessment: Assessment = field(kw_only=True, compare=False)

    def grid(self, **facets: object) -> OpenGrid:
        """The grid at one level of each facet.

        Args:
            facets: A level per facet, by id: `model="r1-qwen"`. Write `_` for a dash or dot in the
                name of a facet.

        Raises:
            UnknownName: A facet or level doesn't exist, or a facet has no level.
        """
        found = Results.grid(self, **facets)
        return self.grids[found.levels]

    @property
    def answer(self) -> Answer:
        """The answer at the top of the study's page."""
        return self.assessment.answers[""]

    @property
    def answers(self) -> Mapping[str, Answer]:
        """The answers of all pages of the study, by path: `model/r1-qwen`; `""` is the study."""
        return self.assessment.answers

    def frame(self) -> pd.DataFrame:
        """All cells of all grids as a tidy pandas frame, with the columns of `OpenGrid.frame`."""
        return to_frame(columns(self.study, map(self.assessment.cells, self.grids.values())))

    def _repr_html_(self) -> str:
        from gridatlas.pages.notebook_display import study_html

        return study_html(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Shown:
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def __str__(self) -> str:
        from gridatlas.pages.notebook_display import study_text

        return study_text(self)

    def __repr__(self) -> str:
        return f"<study {self.study.id}: {many(len(self.grids), 'grid')}>"


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
        from gridatlas.importing.frames import save_texts

        folder = Path(folder)
        save_texts(dict(self.texts), folder, replace=replace)
        return folder


class Studies(dict[str, OpenStudy]):
    """Studies by their ids; one that isn't there is refused with the nearest."""

    def __missing__(self, name: object) -> OpenStudy:
        find_study(self, str(name))
        raise KeyError(name)


def load(
    data: str | Path,
    cache: str | Path | None = None,
    limits: Mapping[str, int] | None = None,
) -> Studies:
    """Read and check the studies of a data folder.

    Args:
        data: The folder with one folder per study.
        cache: A folder for drawings and intervals, such as `.cache/gridatlas` of a site. Without
            it, nothing is cached.
        limits: How large input may be, by the names of limits, such as `{"levels": 100_000}`.

    Returns:
        The studies by id. An unknown id raises `UnknownName`.

    Raises:
        DataProblems: The data has problems.
        ValueError: There is no such limit.
    """
    with limited(limits_of(limits or {})):
        assessments = load_data(Path(data), cache=None if cache is None else Path(cache))
    problems = only_problems(assessments.problems)
    if problems:
        raise DataProblems(problems)
    return Studies({study_id: _opened(study) for study_id, study in assessments.items()})


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
        frame: A pandas frame, or any with `__dataframe__` or Arrow's `__arrow_c_stream__`.
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
    from gridatlas.importing.frames import study_of_frame
    from gridatlas.importing.metric import MetricAsked
    from gridatlas.importing.options import ImportOptions, SpreadAsked

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
    opened = _opened(found.assessment)
    return FrameStudy(
        opened.study,
        opened.grids,
        opened.problems,
        assessment=found.assessment,
        texts=found.texts,
        findings=found.findings,
    )


def _opened(assessment: Assessment) -> OpenStudy:
    results = assessment.results
    grids = {
        levels: OpenGrid(grid.study, grid.levels, grid.table, assessment=assessment)
        for levels, grid in results.grids.items()
    }
    return OpenStudy(results.study, grids, results.problems, assessment=assessment)
