"""Each number in *Can I trust this?* is the number of the cells that it speaks of."""

import pytest
from builders import real_data, table, write_study

from gridatlas.assessment.pipeline import load_data
from gridatlas.pages.trust import trust_of

HEAD = (
    "format: 1\ntitle: A demo\n"
    "metric: {name: Accuracy, better: higher, unit: '%', range: [0, 100]}\n"
    "x: rate\ny: depth\nfacets: [bench]\n"
)
ITEMS = (
    HEAD + "factors: {bench: {levels: [{id: a, items: 30}, {id: b, items: 1000}, "
    "{id: mean, aggregate: {by: mean}}]}}\ntrials: {items: bench}\n"
)
TWO = (
    "readings: [{id: first, file: cells.csv}, {id: second, file: second.csv}]\nreconcile: primary\n"
)


def cells(*rows):
    return table("bench,rate,depth,value", *rows)


OF_ITEMS = [
    *("a,1,1,50.0", "a,2,1,53.3", "a,1,2,51.1", "a,2,2,40.0"),
    *("b,1,1,50.1", "b,2,1,53.3", "b,1,2,51.1", "b,2,2,40.0"),
]
STUDIES = {
    "trials of each cell": (
        HEAD,
        table(
            "bench,rate,depth,value,n",
            *("a,1,1,50.0,30", "a,2,1,55.0,20", "a,1,2,25.0,40", "a,2,2,40.1,"),
        ),
        {},
        3,
    ),
    "one number of trials says nothing": (
        HEAD,
        table(
            "bench,rate,depth,value,n",
            *("a,1,1,50.0,30", "a,2,1,55.0,5000", "a,1,2,25.0,40", "a,2,2,40.1,5000"),
        ),
        {},
        2,
    ),
    "items by benchmark": (ITEMS, cells(*OF_ITEMS, "mean,1,1,50.1"), {}, 4),
    "a second reading": (ITEMS + TWO, cells(*OF_ITEMS), {"second.csv": cells(*OF_ITEMS)}, 4),
    "a second reading with a value more": (
        ITEMS + TWO,
        cells(*OF_ITEMS[1:]),
        {"second.csv": cells(*OF_ITEMS)},
        4,
    ),
    "means of repeats beside single values": (
        HEAD + "repeats: mean\n",
        table("bench,rate,depth,value,n", "a,1,1,50.0,30", "a,1,1,53.3,30", "a,2,1,53.3,30"),
        {},
        1,
    ),
    "no trials": (HEAD, cells("a,1,1,50.0", "a,2,1,53.3", "a,3,1,51.1"), {}, 0),
}


def pages(assessment):
    """The grids of the page of the study, of each facet's levels, and of each grid."""
    grids = [*assessment.results.grids.values()]
    yield grids
    for index, facet in enumerate(assessment.study.facets):
        for key in facet.keys:
            yield [grid for grid in grids if grid.levels[index] == key]
    yield from ([grid] for grid in grids)


def assert_counts(grids, trust):
    values = [
        (grid, cell) for grid in grids for _, _, cell in grid.points() if cell.value is not None
    ]
    printed = [(grid, cell) for grid, cell in values if cell.reading]
    assert trust.values == len(values)
    assert trust.computed == len(values) - len(printed)
    assert sum(source.cells for source in trust.sources) == len(printed)
    counts, averages = trust.arithmetic.counts, trust.arithmetic.aggregates
    assert counts.passed <= counts.of <= sum(not grid.aggregate for grid, _ in printed)
    assert averages.passed <= averages.of <= sum(grid.aggregate for grid, _ in printed)
    size = sum(len(grid.study.x.levels) * len(grid.study.y.levels) for grid in grids)
    by_level = [passed for _, passed in trust.second.by_level]
    for passed in (counts, averages, trust.second.cells):
        assert passed.passed + passed.failed + passed.not_applicable == size
    for which in ("passed", "failed"):
        whole = getattr(trust.second.cells, which)
        assert sum(getattr(passed, which) for passed in by_level) in (whole, 0)
    if trust.again is not None:
        assert trust.again.measured <= trust.again.of <= len(printed)
        assert sum(trust.again.verdicts.values()) == trust.again.of


@pytest.mark.parametrize(
    "study", ["digits-pass-1", "digits-pass-8", "dynts-window-ratio", "grpo-digits"]
)
def test_no_count_exceeds_the_cells_of_its_page(study):
    assessment = real_data()[study]
    for grids in pages(assessment):
        assert_counts(grids, trust_of(assessment, grids))


def test_a_grid_that_is_given_twice_counts_once():
    assessment = real_data()["dynts-window-ratio"]
    grids = [*assessment.results.grids.values()]
    assert trust_of(assessment, grids + grids) == trust_of(assessment, grids)


def test_second_readings_are_compared_level_by_level():
    assessment = real_data()["dynts-window-ratio"]
    second = trust_of(assessment, [*assessment.results.grids.values()]).second
    assert len(second.by_level) >= 2 or second.cells.failed == 0
    labels = [label for label, _ in second.by_level]
    assert labels == [label for label in ("R1-Llama", "R1-Qwen") if label in labels]


def test_what_one_reading_gives_is_unconfirmed_and_not_disputed(tmp_path):
    """Of four cells two readings agree on one, differ on one, and each is alone on one."""
    two = TWO.replace("primary", "agreement")
    first = cells("a,1,1,50.0", "a,2,1,53.3", "a,1,2,50.0")
    second = cells("a,1,1,50.0", "a,2,1,56.7", "a,2,2,40.0")
    for more, against in (("", ()), (", approximate: true", ("is only approximate",))):
        head = HEAD + two.replace("file: second.csv", f"file: second.csv{more}")
        folder = tmp_path / f"data{len(more)}"
        write_study(folder / "demo", head, first, {"second.csv": second})
        assessment = load_data(folder)["demo"]
        found = trust_of(assessment, [*assessment.results.grids.values()]).second
        assert (found.against, found.unconfirmed) == (against, 2)
        assert (found.cells.passed, found.cells.failed, found.cells.not_applicable) == (1, 1, 2)


def test_each_value_of_a_study_with_several_numbers_of_trials_counts_once():
    assessment = real_data()["digits-pass-1"]
    counts = trust_of(assessment, [*assessment.results.grids.values()]).arithmetic.counts
    assert (counts.passed, counts.of) == (972, 972)


@pytest.mark.parametrize("name", STUDIES)
def test_possible_counts_are_those_of_the_values_that_could_be_judged(name, tmp_path):
    study, csv, files, judged = STUDIES[name]
    write_study(tmp_path / "data/demo", study, csv, files)
    assessment = load_data(tmp_path / "data")["demo"]
    grids = [*assessment.results.grids.values()]
    for page in pages(assessment):
        assert_counts(page, trust_of(assessment, page))
    assert trust_of(assessment, grids).arithmetic.counts.of == judged
