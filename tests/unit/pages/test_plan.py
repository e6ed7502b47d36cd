"""What a page shows is laid out when it is asked for: of a page in the cache, never."""

import pytest
from builders import real_data

from gridatlas.charts.kinds.heatmap import Heatmap
from gridatlas.pages import plan
from gridatlas.pages.multiples import columns, in_common


def test_a_page_is_laid_out_once_when_it_is_asked_for(monkeypatch):
    laid_out = []

    def counted(name, lay_out):
        return lambda *given: laid_out.append(name) or lay_out(*given)

    for name in ("study_anatomy", "facet_anatomy", "level_anatomy"):
        monkeypatch.setattr(plan, name, counted(name, getattr(plan, name)))
    pages = plan.plan_study(real_data()["digits-pass-1"], "studies")
    assert laid_out == []
    level = next(page for page in pages if page.template == "level.md.jinja")
    assert level.rows
    assert level.main_grid
    assert laid_out == ["level_anatomy"]
    checks, reproduction = (page for page in pages if page.anatomy is None)
    assert (checks.nav_title, reproduction.nav_title) == ("Checks", "Runs")


@pytest.mark.parametrize("study", ["digits-pass-1", "dynts-window-ratio", "grpo-digits"])
def test_no_row_of_heatmaps_mixes_values_with_differences(study):
    """Equal colours on a page are equal values, or equal differences, wherever they stand."""
    for page in plan.plan_study(real_data()[study], "studies"):
        drawn = [
            {figure.heatmap.scale for figure in row.figures if isinstance(figure.chart, Heatmap)}
            for row in page.rows
        ]
        assert {len(scales) for scales in drawn} <= {0, 1}, page.path
        every = {scale for scales in drawn for scale in scales}
        assert len(every) == len({(of.palette, of.centred) for of in every}), page.path


def _by_fold(study, path):
    plans = plan.plan_study(real_data()[study], "studies")
    [page] = [page for page in plans if page.path == f"studies/{study}/{path}"]
    row = next(row for row in page.rows if row.key == "grids")
    folds = {True: [], False: []}
    for figure in row.figures:
        folds[figure.folded].append(figure.name)
    return folds


def test_of_many_heatmaps_those_that_the_headline_names_first_stand_open():
    """Seed 1 of Control is the highest: it is read before what comes earlier in the study."""
    folds = _by_fold("digits-pass-1", "seed/1/index.md")
    assert [name.partition(" |")[0] for name in folds[False]] == ["After GRPO"] * 3 + [
        "Control"
    ] * 3
    assert [name.partition(" |")[0] for name in folds[True]] == ["Before GRPO"] * 3


def test_up_to_six_heatmaps_all_stand_open():
    folds = _by_fold("dynts-window-ratio", "model/r1-qwen/index.md")
    assert len(folds[False]) == 5
    assert folds[True] == []


def test_levels_that_another_facets_pages_have_side_by_side_are_so_only_there():
    plans = {page.path: page for page in plan.plan_study(real_data()["grpo-digits"], "studies")}
    alone = plans["studies/grpo-digits/setting/index.md"]
    assert [row.key for row in alone.rows][-1] == "grids-all"
    plans = {p.path: p for p in plan.plan_study(real_data()["dynts-window-ratio"], "studies")}
    two = plans["studies/dynts-window-ratio/model/index.md"]
    assert "grids-all" not in [row.key for row in two.rows]
    other = plans["studies/dynts-window-ratio/benchmark/aime24/index.md"]
    row = next(row for row in other.rows if row.key == "grids")
    assert [figure.name for figure in row.figures] == ["R1-Llama", "R1-Qwen"]


@pytest.mark.parametrize(
    ("study", "facet", "names"),
    [
        (
            "digits-pass-1",
            "temperature",
            [f"Control − Before GRPO | {of} | Mean of the seeds"
             for of in ("Greedy", "Sampled at 0.6", "Sampled at 1.0")],
        ),
        (
            "digits-pass-1",
            "setting",
            [f"{of} | Greedy | Mean of the seeds"
             for of in ("Before GRPO", "After GRPO", "Control")],
        ),
        (
            "dynts-window-ratio",
            "benchmark",
            [f"R1-Qwen − R1-Llama | {of}"
             for of in ("AIME24", "AIME25", "AMC23", "GPQA_D", "Average")],
        ),
    ],
)  # fmt: skip
def test_below_a_levels_headline_stands_what_it_names(study, facet, names):
    assessment = real_data()[study]
    rows = columns(assessment, assessment.study.facet(facet))
    assert [row.figures[0].name for row in rows] == names


def test_a_levels_page_outlines_its_own_pair():
    """Of AIME25 alone a difference is shown: its heatmap isn't all chance."""
    for slug, outlined in (("aime25", True), ("aime24", False)):
        assessment = real_data()["dynts-window-ratio"]
        plans = plan.plan_study(assessment, "studies")
        [page] = [p for p in plans if p.path.endswith(f"benchmark/{slug}/index.md")]
        values, differences = page.rows
        assert [bool(of.heatmap.outlined) for of in differences.figures] == [outlined]
        assert ("stands out only as a whole" in differences.says) == outlined
        assert ("no difference here" in values.says) != outlined


def test_a_third_pair_is_folded_where_not_all_fit_one_line():
    plans = {page.path: page for page in plan.plan_study(real_data()["grpo-digits"], "studies")}
    rows = plans["studies/grpo-digits/setting/index.md"].rows
    [row] = [row for row in rows if row.key == "differences"]
    assert [figure.folded for figure in row.figures] == [False, False, True]
    plans = {page.path: page for page in plan.plan_study(real_data()["digits-pass-1"], "studies")}
    [row] = [
        row
        for row in plans["studies/digits-pass-1/temperature/1/index.md"].rows
        if row.key == "differences"
    ]
    assert [figure.folded for figure in row.figures] == [False] * 3


def test_a_forest_subtracts_as_heatmaps_do():
    plans = {page.path: page for page in plan.plan_study(real_data()["grpo-digits"], "studies")}
    rows = {row.key: row for row in plans["studies/grpo-digits/setting/index.md"].rows}
    [plot] = (figure.chart for figure in rows["forest"].figures)
    named = [figure.name for figure in rows["differences"].figures]
    assert [row.name for row in plot.rows] == named


def test_captions_of_columns_call_each_by_what_tells_it_apart():
    assessment = real_data()["dynts-window-ratio"]
    benchmark = assessment.study.facets[1]
    [common] = in_common(columns(assessment, benchmark))
    assert "AIME24 and AMC23: Faded: no difference here is shown" in common.says
