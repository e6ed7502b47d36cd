"""The best cells of a grid, those that may be, what readings give of a cell, and its rerun."""

from decimal import Decimal

import pytest
from amount import amount
from builders import table
from hypothesis import given, settings
from hypothesis import strategies as st

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import as_pairs
from gridatlas.checks import check_study
from gridatlas.model.study import MISSING, STATES, Cell
from gridatlas.table.choose import analyse
from gridatlas.table.grids import readings_by_cell
from gridatlas.table.study_table import UNKNOWN, Columns
from gridatlas.table.summary import best_points, best_undisputed_points

HEAD = (
    'format: 1\ntitle: A demo\nmetric: {name: Pass, better: higher, unit: "%"}\nx: rate\ny: depth\n'
)
COLUMNS = "rate,depth,value,n,state"


def _assessed(make_study, more, *rows, **files):
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
def test_the_best_cells_and_those_that_may_be(make_study, rows, best, undisputed, best_set):
    assessment = _assessed(make_study, "", *rows)
    grid = assessment.results.grid()
    assert (best_points(grid), best_undisputed_points(grid)) == (best, undisputed)
    assert assessment.best_set(grid) == best_set


def test_lower_is_better_where_the_metric_says_so(make_study):
    lower = HEAD.replace("Pass, better: higher", "Loss, better: lower")
    study = make_study(lower, table("rate,depth,value", "1,1,9", "2,1,1"))
    assert best_points(analyse(study).grid()) == {("2", "1")}


def test_a_cell_has_what_each_reading_gives_of_it(make_study):
    readings = "readings: [{id: one, file: cells.csv}, {id: two, file: two.csv}]\n"
    assessment = _assessed(
        make_study, readings, "1,1,50,10,", "2,1,,,oom", **{"two.csv": "rate,depth,value\n1,1,60\n"}
    )
    grid = assessment.results.grid()
    assert grid.trials.tolist() == [10, UNKNOWN]
    assert grid.cell("2", "1").state == "oom"
    assert [
        [(reading.id, cell.value and str(cell.value)) for reading, cell in given]
        for given in readings_by_cell(grid)
    ] == [[("one", "50"), ("two", "60")], [("one", None)]]


def test_a_point_that_no_grid_has_is_a_key_error(make_study):
    grid = _assessed(make_study, "", "1,1,50,10,").results.grid()
    for point in (("9", "1"), ("1", "9")):
        with pytest.raises(KeyError):
            grid.cell(*point)
        with pytest.raises(KeyError):
            grid.row(point)


def test_few_repeats_have_a_range(make_study):
    repeats = "roles: {repeat: replicate}\n"
    assessment = _assessed(make_study, repeats, "1,1,50,,", "1,1,60,,", "2,1,70,,")
    defined = assessment.uncertainty.of(assessment.results.grid())
    assert (as_pairs(defined.ends), as_pairs(defined.ranges)) == ([None, None], [(50, 60), None])


def test_a_cell_that_runs_measured_again_has_its_rerun(make_study):
    more = 'reproduce: {script: run.py, args: "{rate} {depth}", margin: 3}\n'
    assessment = _assessed(make_study, more, "1,1,50,10,", "2,1,,,oom")
    rerun = assessment.rerun(assessment.results.grid())
    assert [*rerun.cells] == [("1", "1")]
    cell = rerun.cells["1", "1"]
    assert (cell.verdict, cell.again) == ("not run", MISSING)


NUMBERS = st.one_of(st.none(), st.decimals(-(10**6), 10**6, places=3), st.just(Decimal("1E+3")))
CELLS = st.builds(
    Cell,
    NUMBERS,
    st.sampled_from(STATES),
    n=st.one_of(st.none(), st.integers(1, 99)),
    successes=st.one_of(st.none(), st.integers(0, 9)),
    stderr=NUMBERS,
    note=st.sampled_from(["", "a note"]),
    line=st.one_of(st.none(), st.integers(1, 99)),
    repeats=st.integers(1, 3),
    ends=st.one_of(st.none(), st.tuples(*[st.decimals(0, 9, places=1)] * 2)),
    spread=NUMBERS,
)


@settings(max_examples=amount(40, 10_000))
@given(st.lists(CELLS, min_size=1, max_size=6))
def test_a_cell_is_the_same_alone_and_among_all(cells):
    columns = Columns.of(cells)
    assert [str(columns.cell(row)) for row in range(len(cells))] == [*map(str, cells)]
    assert [*map(str, columns)] == [*map(str, cells)]


@given(st.lists(CELLS, min_size=1, max_size=9))
def test_cells_of_a_kind_differ_in_value_line_and_ends_alone(cells):
    kinds = [
        str(cell._replace(value=None, line=None, ends=None)) + str(cell.value is None)
        for cell in cells
    ]
    numbers = Columns.of(cells).alike().tolist()
    assert [*map(numbers.index, numbers)] == [*map(kinds.index, kinds)]
