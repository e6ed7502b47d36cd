"""Cells by their places: a mapping like a dict of them, and grid by grid."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gridatlas.model.cells import At, Cells
from gridatlas.model.study import Cell

XS, YS = ["1", "2", "3"], ["8", "9"]
GIVEN: dict[At, Cell] = {
    (("b",), ("3", "9")): Cell(Decimal("1.0"), "ok", line=2),
    (("a",), ("1", "8")): Cell(Decimal("2.0"), "ok", line=3),
    (("b",), ("1", "8")): Cell(None, "missing", line=4),
}


@pytest.mark.parametrize(
    "given",
    [
        GIVEN,
        {},
        {((), ("1", "")): Cell(None, "oom")},
        {(("a", "b"), ("1", "8")): Cell(None, "oom")},
    ],
)
def test_they_are_a_mapping_like_a_dict(given: dict[At, Cell]) -> None:
    cells = Cells.of(given)
    assert len(cells) == len(given)
    assert [*cells] == [*cells.keys()] == [*given]
    assert [*cells.values()] == [*given.values()]
    assert [*cells.items()] == [*given.items()]
    assert [cells[at] for at in given] == [*given.values()]
    assert cells == given


def test_a_place_without_a_cell_is_not_in_them() -> None:
    cells = Cells.of(GIVEN)
    at = (("a",), ("2", "8"))
    assert at not in cells
    assert cells.get(at) is None
    with pytest.raises(KeyError):
        cells[at]


def test_each_grid_has_its_rows_and_what_stands_for_absent_cells() -> None:
    cells = Cells.of(GIVEN)
    at_b, a, b = GIVEN.values()
    assert cells.grids == [("b",), ("a",)]
    assert cells.by_grid(XS, YS, None) == {
        ("b",): [[b, None, None], [None, None, at_b]],
        ("a",): [[a, None, None], [None, None, None]],
    }


def test_without_facets_there_is_one_grid_and_without_cells_none() -> None:
    cell = Cell(None, "oom")
    cells = Cells.of({((), ("2", "")): cell})
    assert cells.grids == [()]
    assert cells.by_grid(XS, [""], "-") == {(): [["-", cell, "-"]]}
    assert Cells.of({}).by_grid(XS, YS, None) == {}
    assert [*Cells.of({}).grids] == []
