"""What pages said falsely once: of statements, of chance where nothing is tested, of p."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from builders import write_study

from gridatlas.assessment.pipeline import load_data
from gridatlas.build.site import Site, build
from gridatlas.charts.views import grids_view
from gridatlas.pages.heatmaps import figures_of

GOLDEN = Path(__file__).parents[1] / "golden/projects"
STUDY = """format: 1
title: Tasks
metric: {name: Accuracy, unit: "%", column: accuracy, range: [0, 100], better: higher, decimals: 1}
x: rate
y: depth
facets: [task]
roles: {task: block}
claims:
"""
HOLDS = "  - {text: High., check: \"grid(task='a').best.value > 50\"}\n"
FAILS = "  - {text: Low., check: \"grid(task='a').best.value < 50\", holds: false}\n"


def cells(gain: float) -> str:
    """Eight tasks in which the rate 2 has a gain over 1 and 3."""
    rows = ["rate,depth,task,accuracy,n"]
    for at, task in enumerate("abcdefgh"):
        for depth in (1, 2):
            for rate in (1, 2, 3):
                value = 50 + at + depth + gain * (rate == 2) + 0.3 * ((at * rate + depth) % 3)
                rows.append(f"{rate},{depth},{task},{value:.1f},1000")
    return "\n".join(rows) + "\n"


def built(folder: Path, claims: str, gain: float = 0.0) -> Site:
    write_study(folder / "data/demo", STUDY + claims, cells(gain))
    return build(folder / "data")


def text(site: Site, path: str) -> str:
    [page] = [page for page in site.pages if page.plan.path == path]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page.whole())).split())


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        (HOLDS, "None fails here; Checks has all."),
        (HOLDS + FAILS, "Here are those that don't hold or can't be decided; Checks has all."),
    ],
)
def test_statements_that_hold_are_not_announced_as_others(
    tmp_path: Path, claims: str, sentence: str
) -> None:
    page = text(built(tmp_path, claims), "studies/demo/task/a/index.md")
    assert sentence in page
    assert page.count("has all") == 1


def test_an_answer_has_one_p(tmp_path: Path) -> None:
    site = built(tmp_path, HOLDS, 6.0)
    answer = load_data(tmp_path / "data")["demo"].answers[""]
    assert answer.asserts
    # Its levels, which come next, have answers of their own.
    before = text(site, "studies/demo/index.md").partition("What could overturn it")[0]
    assert len(set(re.findall(r"p [=<] [\d.]+", before))) == 1


@pytest.mark.parametrize("study", ["one-grid", "two-by-two", "times", "large"])
def test_nothing_is_said_of_chance_where_no_cell_is_tested(study: str) -> None:
    assessment = load_data(GOLDEN / "shapes/data")[study]
    grids = tuple(assessment.results.grids.values())
    view = grids_view(assessment, grids, assessment.answers[""])
    assert "chance" not in view.caption
    assert not any(mark.faded for heatmap in view.heatmaps for mark in heatmap.marks)
    assert not any("chance" in mark.label for heatmap in view.heatmaps for mark in heatmap.marks)
    for answer in assessment.answers.values():
        assert not any("chance" in line for line in (answer.headline, *answer.evidence))


def test_one_grid_alone_has_its_own_outlines_and_words(tmp_path: Path) -> None:
    """Its page asserts that the rate 2 is better, which no task alone shows."""
    write_study(tmp_path / "data/demo", STUDY + HOLDS, cells(1.2))
    assessment = load_data(tmp_path / "data")["demo"]
    assert assessment.answers[""].asserts
    grids = tuple(assessment.results.grids.values())
    together = grids_view(assessment, grids, assessment.answers[""])
    assert all(heatmap.outlined for heatmap in together.heatmaps)
    for figure in figures_of([(assessment, grid) for grid in grids]):
        assert figure.heatmap.outlined == ()
        assert "as a whole" not in figure.says
