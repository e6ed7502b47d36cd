"""The data table of a heatmap: which number of trials is said once, and which in its cell."""

import pytest
from builders import table

from gridatlas.charts.draw import draw_values
from gridatlas.pages.figure import Figure
from gridatlas.pages.tables import data_table
from gridatlas.table.choose import analyse

STUDY = (
    'format: 1\ntitle: A demo\nmetric: {name: Pass, better: higher, unit: "%", range: [0, 100]}\n'
    "x: rate\ny: depth\n"
)


@pytest.mark.parametrize(
    ("numbers", "common", "in_cells"),
    [
        (["100", "100", "100"], 100, [None, None, None]),
        (["100", "50", "100"], 100, [None, 50, None]),
        (["100", "50", "25"], None, [100, 50, 25]),  # none for more than half
        (["100", "100", ""], None, [100, 100, None]),  # what is unknown isn't 100
        (["", "", ""], None, [None, None, None]),
    ],
)
def test_the_trials_of_most_cells_are_said_once(make_study, numbers, common, in_cells):
    rows = [f"{place},10,50.0,{n}," for place, n in enumerate(numbers)]
    study = make_study(STUDY, table("rate,depth,value,n,state", *rows, "3,10,,,oom"))
    grid = analyse(study).grid()
    found = data_table(Figure(draw_values(grid), grid))
    assert found.trials == common
    ((_, cells),) = found.rows
    assert [cell.n for cell in cells] == [*in_cells, None]
    assert found.trials_differ == any(in_cells)
