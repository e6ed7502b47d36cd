"""How readings agree, where they don't, and what may be the cause."""

from decimal import Decimal
from fractions import Fraction

import pytest
from builders import HEAD, rows, table

from gridatlas.assessment.agreement import (
    Alone,
    Disagreement,
    Hint,
    Outside,
    Pair,
    ReadingAgreement,
    compare,
)

SQUARE = """
47.3 41.3 45.3 46.7
44.7 46.0 40.7 43.3
42.7 44.0 48.7 49.3
39.3 38.7 50.0 37.3
"""


def compared(make_study, *grids, more=""):
    """Compare readings a, b, c, … of the least study."""
    names = "abcdef"[: len(grids)]
    files = {
        f"{name}.csv": table("rate,depth,value", *rows(grid))
        for name, grid in zip(names, grids, strict=True)
    }
    entries = "".join(f"  - {{id: {name}, file: {name}.csv}}\n" for name in names)
    return compare(make_study(f"{more}readings:\n{entries}", None, files))


def turned(grid):
    lines = [line.split() for line in grid.strip().splitlines()]
    return "\n".join(" ".join(line) for line in zip(*lines, strict=True))


def upside_down(grid):
    return "\n".join(reversed(grid.strip().splitlines()))


def mirrored(grid):
    return "\n".join(" ".join(reversed(line.split())) for line in grid.strip().splitlines())


# --- cell by cell -------------------------------------------------------------------------------


def test_readings_are_compared_cell_by_cell_as_numbers(make_study):
    found = compared(make_study, "1 2.0 3\n4 5 -", "1 2 7\n4 - 6", "1.5 - -\n- - 6.0")
    assert found.readings == ("a", "b", "c")
    assert found.pairs == (
        Pair("a", "b", 4, 3, Decimal(4), 1, 1),
        Pair("a", "c", 1, 0, Decimal("0.5"), 4, 1),
        Pair("b", "c", 2, 1, Decimal("0.5"), 3, 0),
    )
    assert found.pairs[0].share == Fraction(3, 4)
    assert found.disagreements == (
        Disagreement((), ("1", "1"), (("a", Decimal(1)), ("b", Decimal(1)), ("c", Decimal("1.5")))),
        Disagreement((), ("3", "1"), (("a", Decimal(3)), ("b", Decimal(7)))),
    )
    assert [disagreement.difference for disagreement in found.disagreements] == [
        Decimal("0.5"),
        Decimal(4),
    ]
    assert found.alone == (Alone((), ("2", "2"), "a"),)
    assert (found.outside, found.hints) == ((), ())


def test_the_matrix_has_every_pair_seen_from_both_sides(make_study):
    found = compared(make_study, "1 2 3", "1 - 4")
    pair = Pair("a", "b", 2, 1, Decimal(1), 1, 0)
    assert found.matrix == ((None, pair), (Pair("b", "a", 2, 1, Decimal(1), 0, 1), None))


def test_readings_without_a_cell_in_common_have_no_share(make_study):
    found = compared(make_study, "1 -", "- 2")
    assert found.pairs == (Pair("a", "b", 0, 0, None, 1, 1),)
    assert found.pairs[0].share is None
    assert found.alone == (Alone((), ("1", "1"), "a"), Alone((), ("2", "1"), "b"))


def test_one_reading_has_nothing_to_be_compared_with(make_study):
    assert compared(make_study, "1 2") == ReadingAgreement(("a",), (), (), (), (), ())


def test_a_derived_reading_is_no_second_witness(make_study):
    more = "readings:\n  - {id: a, file: a.csv}\n  - {id: b, file: b.csv, derived_from: a}\n"
    files = {name: table("rate,depth,value", "1,1,1") for name in ("a.csv", "b.csv")}
    (pair,) = compare(make_study(more, None, files)).pairs
    assert pair.derived
    assert pair.turned.derived


def test_a_cell_without_a_value_disagrees_with_none(make_study):
    more = "readings:\n  - {id: a, file: a.csv}\n  - {id: b, file: b.csv}\n"
    files = {
        "a.csv": table("rate,depth,value,state", "1,1,,disputed", "2,1,5,"),
        "b.csv": table("rate,depth,value", "1,1,1", "2,1,5"),
    }
    found = compare(make_study(more, None, files))
    assert found.pairs == (Pair("a", "b", 1, 1, Decimal(0), 0, 1),)
    assert found.disagreements == ()


def test_cells_come_in_the_order_of_the_study(make_study):
    more = (
        HEAD + "facets: [model]\nfactors: {model: {levels: [s, m]}, depth: {levels: [2, 1]}}\n"
        "readings:\n  - {id: a, file: a.csv}\n  - {id: b, file: b.csv}\n"
    )
    cells = [*rows("1 2\n3 4", "m"), *rows("5 6", "s")]
    other = [*rows("0 0\n0 0", "m"), *rows("0 0", "s")]
    head = "model,rate,depth,value"
    study = make_study(more, None, {"a.csv": table(head, *cells), "b.csv": table(head, *other)})
    assert [
        (disagreement.levels[0], *disagreement.point)
        for disagreement in compare(study).disagreements
    ] == [
        ("s", "1", "1"),
        ("s", "2", "1"),
        ("m", "1", "2"),
        ("m", "2", "2"),
        ("m", "1", "1"),
        ("m", "2", "1"),
    ]


def test_levels_that_the_study_does_not_have_are_counted(make_study, checked):
    more = (
        "factors: {rate: {levels: [1, 2]}, depth: {levels: [1]}}\n"
        "readings:\n  - {id: a, file: a.csv}\n  - {id: b, file: b.csv}\n"
    )
    files = {
        "a.csv": table("rate,depth,value", "1,1,1", "2,1,2"),
        "b.csv": table("rate,depth,value", "1,1,1", "1.5,1,2", "1.5,7,3"),
    }
    study, _ = checked(more, None, files)
    assert compare(study).outside == (Outside("b", "rate", "1.5", 2), Outside("b", "depth", "7", 1))


# --- likely causes ------------------------------------------------------------------------------

FRACTIONS = " ".join(f"{Decimal(v) / 100}" for v in SQUARE.split()[:8])
PERCENTS = " ".join(SQUARE.split()[:8])
LABELS = "factors: {rate: {label: Ratio}, depth: {label: Local window size}}\n"


DIFFERS = "unit-differs", "the unit differs (a fraction and a percentage)", 8, 8, 0
BOTH = "ratio and local window size"
CAUSES = {
    # two readings; of the hint: kind, looks, cells that agree then, of all, as given, after what
    "equal": (SQUARE, SQUARE, None),
    "swapped": (
        SQUARE, turned(SQUARE),
        ("axes-swapped", "axes look swapped", 16, 16, 4, f"swapping {BOTH}"),
    ),
    "y reversed": (
        SQUARE, upside_down(SQUARE.replace("38.7", "33.7")),
        ("axis-reversed", "local window size looks reversed", 15, 16, 0,
         "reversing local window size"),
    ),
    "x reversed": (
        SQUARE, mirrored(SQUARE),
        ("axis-reversed", "ratio looks reversed", 16, 16, 0, "reversing ratio"),
    ),
    "both reversed": (
        SQUARE, mirrored(upside_down(SQUARE)),
        ("axis-reversed", f"{BOTH} look reversed", 16, 16, 0, f"reversing {BOTH}"),
    ),
    "a fraction": (PERCENTS, FRACTIONS, (*DIFFERS, "multiplying by 100")),
    "a percentage": (FRACTIONS, PERCENTS, (*DIFFERS, "dividing by 100")),
    "a fraction with fewer digits": (
        PERCENTS, "0.47 0.41 0.45 0.47 0.45 0.46 0.41 0.43", (*DIFFERS, "multiplying by 100")
    ),
    "too few cells": ("1 2 3", "3 2 1", None),
    "reversing makes no difference": ("5 5 5 5 5", "5 5 5 5 4", None),
    "agrees in half as given": ("1 2 3 4 5 6", "1 2 3 9 8 7", None),
    "agrees in no way": ("1 2 3 4 5 6", "9 8 7 1 1 1", None),
}  # fmt: skip


@pytest.mark.parametrize("case", CAUSES)
def test_what_may_be_wrong_with_a_whole_reading_is_told_with_the_evidence(make_study, case):
    first, second, hint = CAUSES[case]
    expected = ()
    if hint:
        kind, looks, agree, cells, before, change = hint
        evidence = f"{agree} of {cells} cells agree after {change}, {before} of {cells} as given"
        expected = (Hint(kind, "b", "a", looks, agree, cells, evidence),)
    assert compared(make_study, first, second, more=LABELS).hints == expected


@pytest.mark.parametrize("swapped_first", [False, True])
def test_swapped_axes_are_told_where_their_levels_differ(checked, swapped_first):
    """All rows of such a reading lie at levels that the study doesn't have."""
    order = ["b", "a"] if swapped_first else ["a", "b"]
    more = (
        "factors: {rate: {levels: [0.1, 0.2, 0.3]}, depth: {levels: [500, 1000]}}\nreadings:\n"
        + "".join(f"  - {{id: {name}, file: {name}.csv}}\n" for name in order)
    )
    points = [(x, y) for x in ("0.1", "0.2", "0.3") for y in ("500", "1000")]
    files = {
        "a.csv": table("rate,depth,value", *(f"{x},{y},{x}{y}" for x, y in points)),
        "b.csv": table("rate,depth,value", *(f"{y},{x},{x}{y}" for x, y in points)),
    }
    study, _ = checked(more, None, files)
    found = compare(study)
    assert len(found.outside) == 5
    assert [(hint.reading, hint.looks, hint.evidence) for hint in found.hints] == [
        (
            "b",
            "axes look swapped",
            "6 of 6 cells agree after swapping rate and depth, 0 of 0 as given",
        )
    ]
