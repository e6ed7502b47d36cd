"""Studies for scripts and notebooks: what `gridatlas.load` gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridatlas.analysis.said import Answer
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.cells import columns, to_frame
from gridatlas.assessment.pipeline import load_data
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.model.format import many
from gridatlas.model.limits import limited, limits_of
from gridatlas.model.problems import DataProblems, only_problems
from gridatlas.model.study import Levels
from gridatlas.table.grids import Results, find_study
from gridatlas.table.study_table import Grid

if TYPE_CHECKING:
    import pandas as pd

    from gridatlas.charts.altair_chart import Chart

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
            LookupError: The grid has none: it is an aggregate, or repeats another's numbers. Use
                the answer of the study.
        """
        found = self.assessment.grid_answers.get(self.levels)
        if found is None:
            why = "is an aggregate" if self.aggregate else "takes no part in the answers"
            raise LookupError(f"{self.label} {why}: ask the study, study.answer")
        return found

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
        from gridatlas.charts.pool import draw
        from gridatlas.pages.heatmaps import figures_of

        heatmap = figures_of([(self.assessment.shown, self._shown)])[0].heatmap
        return draw([heatmap], self.assessment.cache)[heatmap].svg

    @property
    def _shown(self) -> Grid:
        """The grid in the unit that pages have."""
        return self.assessment.shown.results.grids[self.levels]

    def _columns(self) -> dict[str, list[Any]]:
        return columns([(self, self.uncertainty)])

    def _repr_html_(self) -> str:
        from gridatlas.pages.notebook_display import grid_html

        return grid_html(self, self.svg())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Shown:
        """As HTML with the SVG in it: nothing is loaded from anywhere, and no script runs."""
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def __str__(self) -> str:
        from gridatlas.pages.notebook_display import grid_text

        return grid_text(self._shown)

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
        return to_frame(columns((grid, grid.uncertainty) for grid in self.grids.values()))

    def _repr_html_(self) -> str:
        from gridatlas.pages.notebook_display import study_html

        return study_html(self.assessment.shown.results)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Shown:
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def __str__(self) -> str:
        from gridatlas.pages.notebook_display import study_text

        return study_text(self.assessment.shown.results)

    def __repr__(self) -> str:
        return f"<study {self.study.id}: {many(len(self.grids), 'grid')}>"


class Studies(dict[str, OpenStudy]):
    """Studies by their ids; one that isn't there is refused with the nearest."""

    def __missing__(self, name: object) -> OpenStudy:
        find_study(self, str(name))
        raise KeyError(name)


def load(
    data: str | Path, cache: str | Path | None = None, limits: Mapping[str, int] | None = None
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
    if problems := only_problems(assessments.problems):
        raise DataProblems(problems)
    return Studies({study_id: opened(study) for study_id, study in assessments.items()})


def opened(assessment: Assessment) -> OpenStudy:
    """A study that was assessed, for scripts and notebooks."""
    results = assessment.results
    grids = {
        levels: OpenGrid(grid.study, grid.levels, grid.table, assessment=assessment)
        for levels, grid in results.grids.items()
    }
    return OpenStudy(results.study, grids, results.problems, assessment=assessment)
