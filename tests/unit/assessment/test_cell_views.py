"""Cells in their context: the best ones, those that may be, their intervals and reruns."""

from __future__ import annotations

import pytest
from builders import MakeStudy, table

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.cells import GridCells
from gridatlas.checks import check_study
from gridatlas.model.study import MISSING, Point
from gridatlas.table.choose import analyse

HEAD = (
    'format: 1\ntitle: A demo\nmetric: {name: Pass, better: higher, unit: "%"}\nx: rate\ny: depth\n'
)
COLUMNS = "rate,depth,value,n,state"


def _assessed(make_study: MakeStudy, more: str, *rows: str, **files: str) -> Assessment:
    study = make_study(HEAD + more, table(COLUMNS, *rows), files)
    return Assessment(analyse(study), check_study(study))


@pytest.mark.parametrize(
    ("rows", "best", "undisputed", "best_set"),
    [
        (["1,1,90,100,", "2,1,10,100,"], {("1", "1")}, set(), {("1", "1")}),
        (["1,1,50,10,", "2,1,40,10,"], {("1", "1")}, set(), {("1", "1"), ("2", "1")}),
        (["1,1,50,,", "2,1,50,,", "3,1,40,,"], {("1", "1"), ("2", "1")}, set(), set()),
        (["1,1,90,,disputed", "2,1,10,,"], {("1", "1")}, {("2", "1")}, set()),
        (["1,1,90,,disputed", "2,1,10,,disputed"], {("1", "1")}, set(), set()),
        (["1,1,,,oom", "2,1,,,failed"], set(), set(), set()),
    ],
)
def test_the_best_cells_and_those_that_may_be(
    make_study: MakeStudy,
    rows: list[str],
    best: set[Point],
    undisputed: set[Point],
    best_set: set[Point],
) -> None:
    assessment = _assessed(make_study, "", *rows)
    cells = assessment.cells(assessment.results.grid())
    assert (cells.best, cells.best_undisputed, cells.best_set) == (best, undisputed, best_set)
    assert {view.point for view in cells.values() if view.is_best} == best
    assert {view.point for view in cells.values() if view.is_best_undisputed} == undisputed
    assert {view.point for view in cells.values() if view.in_best_set} == best_set


def test_lower_is_better_where_the_metric_says_so(make_study: MakeStudy) -> None:
    lower = HEAD.replace("Pass, better: higher", "Loss, better: lower")
    study = make_study(lower, table("rate,depth,value", "1,1,9", "2,1,1"))
    assert GridCells(analyse(study).grid()).best == {("2", "1")}


def test_a_view_has_all_that_is_known_of_a_cell(make_study: MakeStudy) -> None:
    readings = "readings: [{id: one, file: cells.csv}, {id: two, file: two.csv}]\n"
    assessment = _assessed(
        make_study, readings, "1,1,50,10,", "2,1,,,oom", **{"two.csv": "rate,depth,value\n1,1,60\n"}
    )
    grid = assessment.results.grid()
    cells = assessment.cells(grid)
    assert [*cells] == [("1", "1"), ("2", "1")]
    assert len(cells) == 2
    first, second = cells.values()
    interval = assessment.uncertainty.of(grid).cells["1", "1"]
    assert (first.levels, first.point, first.x.key, first.y.key) == ((), ("1", "1"), "1", "1")
    assert (first.cell, first.n, first.interval) == (grid.cell("1", "1"), 10, interval)
    assert (first.ends, first.in_best_set) == ((interval.low, interval.high), True)
    assert [(reading.id, str(cell.value)) for reading, cell in first.readings] == [
        ("one", "50"), ("two", "60"),
    ]  # fmt: skip
    assert (second.n, second.interval, second.ends, second.in_best_set) == (None, None, None, None)
    assert (first.rerun, second.rerun, first.range) == (None, None, None)
    assert cells["2", "1"].cell.state == "oom"


def test_a_point_that_no_grid_has_is_a_key_error(make_study: MakeStudy) -> None:
    cells = GridCells(_assessed(make_study, "", "1,1,50,10,").results.grid())
    assert cells.get(("9", "1")) is None
    with pytest.raises(KeyError):
        cells["1", "9"]


def test_few_repeats_have_a_range(make_study: MakeStudy) -> None:
    repeats = "roles: {repeat: replicate}\n"
    assessment = _assessed(make_study, repeats, "1,1,50,,", "1,1,60,,", "2,1,70,,")
    view = assessment.cells(assessment.results.grid())["1", "1"]
    assert (view.interval, view.range, view.ends) == (None, (50, 60), (50, 60))


def test_a_cell_that_runs_measured_again_has_its_rerun(make_study: MakeStudy) -> None:
    more = 'reproduce: {script: run.py, args: "{rate} {depth}", margin: 3}\n'
    assessment = _assessed(make_study, more, "1,1,50,10,", "2,1,,,oom")
    cells = assessment.cells(assessment.results.grid())
    rerun = cells["1", "1"].rerun
    assert rerun is not None
    assert (rerun.verdict, rerun.again) == ("not run", MISSING)
    assert cells["2", "1"].rerun is None
