"""Pictures of studies: what is marked, faded and said follows from what was tested in them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from builders import write_study

from gridatlas.analysis.said import Answer, Assertion
from gridatlas.assessment.pipeline import load_data
from gridatlas.charts.kinds.heatmap import Segment
from gridatlas.charts.marks import marks_of
from gridatlas.charts.vegalite import ABOVE, COURSE_GAP, cell_size
from gridatlas.charts.views import as_thumbnail, as_whole, differences_view, grids_view
from gridatlas.pages.environment import own_environments
from gridatlas.pages.heatmaps import figures_of
from gridatlas.pages.multiples import columns, inked, multiples, thumbnails, with_versions
from gridatlas.table.differences import differences

HEAD = "rate,depth,task,accuracy,n\n"
STUDY = (
    "format: 1\ntitle: S\nmetric: {name: Accuracy, better: higher, column: accuracy, unit: '%'}\n"
    "x: rate\ny: depth\nfacets: [task]\nroles: {task: block}\n"
)
CLEAR = "1,1,a,5,200\n2,1,a,50,200\n3,1,a,52,200\n1,1,b,1,200\n2,1,b,60,200\n3,1,b,61,200\n"
NULL = "1,1,a,50,20\n2,1,a,55,20\n3,1,a,45,20\n1,1,b,20,20\n2,1,b,25,20\n3,1,b,20,20\n"
UNKNOWN = CLEAR.replace(",200", ",")


def study(folder, cells, more="", head=STUDY):
    write_study(folder / "s", head + more, HEAD + cells)
    return load_data(folder)["s"]


def view_of(assessment, answer=None):
    grids = tuple(assessment.results.grids.values())
    return grids_view(assessment, grids, answer or assessment.answers[""])


def asserting(kind, factor, *levels):
    """An answer whose headline names the levels of one assertion."""
    assertion = Assertion(kind, factor, levels, 2, 1, 3, "%", 0.001, "clear", "")  # type: ignore[arg-type]
    return Answer(f"{' beats '.join(levels)}", (), "clear", 0.001, "", (assertion,))


# --- captions follow from tests -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "answer", "sentence", "fades"),
    [
        (UNKNOWN, None, "", False),  # nothing tested: nothing about chance
        (NULL, None, "Faded: no difference here is shown to be beyond chance.", True),
        (
            NULL,
            asserting("level", "rate", "2"),
            "The column at 2 stands out only as a whole. Faded: on one task alone, differences "
            "between settings may be chance.",
            True,
        ),
    ],
    ids=["untested", "none", "a level"],
)
def test_a_caption_of_values_says_what_was_tested(tmp_path, cells, answer, sentence, fades):
    view = view_of(study(tmp_path, cells), answer)
    assert sentence in view.caption
    assert ("chance" in view.caption) == bool(sentence)
    assert ("faded" in marks_of(view.heatmaps)) == fades
    assert all(mark.faded == fades for heatmap in view.heatmaps for mark in heatmap.marks)


@pytest.mark.parametrize(
    ("cells", "grade", "shows"),
    [(NULL, "not-shown", True), (NULL, "untestable", False), (UNKNOWN, "not-shown", False)],
)
def test_where_all_is_faded_a_caption_says_what_would_have_been_found(
    tmp_path, cells, grade, shows
):
    answer = Answer("No effect of rate shown", (), grade, 0.4, "", shows="3 points")  # type: ignore[arg-type]
    caption = view_of(study(tmp_path, cells), answer).caption
    sentence = "A difference of 3 points or more between means would probably have been found."
    assert (sentence in caption) == shows
    assert ("3 points" in caption) == shows


def test_a_set_for_the_best_has_rings_or_a_sentence(tmp_path):
    head = STUDY.replace("facets: [task]\nroles: {task: block}\n", "")
    few = "".join(f"{x},1,{v},400\n" for x, v in enumerate((20, 22, 25, 60, 62, 10, 11, 12), 1))
    many = "".join(f"{x},1,{v},400\n" for x, v in enumerate((60, 61, 62, 60, 10), 1))
    lone = "".join(f"{x},1,{v},400\n" for x, v in enumerate((20, 22, 25, 90, 30, 10), 1))
    found = {}
    for name, cells in (("few", few), ("many", many), ("lone", lone)):
        write_study(tmp_path / name, head, "rate,depth,accuracy,n\n" + cells)
        view = view_of(load_data(tmp_path)[name], asserting("level", "rate", "5"))
        rings = sum(mark.ring for mark in view.heatmaps[0].marks)
        found[name] = (
            rings,
            re.findall(r"[^.]*(?:may be the best|shown to beat)[^.]*\.", view.caption),
        )
        assert "faded" not in marks_of(view.heatmaps)
    assert found == {
        "few": (1, [" ○ may be the best: 2 of 8."]),  # the other one is the best seen
        "many": (0, [" 4 of 5 may be the best; 5 × 1 is worse."]),
        "lone": (0, [" The best value is shown to beat all others."]),
    }


@pytest.mark.parametrize(
    ("second", "sentence", "faded", "strong"),
    [
        ("1,1,b,51,200\n2,1,b,90,200\n", "bold: beyond chance (1 of 2 cells); faded: not.", 1, 1),
        ("1,1,b,51,200\n2,1,b,49,200\n", "Faded: no difference here is shown", 2, 0),
        ("1,1,b,51,\n2,1,b,90,\n", "", 0, 0),
    ],
    ids=["some", "none", "untested"],
)  # fmt: skip
def test_a_caption_of_differences_says_what_was_tested(tmp_path, second, sentence, faded, strong):
    cells = "1,1,a,50,200\n2,1,a,50,200\n" + second
    if not sentence:
        cells = cells.replace(",200", ",")
    assessment = study(tmp_path, cells, "baseline: {task: a}\n", STUDY.replace("block", "choice"))
    found = differences(assessment.results, assessment.study.facets[0])
    view = differences_view(assessment, found)
    assert sentence in view.caption
    assert ("chance" in view.caption) == bool(sentence)
    marks = view.heatmaps[0].marks
    assert (sum(m.faded for m in marks), sum(m.strong for m in marks)) == (faded, strong)
    # A number stays where chance may explain it.
    assert all(mark.text for mark in marks)


# --- lines at the edges of large grids ------------------------------------------------------------


def test_a_grid_without_numbers_has_the_means_of_its_levels_as_lines(tmp_path):
    cells = "".join(f"{x},{y},a,{x + 2 * y},\n" for x in range(40) for y in range(30) if x or y)
    assessment = study(tmp_path, cells, head=STUDY.replace(": block", ": choice"))
    [heatmap] = view_of(assessment).heatmaps
    assert not heatmap.printed
    assert heatmap.x_means == heatmap.y_means == ()
    # A level with a missing cell has none; the others lie between the ends of both axes.
    low, high = 2 * 1 + 19.5, 2 * 29 + 19.5
    assert heatmap.x_course[0] is None
    assert heatmap.x_course[39] == pytest.approx((39 + 29 - low) / (high - low))
    assert heatmap.y_course[-1] is None
    assert (heatmap.y_course[-2], heatmap.y_course[0]) == pytest.approx((0, 1))
    caption = view_of(assessment).caption
    assert "Lines: mean of each column (up is more) and of each row (right is more)." in caption
    rows = {layer["name"]: layer.get("data", {}).get("values") for layer in
            heatmap.specification()["layer"]}  # fmt: skip
    right = len(heatmap.x_labels) * cell_size(heatmap)[0]
    assert all(of["top"] is None or -ABOVE <= of["top"] <= -COURSE_GAP for of in rows["course-x"])
    assert all(
        of["left"] is None or right + COURSE_GAP <= of["left"] <= right + ABOVE
        for of in rows["course-y"]
    )
    assert as_thumbnail(heatmap).x_course == ()
    small = study(tmp_path / "small", GRID)
    assert "Lines:" not in view_of(small).caption


# --- outlines are what headlines assert -----------------------------------------------------------

GRID = "".join(f"{x},{y},a,{50 + x * y},20\n" for x in (1, 2, 3) for y in (1, 2))


@pytest.mark.parametrize(
    ("answer", "boxes", "asserted"),
    [
        (asserting("level", "rate", "2"), (Segment(1, 0, 2, 2),), ((1,), ())),
        (asserting("level", "depth", "2"), (Segment(0, 0, 3, 1),), ((), (0,))),
        (asserting("cell", "rate × depth", "3", "1"), (Segment(2, 1, 3, 2),), ((), ())),
        (asserting("trend", "rate", "1", "3"), (), ((), ())),
        (asserting("pair", "task", "a", "b"), (), ((), ())),
        (replace(asserting("level", "rate", "2"), headline="Nothing is named"), (), ((), ())),
        (replace(asserting("level", "rate", "2"), grade="not-shown"), (), ((), ())),
    ],
)
def test_an_outline_is_what_the_headline_asserts(tmp_path, answer, boxes, asserted):
    [heatmap] = view_of(study(tmp_path, GRID), answer).heatmaps
    assert (heatmap.outlined, (heatmap.x_asserted, heatmap.y_asserted)) == (boxes, asserted)


def test_a_difference_is_outlined_where_its_pair_is_asserted(tmp_path):
    head = STUDY.replace("[task]", "[task, seed]").replace("block", "choice") + "compare: [task]\n"
    rows = [f"{x},1,{task},{seed},5" for task in "abc" for seed in "12" for x in "12"]
    write_study(tmp_path / "s", head, "\n".join(["rate,depth,task,seed,accuracy", *rows]) + "\n")
    assessment = load_data(tmp_path)["s"]
    found = differences(assessment.results, assessment.study.facets[0])
    named = asserting("block", "task × seed", "b", "a", "2")
    maps = differences_view(assessment, found, named).heatmaps
    outlined = [of.label for of, drawn in zip(found, maps, strict=True) if drawn.outlined]
    assert outlined == ["b − a | 2"]
    # Over all seeds together, no single one is asserted.
    pair = asserting("pair", "task", "b", "a")
    assert not any(of.outlined for of in differences_view(assessment, found, pair).heatmaps)


def test_the_better_of_two_tuned_levels_has_its_best_cell_outlined(tmp_path):
    assessment = study(tmp_path, CLEAR, head=STUDY.replace("block", "choice"))
    first, second = view_of(assessment, asserting("best", "task", "b", "a")).heatmaps
    assert first.outlined == ()
    assert second.outlined == (Segment(2, 0, 3, 1),)


# --- one scale, one look --------------------------------------------------------------------------


def test_levels_of_different_height_look_different_on_every_surface(tmp_path):
    cells = "1,1,a,24,\n2,1,a,5,\n1,1,b,94,\n2,1,b,24,\n"
    assessment = study(tmp_path, cells, "colour: value\n")
    grids = tuple(assessment.results.grids.values())
    steps = {}
    rows = [multiples(assessment, grids, "k"), *(multiples(assessment, [g], "k") for g in grids)]
    drawn = [figure.heatmap for row in (*rows, thumbnails(assessment)) for figure in row.figures]
    drawn += [figure.heatmap for figure in figures_of([(assessment, grid) for grid in grids])]
    drawn += [as_whole(drawn[0]), as_thumbnail(drawn[0])]
    for heatmap in drawn:
        for mark in heatmap.marks:
            steps.setdefault(f"{mark.value:g}", set()).add(mark.step)
    assert steps.keys() == {"24", "5", "94"}
    assert all(len(of) == 1 for of in steps.values())
    assert len(set.union(*steps.values())) == 3


def test_the_better_end_has_one_colour_whichever_values_are_better(tmp_path):
    turned = "".join(
        f"{rate},{depth},{task},{100 - int(value)},{n}\n"
        for rate, depth, task, value, n in (row.split(",") for row in CLEAR.splitlines())
    )
    write_study(tmp_path / "s", STUDY, HEAD + CLEAR)
    write_study(tmp_path / "t", STUDY.replace("better: higher", "better: lower"), HEAD + turned)
    found = load_data(tmp_path)
    first, second = (
        [mark.step for heatmap in view_of(found[name]).heatmaps for mark in heatmap.marks]
        for name in "st"
    )
    assert first == second


def test_more_than_three_ties_are_a_sentence(tmp_path):
    cells = "".join(f"{x},1,a,{7 if x < 6 else 5},\n" for x in range(1, 9))
    view = view_of(study(tmp_path, cells))
    assert not any(mark.best for mark in view.heatmaps[0].marks)
    assert view.subtitles == ("mean 6.3 % · 5 share the highest",)


def test_no_best_is_marked_where_most_cells_are_missing(tmp_path):
    cells = "".join(f"{x},1,a,{x if x < 4 else ''},\n" for x in range(1, 9))
    [heatmap] = view_of(study(tmp_path, cells)).heatmaps
    assert not any(mark.best for mark in heatmap.marks)


# --- what stands for a study, and what a switch shows ---------------------------------------------


def test_thumbnails_are_of_what_the_headline_names(tmp_path):
    cells = "1,1,a,50,900\n2,1,a,50,900\n1,1,b,51,900\n2,1,b,49,900\n1,1,c,80,900\n2,1,c,90,900\n"
    more = "baseline: {task: a}\n"
    assessment = study(tmp_path, cells, more, STUDY.replace("block", "choice"))
    assert assessment.answers[""].headline.startswith("c beats a")
    row = thumbnails(assessment)
    assert [figure.name for figure in row.figures] == ["c − a", "c − b"]
    assert all(figure.heatmap.size == "thumbnail" for figure in row.figures)


def test_differences_are_named_by_what_they_do_not_share(tmp_path):
    rows = [f"{rate},1,{task},{seed},5" for task in "abc" for seed in "12" for rate in "12"]
    head = STUDY.replace("[task]", "[task, seed]") + "baseline: {task: a}\n"
    write_study(tmp_path / "s", head, "\n".join(["rate,depth,task,seed,accuracy", *rows]) + "\n")
    assessment = load_data(tmp_path)["s"]
    found = {
        of.second.address: of
        for of in differences(assessment.results, assessment.study.facets[0])
        if of.levels[0].key == "a"
    }
    for chosen, names in (
        (["b/1"], ["b − a"]),
        (["b/1", "b/2"], ["1", "2"]),
        (["b/1", "c/2"], ["b − a | 1", "c − a | 2"]),
    ):
        row = inked(assessment, [found[address] for address in chosen])
        assert [figure.name for figure in row.figures] == names


def test_another_reading_is_a_picture_of_its_own(tmp_path):
    head = (
        STUDY + "readings:\n  - {id: one, label: One, file: one.csv}\n"
        "  - {id: two, label: Two, file: two.csv}\n"
    )
    write_study(tmp_path / "s", head, "")
    (tmp_path / "s/one.csv").write_text(HEAD + NULL)
    (tmp_path / "s/two.csv").write_text(HEAD + "1,1,a,50,20\n2,1,a,95,20\n1,1,b,20,20\n")
    assessment = load_data(tmp_path)["s"]
    grids = tuple(assessment.results.grids.values())
    row = with_versions(assessment, multiples(assessment, grids, "k"), grids, "")
    assert [name for name, _, _ in row.versions] == ["plain values", "Two"]
    plain, other = (version for _, _, version in row.versions)
    assert (row.says, row.legend) != (plain.says, plain.legend)
    assert "Colour:" in row.says
    assert "Colour:" not in plain.says
    # Nothing of the other reading is tested, and only a cell that differs has a corner.
    assert "chance" not in other.says
    marks = [mark for figure in other.figures for mark in figure.heatmap.marks]
    assert [mark.text for mark in marks if mark.corner] == ["95"]
    assert not any(mark.faded or mark.ring for mark in marks)
    assert [figure.subtitle for figure in other.figures] == [
        "2 of 3 cells, 1 differ", "1 of 3 cells, 0 differ",
    ]  # fmt: skip
    assert row.versions[1][1].startswith("Two gives 3 values here. ")


def test_the_comparison_beside_levels_is_what_the_headline_names_first(tmp_path):
    rows = [
        f"{name},{rate},{seed},{mean + rate + 0.1 * ((seed + rate) % 3)}"
        for name, mean in (("before", 40), ("control", 60), ("method", 70))
        for rate in (1, 2, 3)
        for seed in (1, 2, 3)
    ]
    head = LEADS.replace("batch", "rate").replace("engine", "way").replace("run:", "seed:")
    write_study(tmp_path / "s", head + "baseline: {way: before}\n",
                "\n".join(["way,rate,seed,speed", *rows, ""]))  # fmt: skip
    assessment = load_data(tmp_path)["s"]
    assert assessment.answers[""].headline == (
        "method and control likely beat before (+30.0, +20.0 t/s); method also control (+10.0)"
    )
    [facet] = assessment.study.facets
    *_, compared = columns(assessment, facet, compared=True)
    assert compared.figures[0].name == "method − before"
    names = [figure.name for figure in thumbnails(assessment).figures]
    assert names == ["method − before", "control − before", "method − control"]


LEADS = """format: 1
title: Engines
metric: {name: Speed, better: higher, column: speed, unit: t/s, decimals: 1}
x: batch
facets: [engine]
roles: {engine: choice, batch: condition, run: replicate}
"""


def engines(folder):
    """Of four, the last two can't be told apart; each has values up to ten times the smallest."""
    luck = (0.99, 1.0, 1.01)
    rows = [
        f"{name},{batch},{run},{speed * batch * luck[(run + at + batch) % 3]:.1f}"
        for at, (name, speed) in enumerate((("slow", 40), ("good", 90), ("best", 99), ("top", 100)))
        for batch in (1, 4, 10)
        for run in (1, 2, 3)
    ]
    write_study(folder / "s", LEADS, "\n".join(["engine,batch,run,speed", *rows, ""]))
    return load_data(folder)["s"]


def test_the_comparison_beside_levels_is_the_leaders_nearest(tmp_path):
    assessment = engines(tmp_path)
    assert assessment.answers[""].headline == (
        "top likely leads (342.0 t/s), not shown ahead of best"
    )
    [facet] = assessment.study.facets
    *_, compared = columns(assessment, facet, compared=True)
    assert compared.figures[0].name == "top ÷ good"
    assert compared.figures[0].heatmap.title == "top ÷ good"
    assert compared.figures[0].heatmap.measure == "ratio"
    values = grids_view(assessment, tuple(assessment.results.grids.values()), None)
    assert values.heatmaps[0].ends == ("30", "1,000 better")


# --- grids of means over seeds --------------------------------------------------------------------

LOSS = (
    "format: 1\ntitle: S\nmetric: {name: Loss, better: lower, column: loss}\nx: rate\ny: depth\n"
    "roles: {rate: choice, depth: choice, seed: replicate}\ncells: runs\n"
)


def losses(folder, *apart):
    """The picture of means over three seeds, by rate and depth; `apart` is of each rate."""
    lines = [
        f"{rate},{depth},{seed},{3 + apart[rate] + depth / 1000 + noise:.4f}"
        for rate in range(len(apart))
        for depth in (1, 2)
        for seed, noise in enumerate((0.01, -0.013, 0.004 * depth))
    ]
    write_study(folder / "s", LOSS, "\n".join(["rate,depth,seed,loss", *lines, ""]))
    return view_of(load_data(folder)["s"])


def test_cells_that_may_be_the_best_of_means_over_seeds_have_rings(tmp_path):
    view = losses(tmp_path, 0, 1, 2)
    marks = view.heatmaps[0].marks
    assert [(mark.x, mark.best, mark.ring) for mark in marks if mark.best or mark.ring] == [
        ("0", False, True),
        ("0", True, False),
    ]
    assert "○ may be the best: 2 of 6." in view.caption
    assert not any(mark.faded for mark in marks)


def test_a_null_study_of_seeds_is_faded(tmp_path):
    view = losses(tmp_path, 0, 0, 0)
    assert all(mark.faded for mark in view.heatmaps[0].marks)
    assert "Faded: no difference here is shown to be beyond chance." in view.caption


# --- cells in dispute -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("second", "corners", "sentence"),
    [
        # Both agree on one cell, differ on the next, and the third has one reading.
        ("1,1,a,50,20\n2,1,a,95,20\n", {"2": "corner", "3": "open-corner"}, False),
        # Most cells have one reading, so that a mark would say nothing.
        ("2,1,a,95,20\n", {"2": "corner"}, True),
    ],
)
def test_only_cells_with_readings_that_differ_are_marked_as_disputed(
    tmp_path, second, corners, sentence
):
    head = (
        STUDY + "reconcile: agreement\nreadings:\n  - {id: one, label: One, file: one.csv}\n"
        "  - {id: two, label: Two, file: two.csv}\n"
    )
    first = "1,1,a,50,20\n2,1,a,55,20\n3,1,a,45,20\n"
    write_study(tmp_path / "s", head, None, {"one.csv": HEAD + first, "two.csv": HEAD + second})
    view = view_of(load_data(tmp_path)["s"])
    assert {mark.x: mark.corner for mark in view.heatmaps[0].marks if mark.corner} == corners
    assert ("cells have one reading only." in view.caption) is sentence


# --- tuned methods --------------------------------------------------------------------------------


def of_shapes(study):
    folder = Path(__file__).parents[2] / "golden/projects/shapes/data"
    assessment = load_data(folder)[study]
    return assessment, tuple(assessment.results.grids.values())


def test_where_best_cells_are_compared_single_cells_count():
    assessment, grids = of_shapes("loss")
    view = grids_view(assessment, grids, assessment.answers["optimizer"])
    assert [sum(mark.ring for mark in heatmap.marks) for heatmap in view.heatmaps] == [2, 2, 2]
    assert not any(mark.faded for heatmap in view.heatmaps for mark in heatmap.marks)
    assert "○ may be the best of its grid (95 %)." in view.caption
    assert "as a whole" not in view.caption


@pytest.mark.parametrize(("study", "paired"), [("loss", False), ("settings", True)])
def test_two_heatmaps_stand_beside_each_other_on_a_phone_where_both_can_be_read(study, paired):
    """Half of its 358 pixels are enough for four columns of 59.2, but not for five of 4.538."""
    assessment, grids = of_shapes(study)
    picture = own_environments()[1].get_template("picture.html.jinja")
    html = picture.render(row=multiples(assessment, grids, "k"), study=assessment.study)
    assert ("ga-paired" in html) is paired


def test_labels_that_are_wider_than_values_take_the_whole_line_of_a_phone(tmp_path):
    picture = own_environments()[1].get_template("picture.html.jinja")
    for at, (names, paired) in enumerate((("abcd", True), (["polite request", *"bcd"], False))):
        rows = "".join(f"{x},1,{task},5,\n" for x in names for task in "ab")
        assessment = study(tmp_path / str(at), rows)
        row = multiples(assessment, tuple(assessment.results.grids.values()), "k")
        html = picture.render(row=row, study=assessment.study)
        assert ("ga-paired" in html) is paired
