"""Which plots a page has, and that their numbers are those of the study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from builders import REPOSITORY, write_study

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_data
from gridatlas.charts.pool import draw
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.study import Grid
from gridatlas.pages.figure import FigureRow
from gridatlas.pages.plots import (
    axis_profiles,
    forest_plot,
    forest_row,
    profiles_row,
    settings_plot,
    settings_row,
)
from gridatlas.pages.render import Templates

Assess = Callable[..., Assessment]
ACCURACY = {"name": "Accuracy", "unit": "%", "range": [0, 100], "decimals": 1}


@pytest.fixture(scope="module")
def dynts() -> Assessment:
    return load_data(REPOSITORY / "data")["dynts-window-ratio"]


@pytest.fixture
def assess(tmp_path: Path) -> Assess:
    """A study from its keys and its table, as an assessment."""

    def assess(
        axes: Mapping[str, Iterable[str]], value: Callable[..., object], **keys: Any
    ) -> Assessment:
        head = {"format": 1, "title": "A demo", "metric": ACCURACY, "x": "rate", "y": "depth"}
        rows = [",".join([*axes, "value"])]
        for levels in product(*axes.values()):
            rows.append(",".join([*levels, str(value(*levels))]))
        write_study(tmp_path / "data/demo", head | keys, "\n".join(rows) + "\n")
        found = load_data(tmp_path / "data")
        assert "demo" in found, found.problems
        return found["demo"]

    return assess


def grids_at(assessment: Assessment, facet: str, level: str) -> tuple[Grid, ...]:
    return assessment.results.where(facet, level)


def html(row: FigureRow) -> str:
    templates = Templates(None, frozenset(), (), SiteAddress())
    drawings = draw([figure.chart for figure in row.figures])
    return templates.fence(row, "studies/demo/index.md", drawings, set())


# --- the study of this repository ---------------------------------------------------------------


def test_settings_are_ranked_by_the_printed_average(dynts: Assessment) -> None:
    grids = grids_at(dynts, "model", "r1-qwen")
    plot = settings_plot(dynts, grids)
    assert plot is not None
    [average] = [grid for grid in grids if grid.aggregate]
    values = sorted(
        (float(cell.value) for _, _, cell in average.points() if cell.value is not None),
        reverse=True,
    )
    assert [row.value for row in plot.rows] == values
    first = plot.rows[0]
    assert (first.key, first.name, first.text) == ("0.4,2000", "0.4 × 2000", "56.3")
    cell = dynts.uncertainty.of(average).cells["0.4", "2000"]
    assert (first.low, first.high) == (cell.trials_low, cell.trials_high)
    assert (first.wide_low, first.wide_high) == (cell.low, cell.high)
    assert (plot.scope, plot.wide_scope) == ("these questions", "questions of the kind")
    assert plot.over == ("AIME24", "AIME25", "AMC23", "GPQA_D")


def test_profiles_are_the_means_of_the_benchmarks(dynts: Assessment) -> None:
    ratio, window = axis_profiles(dynts, grids_at(dynts, "model", "r1-qwen"))
    assert [line.name for line in ratio.lines] == ["AIME24", "AIME25", "AMC23", "GPQA_D"]
    grid = dynts.results.grid(model="r1-qwen", benchmark="aime24")
    column = [float(cell.value or 0) for x, _, cell in grid.points() if x.key == "0.4"]
    assert ratio.lines[0].means[3] == pytest.approx(sum(column) / 4)
    assert ratio.domain == window.domain
    assert ratio.p is not None
    assert ratio.p < 0.001
    assert (ratio.grade, window.grade) == ("clear", "not-shown")


def test_a_forest_has_the_numbers_of_the_answers(dynts: Assessment) -> None:
    plot = forest_plot(dynts, dynts.study.facet("model"))
    assert plot is not None
    names = ["AIME24", "AIME25", "AMC23", "GPQA_D", "Mean of 4"]
    assert [row.name for row in plot.rows] == names
    for row, page in zip(plot.rows, ["aime24", "aime25", "amc23", "gpqa_d", ""], strict=True):
        answer = dynts.answers[f"benchmark/{page}" if page else "model"]
        assert (row.value, (row.low, row.high)) == (
            pytest.approx(answer.evidence[0].value, abs=0.01),
            pytest.approx(answer.evidence[0].interval),
        )
        assert row.scope == answer.evidence[0].scope == "these questions"
        assert (row.wide_low, row.wide_high) == pytest.approx(answer.evidence[1].interval)
    assert [row.whole for row in plot.rows] == [False] * 4 + [True]
    assert forest_plot(dynts, dynts.study.facet("benchmark")) is None


def test_captions_say_what_is_drawn(dynts: Assessment) -> None:
    grids = grids_at(dynts, "model", "r1-qwen")
    rows = [settings_row(dynts, grids), profiles_row(dynts, grids)]
    rows.append(forest_row(dynts, dynts.study.facet("model")))
    captions = [
        html(row).partition("<figcaption>")[2].partition("</figcaption>")[0] for row in rows if row
    ]
    assert captions == [
        "Mean over four benchmarks with its 95 % interval, for these questions. Band: the interval "
        "of the highest.",
        "Mean Pass@1 (%) by level, less the mean of each benchmark. Grey band: typical 95 % "
        "interval of one point, for these questions. Over the four benchmarks: ratio "
        "p &lt; 0.001, local window size not shown.",
        "R1-Qwen minus R1-Llama, on average over the cells that both have. Bar: 95 % interval for "
        "these questions. Thin line: for questions of the kind.",
    ]
