"""Each number that the published figures print stands on the right pages, in its row and column."""

import re
from decimal import Decimal

import pytest
from bs4 import Tag
from site_builds import (
    DISPUTED,
    DOCUMENTS,
    DYNTS,
    GRPO,
    X_LEVELS,
    Build,
    data_table,
    drawn_cells,
    figure_name,
    figure_of,
    figures,
    text_of,
)

MODELS = {"r1-llama": "R1-Llama", "r1-qwen": "R1-Qwen"}
BENCHMARKS = {
    "aime24": "AIME24",
    "aime25": "AIME25",
    "amc23": "AMC23",
    "gpqa_d": "GPQA_D",
    "average": "Average",
}
SETTINGS = {
    "before": "Before GRPO",
    "after_t125": "After GRPO, temperature 1.25",
    "after_t100": "After GRPO, temperature 1.0",
}
PLACES = {
    f"studies/{DYNTS}/model/": [f"{one}/{other}" for other in BENCHMARKS for one in MODELS],
    **{
        f"studies/{DYNTS}/model/{one}/": [f"{one}/{other}" for other in BENCHMARKS]
        for one in MODELS
    },
    f"studies/{DYNTS}/benchmark/": [f"{one}/{other}" for other in BENCHMARKS for one in MODELS],
    **{f"studies/{DYNTS}/benchmark/{one}/": [f"{m}/{one}" for m in MODELS] for one in BENCHMARKS},
    f"studies/{GRPO}/setting/": list(SETTINGS),
    f"studies/{GRPO}/setting/before/": ["before"],
    f"studies/{GRPO}/setting/after_t125/": ["before", "after_t125"],
    f"studies/{GRPO}/setting/after_t100/": ["before", "after_t100"],
}
"""The grids that each page shows with all their values."""
LEADS = {
    "studies/": ["r1-llama/average", "r1-qwen/average", *SETTINGS],
    f"studies/{DYNTS}/": ["r1-llama/average", "r1-qwen/average"],
    f"studies/{GRPO}/": list(SETTINGS),
}
"""The grids that stand for a study, as heatmaps only."""


def study_of(grid: str) -> str:
    return DYNTS if "/" in grid else GRPO


def name_of(grid: str) -> str:
    model, _, benchmark = grid.partition("/")
    return f"{MODELS[model]} | {BENCHMARKS[benchmark]}" if benchmark else SETTINGS[model]


def printed(grid: str) -> dict[str, list[str]]:
    """A grid's texts as the pages have to show them, by level of y from the top."""
    rows = dict(DOCUMENTS[study_of(grid)][grid])
    if (study_of(grid), grid) == DISPUTED[:2]:
        rows[DISPUTED[2]] = ["disputed"] * 10
    return rows


def cells_of(grid: str) -> dict[str, str]:
    """A grid's texts by `<x>,<y>`."""
    levels = X_LEVELS[study_of(grid)]
    return {
        f"{x},{y}": text
        for y, row in printed(grid).items()
        for x, text in zip(levels, row, strict=True)
    }


def test_the_documents_hold_the_grids_that_are_looked_for() -> None:
    assert {study: len(grids) for study, grids in DOCUMENTS.items()} == {DYNTS: 8 + 2, GRPO: 3}
    assert sum(len(cells_of(grid)) for grids in DOCUMENTS.values() for grid in grids) == 500
    assert {grid for grids in DOCUMENTS.values() for grid in grids} == set(
        PLACES[f"studies/{DYNTS}/model/"] + PLACES[f"studies/{GRPO}/setting/"]
    )


@pytest.mark.parametrize("path", PLACES)
def test_a_page_has_the_data_tables_of_its_grids_and_no_others(atlas: Build, path: str) -> None:
    page = atlas.page(path)
    shown = [str(figure["id"]) for figure in figures(page) if figure.get("id")]
    assert sorted(shown) == sorted(PLACES[path])
    for grid in PLACES[path]:
        columns, rows = data_table(figure_of(page, grid))
        assert columns == X_LEVELS[study_of(grid)]
        assert list(rows.items()) == list(printed(grid).items()), grid


@pytest.mark.parametrize("path", [*PLACES, *LEADS])
def test_each_drawn_cell_says_its_value_and_carries_its_own_address(
    atlas: Build, path: str
) -> None:
    page = atlas.page(path)
    for grid in (PLACES | LEADS)[path]:
        figure = figure_of(page, grid)
        assert figure_name(figure) == name_of(grid)
        said = {str(cell["id"]): str(cell["aria-label"]) for cell in drawn_cells(figure)}
        assert said == {f"{grid}/{key}": _said(grid, key) for key in cells_of(grid)}


def _said(grid: str, key: str) -> str:
    x, y = key.split(",")
    cells = cells_of(grid)
    text = cells[key]
    value = "no value (disputed)" if text == "disputed" else text
    # The best of a grid are worth hearing.
    best = max(Decimal(one) for one in cells.values() if one != "disputed")
    end = ", best" if text != "disputed" and Decimal(text) == best else ""
    if study_of(grid) == DYNTS:
        return f"Ratio {x}, Local window size {y}: {value} %{end}"
    return f"Number of x's digits {x}, Number of y's digits {y}: {value}{end}"


@pytest.mark.parametrize("path", [*PLACES, *LEADS])
def test_the_value_printed_on_a_cell_is_the_cell_s(atlas: Build, path: str) -> None:
    """The order of the texts is that of the cells they lie on; see tests/browser for where."""
    page = atlas.page(path)
    for grid in (PLACES | LEADS)[path]:
        texts = [
            text.get_text() for text in figure_of(page, grid).select("g.mark-text.role-mark text")
        ]
        assert texts == [text for text in cells_of(grid).values() if text != "disputed"]


@pytest.mark.parametrize(
    "path", [f"studies/{GRPO}/setting/", f"studies/{GRPO}/setting/after_t125/"]
)
def test_the_disputed_row_has_no_numbers_and_says_why(atlas: Build, path: str) -> None:
    figure = figure_of(atlas.page(path), DISPUTED[1])
    _, rows = data_table(figure)
    assert rows[DISPUTED[2]] == ["disputed"] * 10
    hatched = [
        str(cell["id"]) for cell in drawn_cells(figure) if "value" in str(cell["aria-label"])
    ]
    assert hatched == [f"after_t125/{x},7" for x in X_LEVELS[GRPO]]
    assert "no value: disputed" in [text_of(text) for text in figure.select("svg text")]
    eleven = ", ".join(DOCUMENTS[GRPO]["after_t125"]["7"])
    assert f'11 values for the 10 columns of this row: "{eleven}"' in text_of(figure)


def _differences(page_figures: list[Tag]) -> dict[str, Tag]:
    return {figure_name(figure): figure for figure in page_figures if not figure.get("id")}


def _subtracted(second: str, first: str) -> dict[str, list[str]]:
    a, b = printed(first), printed(second)
    return {y: [_difference(*pair) for pair in zip(a[y], b[y], strict=True)] for y in a}


def _difference(first: str, second: str) -> str:
    if "disputed" in (first, second):
        return "–"
    value = Decimal(second) - Decimal(first)
    return f"+{value}" if value > 0 else f"{value}".replace("-", "−")


BETWEEN_MODELS = {
    f"R1-Qwen − R1-Llama | {label}": (f"r1-qwen/{one}", f"r1-llama/{one}")
    for one, label in BENCHMARKS.items()
}
TO_BEFORE = {
    f"{SETTINGS[one]} − Before GRPO": (one, "before") for one in ("after_t125", "after_t100")
}
DIFFERENCES = {
    **{path: {} for path in PLACES},
    f"studies/{DYNTS}/model/": BETWEEN_MODELS,
    **{
        f"studies/{DYNTS}/benchmark/{one}/": {name: pair}
        for one, (name, pair) in zip(BENCHMARKS, BETWEEN_MODELS.items(), strict=True)
    },
    f"studies/{GRPO}/setting/": TO_BEFORE,
    **{
        f"studies/{GRPO}/setting/{pair[0]}/": {name: pair} for name, pair in TO_BEFORE.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("path", DIFFERENCES)
def test_differences_are_the_second_minus_the_first(atlas: Build, path: str) -> None:
    found = _differences(figures(atlas.page(path)))
    assert sorted(found) == sorted(DIFFERENCES[path])
    for name, (second, first) in DIFFERENCES[path].items():
        expected = _subtracted(second, first)
        columns, rows = data_table(found[name])
        assert columns == X_LEVELS[study_of(first)]
        assert list(rows.items()) == list(expected.items())
        texts = [text.get_text() for text in found[name].select("g.mark-text.role-mark text")]
        assert texts == [text for row in expected.values() for text in row if text != "–"]


def test_every_number_of_the_summary_table_is_that_of_its_grid(atlas: Build) -> None:
    for path in PLACES:
        page = atlas.page(path)
        tables = [one for one in page.select("article table") if not one.find_parent("figure")]
        assert len(tables) == 1
        for row in tables[0].select("tbody tr"):
            name, best, _, worst, _, mean, spread, *_ = (text_of(cell) for cell in row.select("td"))
            grid = next(
                one for grids in DOCUMENTS.values() for one in grids if name_of(one) == name
            )
            values = [Decimal(text) for text in cells_of(grid).values() if text != "disputed"]
            assert _number(best) == max(values), (path, name)
            assert _number(worst) == min(values), (path, name)
            assert _number(spread) == max(values) - min(values), (path, name)
            exact = sum(values) / len(values)
            assert abs(_number(mean) - exact) <= Decimal("0.5").scaleb(_exponent(mean)), (
                path,
                name,
            )


def _number(text: str) -> Decimal:
    return Decimal(re.sub(r" (%|points)$", "", text))


def _exponent(text: str) -> int:
    return int(_number(text).as_tuple().exponent)
