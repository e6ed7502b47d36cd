"""Heatmaps side by side: their colours say what the statistics do, and can be told apart."""

from dataclasses import replace
from pathlib import Path

import pytest
from builders import write_study

from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.pipeline import load_data
from gridatlas.charts.compose import draw_difference, draw_grid
from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.charts.palette import BLACK_UP_TO, DARK, LIGHT, STEPS, luminance, step, stylesheet
from gridatlas.charts.panels import centred_scale
from gridatlas.charts.vegalite import specification
from gridatlas.pages.multiples import inked, multiples, thumbnails
from gridatlas.table.differences import differences

HEAD = "rate,depth,task,accuracy,n\n"
STUDY = (
    "format: 1\ntitle: S\nmetric: {name: Accuracy, better: higher, column: accuracy, unit: '%'}\n"
    "x: rate\ny: depth\nfacets: [task]\n"
)
CLEAR = "1,1,a,5,200\n2,1,a,50,200\n3,1,a,52,200\n1,1,b,1,200\n2,1,b,60,200\n3,1,b,61,200\n"
NULL = "1,1,a,50,20\n2,1,a,55,20\n3,1,a,45,20\n1,1,b,20,20\n2,1,b,25,20\n3,1,b,20,20\n"


def study(folder: Path, cells: str, more: str = "") -> Assessment:
    write_study(folder / "s", STUDY + more, HEAD + cells)
    return load_data(folder)["s"]


def fills(heatmap: Heatmap) -> dict[str, str]:
    """The scale that each cell's colour is of."""
    return {
        mark.key: next(name for name, colours in LIGHT.items() if mark.fill in colours)
        for mark in heatmap.marks
    }


# --- colours ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LIGHT)
def test_values_can_be_read_on_each_step_in_light_and_dark(name: str) -> None:
    for light, dark in zip(LIGHT[name], DARK[name], strict=True):  # type: ignore[index]
        white = luminance(light) <= BLACK_UP_TO
        for colour, text in ((light, 1.0 if white else 0.0), (dark, 0.0 if white else 1.0)):
            low, high = sorted([luminance(colour), text])
            assert (high + 0.05) / (low + 0.05) >= 4.5, colour


def test_no_colour_means_two_things() -> None:
    every = [colour for colours in LIGHT.values() for colour in colours]
    assert len(set(every)) == len(every) == 3 * STEPS


def test_the_stylesheet_has_a_dark_colour_for_each_light_one() -> None:
    rules = stylesheet()
    for name, colours in LIGHT.items():
        for number, colour in enumerate(colours):
            assert f'[fill="{colour}"] {{ fill: var(--ga-{name[0]}{number}); }}' in rules
            assert f"--ga-{name[0]}{number}: {DARK[name][number]};" in rules
    # What all cells share is told once, at their group.
    assert ':is(.values_marks[fill="#000"], .values_marks [fill="#000"]) { fill: #fff; }' in rules
    assert ':is(.best_marks[stroke="#fff"], .best_marks [stroke="#fff"]) { stroke: #000; }' in rules


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 0), (5, 10), (10, 20), (-3, 0), (99, 20), (2.4, 5)]
)
def test_values_beyond_the_ends_have_the_colour_of_the_end(value: float, expected: int) -> None:
    assert step(value, 0, 10) == expected


@pytest.mark.parametrize(
    ("reach", "end"), [(0, 1), (6.97, 7), (7, 7), (7.1, 8), (0.034, 0.04), (12, 15), (95, 100)]
)
def test_ends_of_a_centred_scale_read_well(reach: float, end: float) -> None:
    scale = centred_scale(reach)
    assert (scale.low, scale.high) == (-end, end)


# --- names and sizes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "names"),
    [
        (["b/1"], ["b − a"]),
        (["b/1", "c/1"], ["b − a", "c − a"]),
        (["b/1", "b/2"], ["1", "2"]),
        (["b/1", "c/2"], ["b − a | 1", "c − a | 2"]),
    ],
)
def test_differences_are_named_by_what_they_do_not_share(
    tmp_path: Path, chosen: list[str], names: list[str]
) -> None:
    rows = [f"{rate},1,{task},{seed},5" for task in "abc" for seed in "12" for rate in "12"]
    write_study(
        tmp_path / "s",
        STUDY.replace("[task]", "[task, seed]") + "baseline: {task: a}\n",
        "\n".join(["rate,depth,task,seed,accuracy", *rows]) + "\n",
    )
    assessment = load_data(tmp_path)["s"]
    found = {
        of.second.address: of for of in differences(assessment.results, assessment.study.facets[0])
    }
    row = inked(assessment, [found[address] for address in chosen])
    assert [figure.name for figure in row.figures] == names


def test_cells_of_panels_beside_each_other_have_one_size(tmp_path: Path) -> None:
    cells = "1,1,a,9.25,\n2,1,a,8.25,\n1,1,b,100.00,\n2,1,b,7.25,\n"
    assessment = study(tmp_path, cells)
    row = multiples(assessment, tuple(assessment.results.grids.values()), "k")
    alone = [replace(figure.heatmap, letters=0) for figure in row.figures]
    small, large = (specification(heatmap)["width"] for heatmap in alone)
    assert small < large
    assert [specification(figure.heatmap)["width"] for figure in row.figures] == [large, large]


def turned(cells: str) -> str:
    """The shares of failures instead of successes."""
    rows = (row.split(",") for row in cells.splitlines())
    return "".join(
        f"{rate},{depth},{task},{100 - int(value)},{n}\n" for rate, depth, task, value, n in rows
    )


@pytest.mark.parametrize("more", ["compare: [task]\n", "compare: [task]\ncolour: value\n"])
def test_the_better_end_has_one_colour_whichever_values_are_better(
    tmp_path: Path, more: str
) -> None:
    head = STUDY.replace("better: higher", "better: lower")
    write_study(tmp_path / "errors", head + more, HEAD + turned(CLEAR))
    pairs = []
    for assessment in (study(tmp_path, CLEAR, more), load_data(tmp_path)["errors"]):
        grids = tuple(assessment.results.grids.values())
        [facet] = assessment.study.facets
        gaps = differences(assessment.results, facet)
        pairs.append((multiples(assessment, grids, "k"), inked(assessment, gaps)))
    for rows in zip(*pairs, strict=True):
        assert [row.legend and row.legend.scale.reverse for row in rows] == [False, True]
        first, second = (
            [{mark.key: mark.fill for mark in figure.heatmap.marks} for figure in row.figures]
            for row in rows
        )
        assert first == second


def test_a_heatmap_that_stands_alone_has_its_better_end_dark(tmp_path: Path) -> None:
    scales = {}
    for better in ("higher", "lower"):
        head = STUDY.replace("better: higher", f"better: {better}")
        write_study(tmp_path / better, head + "compare: [task]\n", HEAD + CLEAR)
        results = load_data(tmp_path)[better].results
        [difference] = differences(results, results.study.facets[0])
        for heatmap in (draw_grid(difference.first), draw_difference(difference)):
            color = specification(heatmap)["layer"][0]["encoding"]["color"]
            scales[better, heatmap.kind] = color["scale"].get("reverse", False)
    assert scales == {
        ("higher", "values"): False,
        ("lower", "values"): True,
        ("higher", "difference"): True,  # Vega's scheme goes from purple to orange
        ("lower", "difference"): False,
    }


# --- what is faded ------------------------------------------------------------------------------


def test_all_cells_are_pale_where_the_answer_asserts_nothing(tmp_path: Path) -> None:
    assessment = study(tmp_path, NULL)
    row = multiples(assessment, tuple(assessment.results.grids.values()), "k")
    assert assessment.answers[""].grade == "not-shown"
    for figure in row.figures:
        assert set(fills(figure.heatmap).values()) == {"faded"}
        assert figure.heatmap.dashed
        assert figure.heatmap.best_edges == ()
    assert row.legend
    assert (row.legend.inked, row.legend.faded, row.legend.dashed) == (False, True, True)
    assert [figure.name for figure in row.figures] == ["a", "b"]


def test_cells_that_are_beaten_are_inked_where_the_answer_asserts_something(
    tmp_path: Path,
) -> None:
    assessment = study(tmp_path, CLEAR)
    assert assessment.answers[""].grade in ("clear", "likely")
    row = multiples(assessment, tuple(assessment.results.grids.values()), "k")
    for figure in row.figures:
        found = fills(figure.heatmap)
        assert found == {"1,1": "diverging", "2,1": "faded", "3,1": "faded"}
        # What may be the best is outlined together: two cells side by side have six edges.
        assert len(figure.heatmap.best_edges) == 6
    assert row.legend
    assert row.legend.rivals


@pytest.mark.parametrize(
    ("more", "cells"),
    [
        ("colour: value\n", CLEAR),
        ("axes: conditions\n", CLEAR),
        ("baseline: {task: a}\n", CLEAR),
        ("", CLEAR.replace(",200", ",")),
    ],
    ids=["chosen", "conditions", "baseline", "unknown n"],
)
def test_colours_are_values_on_one_scale_where_the_statistics_do_not_decide(
    tmp_path: Path, more: str, cells: str
) -> None:
    assessment = study(tmp_path, cells, more)
    row = multiples(assessment, tuple(assessment.results.grids.values()), "k")
    for figure in row.figures:
        assert set(fills(figure.heatmap).values()) == {"sequential"}
        assert figure.heatmap.domain == (1, 61)


def test_only_significant_differences_have_ink_and_numbers(tmp_path: Path) -> None:
    cells = "1,1,a,50,200\n2,1,a,50,200\n1,1,b,51,200\n2,1,b,90,200\n"
    assessment = study(tmp_path, cells, "baseline: {task: a}\n")
    [facet] = assessment.study.facets
    row = inked(assessment, differences(assessment.results, facet))
    [figure] = row.figures
    texts = {mark.key: (mark.text, mark.label) for mark in figure.heatmap.marks}
    assert texts == {
        "1,1": ("·", "Rate 1, Depth 1: +1 points, within chance"),
        "2,1": ("+40", "Rate 2, Depth 1: +40 points, significant"),
    }
    assert fills(figure.heatmap) == {"1,1": "faded", "2,1": "diverging"}
    assert (figure.counts, figure.name) == ((1, 0), "b − a")
    small = thumbnails(assessment)
    assert small.small
    assert [figure.heatmap.panel for figure in small.figures] == ["thumbnail"]
    # The baseline's level doesn't differ from itself: its own grids stand for it.
    assert [figure.name for figure in thumbnails(assessment, "task/a").figures] == ["a"]
    assert [figure.name for figure in thumbnails(assessment, "task/b").figures] == ["b − a"]
