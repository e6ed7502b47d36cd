"""Each number that the published figures print stands on the right pages, in its row and column."""

import re
from decimal import Decimal
from urllib.parse import urljoin

import pytest
import site_builds
from bs4 import BeautifulSoup, Tag
from expected import (
    BENCHMARKS,
    MODELS,
    OURS,
    OURS_PASS_8,
    SEEDS,
    SETTINGS,
    TRAINED,
    Shown,
    differences,
    extreme,
    name_of,
    printed,
    rows,
    shown,
    study_of,
)
from site_builds import (
    DISPUTED,
    DOCUMENTS,
    DYNTS,
    GRPO,
    X_LEVELS,
    Build,
    about,
    article,
    data_table,
    drawn_cells,
    figure_name,
    figure_of,
    figures,
    grid_of,
    text_of,
)

from gridatlas import load
from gridatlas.charts.palette import PALETTES, colours

PLACES = {
    **{
        f"studies/{DYNTS}/model/{model}/": [f"{model}/{other}" for other in BENCHMARKS]
        for model in MODELS
    },
    **{
        f"studies/{DYNTS}/benchmark/{benchmark}/": [f"{m}/{benchmark}" for m in MODELS]
        for benchmark in BENCHMARKS
    },
    f"studies/{GRPO}/setting/": list(SETTINGS),
    f"studies/{GRPO}/setting/before/": ["before"],
    f"studies/{GRPO}/setting/after_t125/": ["after_t125"],
    f"studies/{GRPO}/setting/after_t100/": ["after_t100"],
}
"""The grids that each page shows with all their values."""
LEADS = {
    f"studies/{DYNTS}/": [f"{model}/average" for model in MODELS],
    f"studies/{GRPO}/": list(SETTINGS),
}
"""The grids that stand for a study's levels, beside each other."""


def test_the_documents_hold_the_grids_that_are_looked_for() -> None:
    assert {study: len(grids) for study, grids in DOCUMENTS.items()} == {DYNTS: 8 + 2, GRPO: 3}
    every = [grid for grids in DOCUMENTS.values() for grid in grids]
    assert sum(len(printed(grid)) for grid in every) == 500
    assert set(every) == {grid for grids in PLACES.values() for grid in grids}


_CELL = re.compile(
    r"(?P<text>[\d.]+)(?: \((?P<low>[\d.]+) to (?P<high>[\d.]+)\))?(?P<end> \(disputed\))?"
)


def read_cell(text: str, grid: str) -> Shown:
    """A cell of a data table; where trials are known, its interval lies around the value."""
    found = _CELL.fullmatch(text)
    assert found, text
    assert (found["low"] is None) == (study_of(grid) == GRPO), text
    if found["low"]:
        assert float(found["low"]) < float(found["text"]) < float(found["high"])
    return Shown(found["text"], disputed=found["end"] is not None)


def readings_table(figure: Tag) -> dict[tuple[str, str], list[str]]:
    """What each reading says of the cells that several give, the document's first."""
    found = {}
    for row in about(figure, '[aria-label^="Readings of "] tbody tr'):
        where, *texts, agree = [text_of(cell) for cell in row.find_all(["th", "td"])]
        x, y = where.split(" × ")
        found[x, y] = texts
        values = [text for text in texts if text not in ("", "disputed")]
        alike = "yes" if len(set(values)) == 1 else "no"
        assert agree == (alike if len(values) > 1 else "–"), (where, texts)
    return found


def _label(x: str, y: str, cell: Shown, grid: str, best: bool) -> str:
    end = " (disputed)" if cell.disputed else ""
    if study_of(grid) == DYNTS:
        return f"Ratio {x}, Local window size {y}: {cell.text} %{end}{', best' * best}"
    # Nobody chooses numbers of digits.
    head = f"Number of x's digits {x}, Number of y's digits {y}: {cell.text}{end}"
    return f"{head}{', highest' * best}"


def _texts(figure: Tag) -> list[str]:
    """The numbers on the cells, row by row as they lie there."""
    texts = figure.select("g.values_marks text, g.bold_marks text")

    def place(text: Tag) -> tuple[float, float]:
        return float(str(text["y"])), float(str(text["x"]))

    return [text.get_text() for text in sorted(texts, key=place)]


@pytest.mark.parametrize("path", PLACES)
def test_a_page_shows_its_grids_and_no_others(atlas: Build, path: str) -> None:
    """In a table and in a drawing, whose cells have addresses of their own."""
    page = atlas.page(path)
    grids = [grid for figure in figures(page) if (grid := grid_of(figure))]
    assert sorted(grids) == sorted(PLACES[path])
    for grid in grids:
        figure, cells = figure_of(page, grid), shown(grid)
        assert figure_name(figure) == name_of(grid)
        columns, table = data_table(figure)
        assert columns == X_LEVELS[study_of(grid)]
        found = {y: [read_cell(text, grid) for text in row] for y, row in table.items()}
        assert list(found.items()) == list(rows(grid).items()), grid
        values = [Decimal(cell.text) for cell in cells.values()]
        # More than three that tie are said in a sentence.
        best = max(values) if values.count(max(values)) <= 3 else None
        assert {str(cell["id"]): str(cell["aria-label"]) for cell in drawn_cells(figure)} == {
            f"{grid}/{x},{y}": _label(x, y, cell, grid, Decimal(cell.text) == best)
            for (x, y), cell in cells.items()
        }
        # Each text lies on its cell; those of the best values are of another mark.
        assert _texts(figure) == [cell.text for cell in cells.values()]
        # Where another value is shown, the table of what each reading says has the document's.
        given = readings_table(figure)
        for point, text in printed(grid).items():
            if point in given or cells[point].text != text:
                assert given[point][0] == (text or "disputed"), (grid, point)
        # Marks of one form are one path, with a part for each.
        corners = sum(str(path["d"]).count("M") for path in figure.select("g.corner_marks path"))
        assert corners == sum(
            cell.disputed and len(set(given.get(point, ())) - {"", "disputed"}) > 1
            for point, cell in cells.items()
        )


@pytest.mark.parametrize("path", LEADS)
def test_a_column_has_the_values_of_its_grid_and_leads_to_them(atlas: Build, path: str) -> None:
    page = atlas.page(path)
    shown_grids = [grid for figure in figures(page) if (grid := grid_of(figure))]
    assert sorted(shown_grids) == sorted(LEADS[path])
    for grid in LEADS[path]:
        figure = figure_of(page, grid)
        assert figure_name(figure) == name_of(grid)
        # Read out as one picture; each cell keeps its address.
        assert figure.select_one("svg")["role"] == "img"
        assert drawn_cells(figure) == []
        assert _texts(figure) == [cell.text for cell in shown(grid).values()]
        cells = {str(cell["id"]): str(cell["fill"]) for cell in figure.select("svg path[id]")}
        values = {f"{grid}/{x},{y}": Decimal(cell.text) for (x, y), cell in shown(grid).items()}
        assert cells.keys() == values.keys()
        palettes = [colours(palette) for palette in PALETTES]
        for fills in palettes:
            of_one = [key for key in sorted(values, key=values.__getitem__) if cells[key] in fills]
            steps = [fills.index(cells[key]) for key in of_one]
            assert steps == sorted(steps), grid
        assert set(cells.values()) <= {fill for fills in palettes for fill in fills}
        [link] = figure.select("figcaption a")
        target, _, anchor = urljoin(f"/{path}", str(link["href"])).partition("#")
        assert anchor == f"grid/{grid}"
        assert grid in PLACES[target.lstrip("/")]


def test_thumbnails_of_the_overview_have_the_colours_of_their_values(atlas: Build) -> None:
    studies = load(site_builds.ROOT / "data")
    fills = [colours(palette) for palette in PALETTES]
    compared = 0
    for figure in figures(atlas.page("studies/")):
        grid = grid_of(figure)
        if not grid:
            continue
        assert figure.select_one("svg")["role"] == "img"
        assert _texts(figure) == []
        target, _, anchor = str(figure.select("figcaption a")[0]["href"]).partition("#")
        assert anchor == f"grid/{grid}"
        assert article(atlas.page(f"studies/{target}")).find(id=anchor)
        results = studies[target.split("/")[0]].assessment.results
        shown_grid = next(of for of in results.grids.values() if of.address == grid)
        of_cells = zip(shown_grid.keys, shown_grid.columns, strict=True)
        values = {f"{grid}/{x},{y}": cell.value for (x, y), cell in of_cells}
        cells = {str(cell["id"]): str(cell["fill"]) for cell in figure.select("svg path[id]")}
        assert cells.keys() == values.keys()
        [own] = [each for each in fills if {*cells.values()} <= {*each}]
        steps = [own.index(cells[key]) for key in sorted(cells, key=values.__getitem__)]
        assert steps == sorted(steps), grid
        compared += 1
    assert compared >= 4


@pytest.mark.parametrize("study", [OURS, OURS_PASS_8])
def test_a_level_of_a_study_is_shown_by_the_grid_that_sums_it_up(atlas: Build, study: str) -> None:
    page = atlas.page(f"studies/{study}/")
    settings, temperatures, _ = TRAINED[study]
    temperature = next(iter(temperatures))
    found = {}
    for row in page.select("article.ga-level"):
        level = str(row.h2["id"]).removeprefix("level-")
        [figure] = row.select("figure.ga-figure")
        found[level] = figure_name(figure)
        if level == "compared":
            assert grid_of(figure) == ""
            continue
        grid = f"{level}/{temperature}/mean"
        assert grid_of(figure) == grid
        target = urljoin(f"/studies/{study}/", str(figure.select("figcaption a")[0]["href"]))
        assert target == f"/studies/{study}/setting/{level}/#grid/{grid}"
        assert article(atlas.page(target.split("#")[0].lstrip("/"))).find(id=f"grid/{grid}")
    where = f"{temperatures[temperature]} | {SEEDS['mean']}"
    # The pair that the headline names first.
    assert found.pop("compared") == f"{settings['supervised']} − {settings['before']} | {where}"
    assert found == {level: f"{label} | {where}" for level, label in settings.items()}


@pytest.mark.parametrize(
    "path", [f"studies/{GRPO}/setting/", f"studies/{GRPO}/setting/after_t125/"]
)
def test_the_row_with_eleven_values_is_disputed_and_none_of_them_is_placed(
    atlas: Build, path: str
) -> None:
    figure = figure_of(atlas.page(path), DISPUTED[1])
    _, found = data_table(figure)
    row = [read_cell(text, DISPUTED[1]) for text in found[DISPUTED[2]]]
    assert [cell.disputed for cell in row] == [True] * 10
    table = readings_table(figure)
    for x, cell in zip(X_LEVELS[GRPO], row, strict=True):
        assert table[x, DISPUTED[2]][:2] == ["disputed", cell.text]
    around = figure.find_parent(class_="ga-multiples")
    assert isinstance(around, Tag)
    assert "readings differ" in text_of(around.select_one(".ga-legend"))


def test_why_a_reading_gives_no_value_is_said_where_it_is_shown(atlas: Build) -> None:
    page = article(atlas.page(f"studies/{GRPO}/setting/after_t125/"))
    notes = [str(cell["title"]) for cell in page.select("td[title]")]
    eleven = ", ".join(DOCUMENTS[GRPO]["after_t125"]["7"])
    assert f'11 values for the 10 columns of this row: "{eleven}"' in " ".join(
        [text_of(page), *notes]
    )


BETWEEN_MODELS = {
    f"R1-Qwen − R1-Llama | {label}": (f"r1-qwen/{level}", f"r1-llama/{level}")
    for level, label in BENCHMARKS.items()
}
TO_BEFORE = {
    f"{SETTINGS[level]} − Before GRPO": (level, "before") for level in ("after_t125", "after_t100")
}
DIFFERENCES = {
    **{path: {} for path in PLACES},
    f"studies/{DYNTS}/model/": BETWEEN_MODELS,
    **{
        f"studies/{DYNTS}/benchmark/{benchmark}/": {name: pair}
        for benchmark, (name, pair) in zip(BENCHMARKS, BETWEEN_MODELS.items(), strict=True)
    },
    f"studies/{GRPO}/setting/": TO_BEFORE
    | {f"{SETTINGS['after_t100']} − {SETTINGS['after_t125']}": ("after_t100", "after_t125")},
    **{
        f"studies/{GRPO}/setting/{pair[0]}/": {name: pair} for name, pair in TO_BEFORE.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("path", DIFFERENCES)
def test_differences_are_the_second_minus_the_first(atlas: Build, path: str) -> None:
    others = [
        figure
        for figure in figures(atlas.page(path))
        if not grid_of(figure) and not figure.find_parent(class_="ga-level")
    ]
    found = {figure_name(figure): figure for figure in others}
    assert len(found) == len(others)
    assert sorted(found) == sorted(DIFFERENCES[path])
    for name, (second, first) in DIFFERENCES[path].items():
        columns, texts = data_table(found[name])
        assert columns == X_LEVELS[study_of(first)]
        assert list(texts.items()) == list(differences(second, first).items())
        # The numbers stay, whether they are beyond chance or not; nothing has no decimals.
        numbers = [text for row in texts.values() for text in row]
        assert _texts(found[name]) == ["0" if text == "0.0" else text for text in numbers]


def test_every_number_of_the_summary_table_is_that_of_its_grid(atlas: Build) -> None:
    for path in PLACES:
        page = atlas.page(path)
        tables = [
            table
            for table in page.select("article table")
            if "Spread" in text_of(table.select_one("tr"))
        ]
        assert len(tables) == 1
        for row in tables[0].select("tbody tr"):
            name, best, _, worst, _, mean, spread, *_ = (
                text_of(cell) for cell in row.select("th, td")
            )
            grid = next(
                grid for grids in DOCUMENTS.values() for grid in grids if name_of(grid) == name
            )
            values = [Decimal(cell.text) for cell in shown(grid).values()]
            assert best == extreme(grid, max), (path, name)
            assert worst == extreme(grid, min), (path, name)
            assert _number(spread) == max(values) - min(values), (path, name)
            exact = sum(values) / len(values)
            assert abs(_number(mean) - exact) <= Decimal("0.5").scaleb(_exponent(mean)), (
                path,
                name,
            )


# --- the page of checks -------------------------------------------------------------------------


def test_the_page_of_checks_draws_where_readings_differ(atlas: Build) -> None:
    drawn = 0
    for study in DOCUMENTS:
        page = atlas.page(f"studies/{study}/checks/")
        for figure in figures(page):
            grid = grid_of(figure)
            assert figure_name(figure) == name_of(grid)
            table = readings_table(figure_of(_level_page(atlas, grid), grid))
            apart = {
                f"{grid}/{x},{y}": max(values) - min(values)
                for (x, y), texts in table.items()
                if len(values := [Decimal(text) for text in texts if text not in ("", "disputed")])
                > 1
            }
            found = {
                str(cell["id"]): _number(str(cell["aria-label"]).rpartition(": ")[2])
                for cell in drawn_cells(figure)
                if str(cell["aria-label"]).endswith(" apart")
            }
            assert found == apart, grid
            assert len(drawn_cells(figure)) == len(printed(grid))
            drawn += 1
    assert drawn >= 4 + 3


def _level_page(atlas: Build, grid: str) -> BeautifulSoup:
    facet = "benchmark" if "/" in grid else "setting"
    return atlas.page(f"studies/{study_of(grid)}/{facet}/{grid.rpartition('/')[2]}/")


def _number(text: str) -> Decimal:
    return Decimal(re.sub(r"( %| points)?( apart)?$", "", text))


def _exponent(text: str) -> int:
    return int(_number(text).as_tuple().exponent)
