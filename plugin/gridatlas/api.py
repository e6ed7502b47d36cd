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
from gridatlas.model.problems import DataProblems, Problem, only_problems
from gridatlas.model.study import Grid, Levels
from gridatlas.results.grids import Results, find_study

if TYPE_CHECKING:
    import pandas as pd

    from gridatlas.charts.templates import Chart

Shown = dict[str, str]
"""What a notebook shows, by its media type."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OpenGrid(Grid):
    """A grid that a notebook shows as its heatmap."""

    assessment: Assessment = field(kw_only=True, repr=False)

    @property
    def uncertainty(self) -> GridUncertainty:
        """Intervals of its cells, and the set that may be the best."""
        return self.assessment.uncertainty.of(self)

    @property
    def answer(self) -> Answer:
        """What this grid supports by itself, among the study's other grids.

        Raises:
            LookupError: For an aggregate: what it sums up is asked instead.
        """
        if self.aggregate:
            raise LookupError(f"{self.label} is an aggregate: ask the study, study.answer")
        return self.assessment.grid_answers[self.levels]

    def frame(self) -> pd.DataFrame:
        """The cells as tidy pandas: one row per cell, also of those without a value.

        Columns: the facets, x and y (numbers where all levels are); `value`, `state`, `n`,
        `successes`, `stderr`; `interval_low`, `interval_high` (95 %, in the metric's unit) and
        `may_be_best`; `reading`, `place`, `note`, `run`. What isn't known is NaN or <NA>.
        """
        return to_frame(self._columns())

    def chart(self) -> Chart:
        """The heatmap as an Altair chart to go on with; its data is in it, with `frame`'s names.

        It has no configuration of its own, so that it can be layered, joined and saved.
        """
        from gridatlas.charts.templates import altair_chart

        return altair_chart(self.study, self._columns(), self.label)

    def svg(self) -> str:
        """The drawing as a text: SVG whose letters have the colour of the text around it."""
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
    """A study that a notebook shows as an overview of its grids."""

    grids: Mapping[Levels, OpenGrid]
    assessment: Assessment = field(kw_only=True, compare=False)

    def grid(self, **facets: object) -> OpenGrid:
        """The grid at these facet levels, as `grid(model="r1-qwen", benchmark="aime24")`.

        Raises:
            UnknownName: For a facet or level that isn't there; the message names the nearest.
        """
        found = Results.grid(self, **facets)
        return self.grids[found.levels]

    @property
    def answer(self) -> Answer:
        """What the study's page leads with."""
        return self.assessment.answers[""]

    @property
    def answers(self) -> Mapping[str, Answer]:
        """What all its pages lead with, by their paths: `model/r1-qwen`; empty for its own."""
        return self.assessment.answers

    def frame(self) -> pd.DataFrame:
        """All cells of all grids as tidy pandas, in the columns of `OpenGrid.frame`."""
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
    """A study of a data frame, in memory until it is saved."""

    texts: Mapping[str, str] = field(kw_only=True, repr=False, compare=False)
    findings: tuple[Problem, ...] = field(default=(), kw_only=True, repr=False, compare=False)
    """What the checks say of its numbers."""

    def save(self, folder: str | Path, *, replace: bool = False) -> Path:
        """Write the study, such as into `data/tuning`: `study.yml` and `cells.csv`.

        Raises:
            ValueError: Where there is a study already, unless it shall be replaced.
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


def load(data: str | Path, cache: str | Path | None = None) -> Studies:
    """The studies of a data folder by their ids.

    Args:
        data: The folder with one folder per study.
        cache: Folder that keeps drawings and intervals, such as that of a site; None keeps none.

    Raises:
        DataProblems: With every problem found, where the data is unfit as it stands.
    """
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
    """A study of a data frame with a row per measurement, checked as `gridatlas check` does.

    Args:
        frame: Of pandas, or anything with `__dataframe__` or Arrow's `__arrow_c_stream__`.
        x: Column of the horizontal axis. Roles that are left out are proposed as `gridatlas import`
            does, and printed with their reasons.
        y: Column of the vertical axis; "" for none.
        metric: Column of the values.
        facets: Columns of what else was varied.
        repeats: Columns that number the repeats of a cell; `rows` where nothing numbers them.
        better: Which values are better; by the metric's name where it isn't said.
        unit: Unit of the values, such as `%`; none is "".
        range: Lowest and highest possible value, in the unit.
        decimals: Decimals in the heatmaps.
        n: Column of trials behind a value.
        successes: Column of trials that succeeded.
        stderr: Column of standard errors, in the unit of the values.
        spread: Column of what is printed beside values; "" for none.
        spread_kind: Standard deviation, standard error, or half of a 95 % interval.
        spread_n: Number of repeats that each value is the mean of.
        title: What pages call the study.
        study: Its id.

    Raises:
        ValueError: Where it isn't clear what the columns are, or rows are wrong; with what to do.
        DataProblems: Where the study can't be shown.
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
        print("\n".join(found.lines))
    for problem in found.findings:
        print(problem)
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
        levels: OpenGrid(grid.study, grid.levels, grid.cells, grid.computed, assessment=assessment)
        for levels, grid in results.grids.items()
    }
    return OpenStudy(results.study, grids, results.problems, assessment=assessment)
