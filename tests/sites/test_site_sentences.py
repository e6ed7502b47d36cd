"""What pages say in words: no more than the data, and in the right number."""

import re
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path

import pytest
from builders import write_study

from gridatlas.build.site import build

Pages = Mapping[str, str]
"""Texts of the pages by their addresses below the study's own, and of the pages for frames."""

COMPARED = """format: 1
title: Two models
metric: {name: Accuracy, better: higher, unit: "%", column: accuracy}
x: rate
y: depth
facets: [model]
compare: [model]
"""
"""A study whose two models are compared."""


@pytest.fixture
def pages(tmp_path: Path, cache: Path) -> Callable[..., Pages]:
    """Writes a study's files and builds its pages: `pages(study, cells, {"second.csv": …})`."""

    def written(study: str, cells: str, files: Mapping[str, str] | None = None) -> Pages:
        write_study(tmp_path / "data/demo", study, cells, files)
        site = build(tmp_path / "data", name="data", cache=cache / "gridatlas")
        below = "studies/demo/"
        frames = {path: str(text) for path, text in site.files.items() if path.endswith(".html")}
        return {
            page.plan.path.removeprefix(below).removesuffix("index.md"): text_of(page.whole())
            for page in site.pages
        } | {path: text_of(text) for path, text in frames.items()}

    return written


def text_of(markdown: str) -> str:
    """A page's text as one line, without what is bold; of figures also their names in words."""
    named = re.sub(r'<svg[^>]*aria-label="([^"]*)"', r"\1 <svg", markdown)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", named)).replace("**", ""))


def counts(of: Mapping[str, Mapping[str, int]], n: int) -> str:
    """A table of models over depth 1 and these rates, from the counts of n."""
    rows = [
        f"{rate},1,{model},{100 * k / n},{n},{k}"
        for model, cells in of.items()
        for rate, k in cells.items()
    ]
    return "\n".join(["rate,depth,model,accuracy,n,successes", *rows]) + "\n"


# --- one level against another ------------------------------------------------------------------


def test_no_single_cell_differs_although_all_are_higher(pages: Callable[..., Pages]) -> None:
    cells = counts({"a": {"1": 40, "2": 42, "3": 44}, "b": {"1": 50, "2": 52, "3": 54}}, 100)
    sentences = (
        "b minus a: +10.0 points on average over 3 cells; b is higher in all 3 cells. "
        "By an unpaired test, no single cell's difference is significant "
        "(two-sided Fisher exact tests, Holm's correction)."
    )
    found = pages(COMPARED, cells)
    assert sentences in found["model/"]
    assert "none of the 3 cells differ" not in found["model/"]


def test_some_cells_differ(pages: Callable[..., Pages]) -> None:
    cells = counts({"a": {"1": 10, "2": 90, "3": 44}, "b": {"1": 90, "2": 10, "3": 54}}, 100)
    assert (
        "b minus a: +3.3 points on average over 3 cells; b is higher in 2 of 3 cells, lower in 1. "
        "By an unpaired test, the difference is significant in 2 of 3 cells: "
        "higher in 1, lower in 1 (two-sided Fisher exact tests, Holm's correction)."
    ) in pages(COMPARED, cells)["model/"]


def test_one_cell_differs_or_not(pages: Callable[..., Pages]) -> None:
    assert (
        "b minus a: +10.0 points on average over 1 cell; b is higher in the one cell. "
        "By an unpaired test, the cell's difference isn't significant "
        "(two-sided Fisher exact tests, Holm's correction)."
    ) in pages(COMPARED, counts({"a": {"1": 40}, "b": {"1": 50}}, 100))["model/"]


def test_where_nothing_can_be_tested_it_says_so(pages: Callable[..., Pages]) -> None:
    cells = "rate,depth,model,accuracy\n1,1,a,40\n2,1,a,50\n1,1,b,40\n2,1,b,45\n"
    assert (
        "b minus a: −2.5 points on average over 2 cells; b is lower in 1 of 2 cells, equal in 1. "
        "Not testable: the number of trials behind each value is unknown."
    ) in pages(COMPARED, cells)["model/"]


# --- whether anything differs -------------------------------------------------------------------


def test_cells_that_vary_less_than_independent_trials_would_are_said_to(
    pages: Callable[..., Pages],
) -> None:
    alike = {str(rate): 50 for rate in range(20)}
    found = pages(COMPARED, counts({"a": alike | {"1": 51}, "b": alike | {"1": 52}}, 100))
    sentences = (
        "Cells vary less than independent trials would: χ² = 0.2 on 38 degrees of freedom, over "
        "2 grids of this study (p < 0.001). The reason may be that cells share their items. An "
        "unpaired test of one cell against another is then too cautious."
    )
    for page in ("", "model/", "model/a/"):
        assert found[page].count(sentences) == 1


def test_of_cells_as_far_apart_as_independent_trials_nothing_is_said(
    pages: Callable[..., Pages],
) -> None:
    apart = {str(rate): 45 + rate for rate in range(11)}
    found = pages(COMPARED, counts({"a": apart, "b": apart}, 100))
    assert "χ²/df of all cells of a grid, and its p" in found["model/a/"]
    assert "degrees of freedom" not in "".join(found.values())


def test_cells_that_cannot_vary_are_not_said_to_vary_less(pages: Callable[..., Pages]) -> None:
    full, none = ({str(rate): k for rate in range(20)} for k in (100, 0))
    found = pages(COMPARED, counts({"a": full, "b": none}, 100))
    assert "χ²/df of all cells of a grid, and its p" in found["model/a/"]
    assert "degrees of freedom" not in "".join(found.values())


def test_no_axis_has_a_range_or_a_p_that_only_chance_may_have_made(
    pages: Callable[..., Pages],
) -> None:
    rows = [
        f"{x},{y},{model},{40 + 9 * x + y}.0,100,{40 + 9 * x + y}"
        for x in (1, 2)
        for y in (1, 2)
        for model in "ab"
    ]
    found = pages(COMPARED, "\n".join(["rate,depth,model,accuracy,n,successes", *rows]) + "\n")
    for text in found.values():
        assert "range wider" not in text
        assert "vary more along" not in text
        assert "p by" not in text


# --- disputed values ----------------------------------------------------------------------------

READ = """format: 1
title: Readings
metric: {name: Score, better: higher, column: score}
x: rate
y: depth
facets: [model]
readings:
  - {id: one, file: cells.csv, label: The first reader}
  - {id: two, file: second.csv, label: The second reader}
reconcile: agreement
"""
"""A study of which two readers give accounts."""
FIRST = "rate,depth,model,score,state\n1,1,a,,disputed\n2,1,a,84,\n3,1,a,30,\n4,1,a,50,\n"
SECOND = "rate,depth,model,score\n1,1,a,94\n2,1,a,84\n3,1,a,40\n4,1,a,50\n"


def test_a_best_value_that_is_disputed_is_called_so(pages: Callable[..., Pages]) -> None:
    text = pages(READ, FIRST, {"second.csv": SECOND})["model/a/"]
    assert "1 of 4 values has one reading only." in text
    assert (
        "a 94 (disputed) ; undisputed 84 1 × 1; undisputed 2 × 1 "
        "30 (disputed); undisputed 50 3 × 1; undisputed 4 × 1 64.5 64 "
    ) in text
    assert (
        "a: Score from 30 (disputed) to 94 (disputed) over Rate and Depth. Best: 94 (disputed) at "
        "Rate 1, Depth 1; best undisputed: 84 at Rate 2, Depth 1. Disputed: 2 of 4 values."
    ) in text


def test_a_best_value_that_one_of_its_cells_has_undisputed_is_not_disputed(
    pages: Callable[..., Pages],
) -> None:
    text = pages(READ, FIRST, {"second.csv": SECOND.replace("94", "84")})["model/a/"]
    assert "1 of 4 values has one reading only." in text
    assert "a 84 1 × 1 (disputed); 2 × 1 30 (disputed); undisputed 50 3 × 1;" in text
    assert "Best: 84 at Rate 1, Depth 1 (disputed); Rate 2, Depth 1." in text


def test_where_every_value_is_disputed_no_other_is_named(pages: Callable[..., Pages]) -> None:
    text = pages(READ, FIRST, {"second.csv": SECOND.replace("84", "85").replace("50", "51")})
    assert "1 of 4 values has one reading only." in text["model/a/"]
    assert "a 94 (disputed) 1 × 1 30 (disputed) 3 × 1 64.5 64 " in text["model/a/"]
    assert "Best: 94 (disputed) at Rate 1, Depth 1; every value is disputed." in text["model/a/"]


def test_why_one_reading_alone_gives_a_value(pages: Callable[..., Pages]) -> None:
    text = pages(READ, FIRST, {"second.csv": SECOND.replace("4,1,a,50\n", "")})["model/a/"]
    assert (
        '1 cell: Disputed: one reading gives this value; no value in "The first reader" (disputed).'
    ) in text
    assert ("1 cell: One reading only gives this value.") in text


# --- one of a thing -----------------------------------------------------------------------------

ONE = """format: 1
title: One
metric: {name: Accuracy, better: higher, unit: "%", column: accuracy}
x: rate
y: depth
facets: [benchmark]
factors: {benchmark: {levels: [{id: a, items: 1}]}}
trials: {items: benchmark, samples: 1}
claims:
  - {text: It is full., check: 'grid(benchmark="a").min == 100'}
reproduce: {script: run.py, args: "--rate {rate} --depth {depth}", margin: 3}
"""
"""A study of one of everything."""
PLURAL = re.compile(
    r"(?<![\d.,×=] )(?<![\d.,×=])\b1 ((?:[a-z]+ )?(?:[a-z]+s)\b|(?:are|have|hold|don't)\b)"
)
"""A 1 before a plural; not the 1 of a cell's place or of a condition."""
SINGULAR = ("as", "has", "holds", "is", "this", "was", "doesn")
"""Words with an s at their end that are no plural."""


@pytest.mark.parametrize(
    ("study", "cells"),
    [
        (ONE, "rate,depth,benchmark,accuracy\n1,1,a,100\n"),
        (ONE.replace("== 100", "== 1"), "rate,depth,benchmark,accuracy\n1,1,a,100\n"),
        (ONE, "rate,depth,benchmark,accuracy,note\n1,1,a,100,read twice\n2,1,a,0,\n"),
        (COMPARED, counts({"a": {"1": 1}, "b": {"1": 0}}, 1)),
    ],
    ids=["one-cell", "a-wrong-claim", "two-cells", "two-grids"],
)
def test_one_of_a_thing_is_singular(pages: Callable[..., Pages], study: str, cells: str) -> None:
    found = pages(study, cells)
    assert len(found) >= 5
    wrong = {
        (address, text[max(match.start() - 30, 0) : match.end() + 10])
        for address, text in found.items()
        for match in PLURAL.finditer(text)
        if match[1].split()[-1] not in SINGULAR
    }
    assert wrong == set()


# --- readings, scales and verdicts --------------------------------------------------------------


def test_readings_agree_as_numbers_and_one_without_a_value_does_neither(
    pages: Callable[..., Pages],
) -> None:
    second = SECOND.replace("score\n", "score,state\n").replace("84\n", "84,disputed\n")
    second = second.replace("94\n", "94,\n").replace("40\n", "40,\n").replace("50\n", "50,\n")
    text = pages(READ, FIRST, {"second.csv": second})["model/a/"]
    assert "1 × 1 disputed 94 – " in text
    assert "2 × 1 84 84 (disputed) yes " in text
    assert "3 × 1 30 40 no " in text


def test_whose_value_is_shown_where_none_agree(pages: Callable[..., Pages]) -> None:
    text = pages(READ, FIRST, {"second.csv": SECOND})["model/a/"]
    assert (
        "Shown is the value that at least two of them give, not counting one that is made from the "
        "other; where none agree, the first value in this order, as disputed: The first reader"
    ) in text


def test_equal_colours_of_heatmaps_beside_each_other_are_equal_values(
    pages: Callable[..., Pages],
) -> None:
    first = FIRST + "1,1,b,10,\n2,1,b,20,\n"
    found = pages(READ, first, {"second.csv": SECOND})
    assert found["model/"].count("10 Score 100 better") == 1
    assert "One scale: " not in found["model/a/"]
