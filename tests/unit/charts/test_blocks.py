"""Large grids in blocks: every cell is in one of them, and each says what it stands for."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from builders import HEAD, table

from gridatlas.assessment.assess import assess
from gridatlas.assessment.assessment import Assessment
from gridatlas.assessment.uncertainty import GridUncertainty
from gridatlas.charts.binning import BLOCKS_UP_TO, Shown, gather, layout, mark_key
from gridatlas.charts.draw import draw_difference, draw_disagreement, draw_values
from gridatlas.charts.marks import ABSENT, SEVERAL, Segment
from gridatlas.charts.render import draw_one
from gridatlas.charts.views import grids_view
from gridatlas.checks import StudyChecks
from gridatlas.pages.environment import caption, own_environments
from gridatlas.pages.exports import to_csv, to_json
from gridatlas.pages.figure import Figure
from gridatlas.pages.filters import GLOBALS
from gridatlas.pages.heatmaps import difference_figures
from gridatlas.pages.tables import data_table, provenance
from gridatlas.table.choose import analyse
from gridatlas.table.coded import Coded
from gridatlas.table.decimals import Decimals
from gridatlas.table.differences import differences


def _results(make_study, columns, rows, value, more=""):
    lines = [f"{x},{y},{value(x, y)}" for y in range(rows) for x in range(columns)]
    return analyse(make_study(more, table("rate,depth,value,state", *lines)))


def _grid(make_study, *arguments):
    results = _results(make_study, *arguments)
    return results.grid()


def _picture(results):
    """Of a study's only grid, as a page has it."""
    assessment = Assessment(results, StudyChecks((), ()))
    return grids_view(assessment, [results.grid()]).heatmaps[0]


def _plain(x, y):
    return f"{x},"


# --- how cells are put together -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "rows"), [(1, 1), (20, 20), (99, 101), (100, 100), (200, 1), (3, 200), (49, 200)]
)
def test_each_cell_of_a_smaller_grid_is_drawn(columns, rows):
    assert layout(columns, rows) is None


@pytest.mark.parametrize(
    ("columns", "rows", "x_size", "y_size", "blocks"),
    [
        (104, 100, 4, 4, (26, 25)),
        (150, 150, 5, 5, (30, 30)),
        (101, 100, 4, 4, (26, 25)),  # The last block of a row has one cell.
        (1000, 1000, 40, 40, (25, 25)),  # 34 would do; 40 divides evenly.
        (997, 1000, 34, 40, (30, 25)),  # A prime number.
        (201, 1, 3, 1, (67, 1)),  # Few cells, but too narrow to be seen.
        (1, 20_000, 1, 200, (1, 100)),
        (20_000, 1, 200, 1, (100, 1)),
        (10, 5000, 1, 56, (10, 90)),
    ],
)
def test_blocks_are_few_and_of_one_size(columns, rows, x_size, y_size, blocks):
    of = layout(columns, rows)
    assert (of.x_size, of.y_size) == (x_size, y_size)
    assert (len(of.x), len(of.y)) == blocks
    assert [place for span in of.x for place in span] == list(range(columns))
    assert [place for span in of.y for place in span] == list(range(rows))
    assert blocks[0] * blocks[1] <= BLOCKS_UP_TO**2


def _entry(x, y):
    return (None, "missing" if x else "failed") if x <= y % 3 else (Decimal(x), "")


@pytest.mark.parametrize(("columns", "rows"), [(101, 103), (1, 20_000), (300, 7)])
def test_every_cell_is_in_one_block(columns, rows):
    of = layout(columns, rows)
    assert of is not None
    entries = [_entry(x, y) for y in range(rows) for x in range(columns)]
    values, why = zip(*entries, strict=True)
    blocks = gather(Shown(Decimals.of(values), Coded.of(why)), of)
    assert sum(block.cells for block in blocks) == columns * rows
    present = [value for value in values if value is not None]
    assert sum(block.values for block in blocks) == len(present)
    sums = [block.mean * block.values for block in blocks if block.mean is not None]
    assert abs(sum(sums) - sum(present)) < Decimal("1e-15")
    absent = [number for block in blocks for _, number in block.absent]
    assert sum(absent) == columns * rows - len(present)
    assert [(block.row, block.column) for block in blocks] == [
        (row, column) for row in range(len(of.y)) for column in range(len(of.x))
    ]


@pytest.mark.parametrize("cells", [10_300, 10_399, 10_500])
def test_cells_of_another_grid_are_refused(cells):
    of = layout(104, 100)
    assert of is not None
    with pytest.raises(ValueError, match="10400 cells"):
        gather(Shown(Decimals.none(cells), Coded.constant("", cells)), of)


# --- what is drawn ------------------------------------------------------------------------------


def _states(x, y):
    """The best value at (99, 99); blocks without values, with some, and with a disputed one."""
    if x < 4 and y < 4:
        return ",oom"
    if x < 4 and y < 8:
        return ",failed" if y < 6 else ",missing"
    if (x, y) in ((10, 10), (11, 10)):
        return ",missing"
    return {(20, 20): "5,disputed", (99, 99): "90,"}.get((x, y), f"{x % 4},")


def test_a_large_grid_is_drawn_in_blocks(make_study):
    heatmap = _picture(_results(make_study, 104, 100, _states))
    assert heatmap.block == (4, 4)
    assert len(heatmap.marks) == 650
    assert sum(mark.value is not None for mark in heatmap.marks) == 648
    assert (heatmap.x_labels[0], heatmap.x_labels[-1]) == ("0 to 3", "100 to 103")
    assert (heatmap.y_labels[0], heatmap.y_labels[-1]) == ("96 to 99", "0 to 3")
    assert heatmap.measure == "Accuracy, mean of 4 × 4 cells"
    # From the top left.
    assert [mark.key for mark in heatmap.marks[:2]] == ["0,96", "4,96"]
    by_key = {mark.key: mark for mark in heatmap.marks}
    labels = {key: mark.label.partition(": ")[2] for key, mark in by_key.items()}
    assert by_key["0,0"].label.startswith("Rate 0 to 3, Depth 0 to 3: ")
    assert labels["0,0"] == "no value in 16 cells (16 out of memory)"
    assert labels["0,4"] == "no value in 16 cells (8 run failed, 8 missing)"
    assert labels["8,8"] == "mean 1, from 0 to 3, 16 cells (2 missing)"
    assert labels["96,96"] == "mean 7, from 0 to 90, 16 cells, has the best"
    assert by_key["0,0"].absent == ABSENT["oom"]
    assert by_key["0,4"].absent == SEVERAL
    assert [mark.key for mark in heatmap.marks if mark.best] == ["96,96"]
    assert not any(mark.ring or mark.corner for mark in heatmap.marks)
    assert heatmap.note == (
        "The 10,400 cells are drawn in 650 blocks of 4 × 4; the colour of a block is the mean of "
        "its values. The dot is on the block with the best cell (90 at Rate 99, Depth 99)."
    )
    # The scale is that of the blocks, and the drawing has a mark for each.
    assert (heatmap.scale.low, heatmap.scale.high) == (1, 7)
    drawing = draw_one(heatmap)
    assert drawing.svg.count('role="graphics-symbol"') == 650
    assert len(json.loads(drawing.spec)["data"]["values"]) == 650


def test_a_y_axis_of_blocks_may_point_down(make_study):
    more = "factors: {depth: {direction: down}}\n"
    heatmap = _picture(_results(make_study, 1, 20_000, lambda _x, y: f"{y},", more))
    assert heatmap.y_labels[0] == "0 to 199"
    assert [mark.text for mark in heatmap.marks[:2]] == ["100", "300"]
    assert [mark.key for mark in heatmap.marks if mark.best] == ["0,19800"]


def test_levels_that_are_texts_are_told_apart(make_study):
    """Also those that read like a block of two others."""
    levels = ["a", "b", "a to b", *(f"t{x}" for x in range(199))]
    lines = [f"{level},1,{place}" for place, level in enumerate(levels)]
    study = make_study("", table("rate,depth,value", *lines))
    heatmap = draw_values(analyse(study).grid())
    assert heatmap.block == (3, 1)
    assert heatmap.x_labels[:2] == ("a to a to b", "t0 to t2")
    levels = [*levels[:2], *(f"t{x}" for x in range(202)), "a to b"]
    more = f"factors: {{rate: {{levels: {json.dumps(levels)}}}}}\n"
    lines = [f"{level},1,1" for level in levels]
    heatmap = draw_values(analyse(make_study(more, table("rate,depth,value", *lines))).grid())
    assert len(set(heatmap.x_labels)) == len(heatmap.x_labels)


def test_many_best_cells_have_no_dot(make_study):
    for share, dots in ((4, 0), (50, 2)):
        found = _results(make_study, 100, 100, lambda x, y, of=share: f"{int(x % of == 0 == y)},")
        heatmap = _picture(found)
        assert sum(mark.best for mark in heatmap.marks) == dots


def test_small_marks_stand_on_printed_values_only(make_study):
    def value(x, y):
        return "5,disputed" if (x, y) == (1, 1) else f"{x},"

    heatmap = _picture(_results(make_study, 33, 33, value))
    assert not any(mark.corner for mark in heatmap.marks)
    labels = {mark.key: mark.label for mark in heatmap.marks}
    assert labels["1,1"].endswith("5 (disputed)")


def test_a_region_is_outlined_on_blocks(make_study):
    boxes = f"[{{rate: {list(range(8))}, depth: {list(range(2, 101))}}}]"
    more = f"regions: [{{label: seen, boxes: {boxes}}}]\n"
    heatmap = draw_values(_grid(make_study, 100, 101, _plain, more))
    # 26 blocks up; the one at the top has one row of cells, and the box begins in mid-block.
    assert heatmap.region == (
        Segment(0, 0, 2, 0),
        Segment(0, 25.5, 2, 25.5),
        Segment(0, 0, 0, 25.5),
        Segment(2, 0, 2, 25.5),
    )


def test_differences_and_disagreements_are_drawn_in_blocks(make_study):
    lines = [
        f"{model},{x},{y},{(x % 4) * factor},"
        for model, factor in (("a", 1), ("b", 3))
        for y in range(100)
        for x in range(104)
    ]
    lines[0] = "a,0,0,,oom"
    study = make_study(
        HEAD + "facets: [model]\nroles: {model: choice}\n",
        table("model,rate,depth,value,state", *lines),
    )
    results = analyse(study)
    (difference,) = differences(results, study.facet("model"))
    heatmap = draw_difference(difference)
    assert len(heatmap.marks) == 650
    assert {mark.text for mark in heatmap.marks} == {"+3"}
    first = next(mark for mark in heatmap.marks if mark.key == "0,0")
    assert first.label.endswith(": mean +3, from 0 to +6, 16 cells (1 out of memory)")
    assert heatmap.ends == ("−7", "+7")
    (figure,) = difference_figures([(Assessment(results, StudyChecks((), ())), difference)])
    assert "the colour of a block is the mean of its values. Across:" in caption(figure)
    apart = draw_disagreement(results.grid(model="a"), {("0", "0"): Decimal(2)}, 2)
    assert sum(mark.value is not None for mark in apart.marks) == 1
    assert len(apart.marks) == 650


def test_a_link_to_a_cell_leads_to_its_block(make_study):
    grid = _grid(make_study, 104, 100, _plain)
    study = grid.study
    keys = {mark.key for mark in draw_values(grid).marks}
    for x, y, key in (("0", "0", "0,0"), ("3", "4", "0,4"), ("99", "50", "96,48")):
        found = mark_key(study, study.x.level(x), study.y.level(y))
        assert found == key
        assert found in keys
        assert GLOBALS["point_anchor"](grid, (x, y)) == f"grid/{key}"


# --- the page and the downloads -----------------------------------------------------------------


def test_a_valuesof_very_many_cells_is_in_the_download_only(make_study):
    for columns, rows, expected in ((50, 50, True), (50, 51, False), (100, 100, False)):
        grid = _grid(make_study, columns, rows, _plain)
        uncertainty = GridUncertainty.unknown(grid.study, "n is unknown")
        values = data_table(Figure(draw_values(grid), grid, uncertainty=uncertainty))
        assert bool(values.rows) == expected
        assert values.too_many == (0 if expected else columns * rows)
        assert values.origins
        assert len(to_csv(grid).splitlines()) == columns * rows + 1
        assert len(json.loads(to_json(grid, uncertainty))["cells"]) == columns * rows


def test_very_many_places_and_notes_are_summed_up(make_study):
    lines = [f"{x},1,1,note {x},page {x}" for x in range(60)]
    study = make_study("", table("rate,depth,value,note,place", *lines))
    grid = analyse(study).grid()
    origins = provenance(grid)
    assert sum(origin.cells for origin in origins) == 60
    assert (len(origins), origins[-1].cells, origins[-1].place) == (21, 40, None)
    figure = Figure(draw_values(grid), grid)
    values = data_table(figure)
    assert (len(values.notes), values.more_notes) == (20, 40)
    template = own_environments()[1].get_template("figure.html.jinja")
    html = template.render(figure=replace(figure, table=values))
    assert "<p>40 more notes are in the downloads.</p>" in html
    assert "; other places and runs, which the downloads name: 40 cells</li>" in html


def test_a_sentence_does_not_list_a_thousand_levels(make_study):
    grid = _grid(make_study, 21, 3, _plain)
    levels_text = GLOBALS["levels_text"]
    assert levels_text(grid.study.y) == "0, 1, 2"
    assert levels_text(grid.study.x) == "0 to 20, 21 levels"


# --- what is not computed says so ---------------------------------------------------------------


def _counts(make_study, columns, rows):
    head = (
        'format: 1\ntitle: T\nmetric: {name: Pass@1, better: higher, unit: "%", range: [0, 100]}\n'
        "x: rate\ny: depth\nfacets: [task, model]\nroles: {model: choice}\ntrials: {items: task}\n"
        "factors: {task: {levels: [{id: p, items: 4}, {id: q, items: 4}]}}\n"
    )
    lines = [
        f"{task},{model},{x},{y},{25 * ((x + y) % 5)}"
        for task in "pq"
        for model in "ab"
        for y in range(rows)
        for x in range(columns)
    ]
    return analyse(make_study(head, table("task,model,rate,depth,value", *lines)))


def test_statistics_have_limits_that_are_told(make_study, monkeypatch):
    results = _counts(make_study, 6, 5)
    monkeypatch.setattr("gridatlas.assessment.compute.COMPARED_UP_TO", 29)
    uncertainty = assess(results)
    assert {grid.cells for grid in uncertainty.grids.values()} == {30}
    assert {difference.reason for difference in uncertainty.differences.values()} == {
        "levels are not tested against one another above 29 cells in a grid"
    }
    monkeypatch.setattr("gridatlas.table.items.CELLS_UP_TO", 29)
    uncertainty = assess(results)
    assert {(grid.cells, grid.reason) for grid in uncertainty.grids.values()} == {
        (0, "intervals and tests are not computed above 29 cells in a grid")
    }
