"""Where two levels differ: a region is named only if it is a box of levels, or the rest of one."""

from __future__ import annotations

from itertools import product

import pytest
from builders import write_study

from gridatlas.assessment.answers.cellwise import CellTests, region
from gridatlas.assessment.pipeline import load_data
from gridatlas.model.study import Study

ALL = frozenset(product("1234", "123"))
"""Cells of 4 rates and 3 depths."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    rows = "".join(f"{rate},{depth},1\n" for rate, depth in product(range(1, 5), range(1, 4)))
    folder = tmp_path_factory.mktemp("region")
    write_study(folder / "demo", cells=f"rate,depth,value\n{rows}")
    return load_data(folder)["demo"].study


def box(rates: str, depths: str) -> frozenset[tuple[str, str]]:
    return frozenset(product(rates, depths))


@pytest.mark.parametrize(
    ("cells", "among", "words"),
    [
        (box("12", "123"), ALL, "those with rate 1 to 2"),
        (box("1234", "2"), ALL, "those with depth 2"),
        (box("34", "23"), ALL, "those with rate 3 to 4 and depth 2 to 3"),
        (box("3", "2"), ALL, "that with rate 3 and depth 2"),
        (ALL - box("34", "23"), ALL, "all but those with rate 3 to 4 and depth 2 to 3"),
        (ALL - box("1", "1"), ALL, "all but that with rate 1 and depth 1"),
        (ALL - box("23", "123"), ALL, "all but those with rate 2 to 3"),
        # No box: levels that aren't side by side, a corner that lacks a cell, a diagonal.
        (box("24", "23"), ALL, ""),
        (box("34", "23") - box("3", "2"), ALL, ""),
        (frozenset({("1", "1"), ("2", "2"), ("3", "3")}), ALL, ""),
        # Neither is everything, nor nothing.
        (ALL, ALL, ""),
        (frozenset(), ALL, ""),
        # A box with a cell that wasn't tested is none; without it the rest may be one.
        (box("12", "123") - box("1", "1"), ALL - box("1", "1"), "all but those with rate 3 to 4"),
        (box("12", "23") - box("1", "2"), ALL - box("1", "2"), ""),
    ],
)
def test_a_region_in_words(
    study: Study,
    cells: frozenset[tuple[str, str]],
    among: frozenset[tuple[str, str]],
    words: str,
) -> None:
    assert region(study, cells, among) == words


def test_cells_are_counted_seed_by_seed(study: Study) -> None:
    first = CellTests(study, ALL, box("12", "123"), box("4", "1"), "a test")
    second = CellTests(study, ALL, box("12", "12"), box("34", "1"), "a test")
    both = first.both(second)
    assert both.sentence + both.where == (
        "Significant by seed: 6 and 4 cells higher; 1 and 2 lower (a test). Higher in each seed: "
        "those with rate 1 to 2 and depth 1 to 2. Lower in each seed: that with rate 4 and depth 1."
    )
    turned = second.turned
    assert turned.sentence + turned.where == (
        "Cell by cell, 2 of 12 are significantly higher and 4 lower (a test). The higher ones are "
        "those with rate 3 to 4 and depth 1. The lower ones are those with rate 1 to 2 and depth "
        "1 to 2."
    )
