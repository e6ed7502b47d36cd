"""Each grid's downloads are there, can be read, and hold what its heatmap shows."""

import csv
import io
import json
import re
from decimal import Decimal
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest
from expected import GRIDS, MEASURED, is_former, shown, trials
from PIL import Image
from site_builds import DYNTS, GRPO, Build, about, figure_of, figures, grid_of

ENDINGS = ("csv", "json", "png", "svg", "vl.json")
"""Of the files that a figure's downloads name."""
MORE = ("best.svg", "html", "reproduced.svg")
SVG = "{http://www.w3.org/2000/svg}"
CELL = re.compile(
    r".* (\S+), .* (\S+): ([\d.]+)(?: %)?( \(disputed\))?(?:, (?:best|highest|may be the best))?"
)
"""The name of a drawn cell: its places, its value, whether that is disputed."""
AXES = {DYNTS: ("ratio", "local_window"), GRPO: ("x_digits", "y_digits")}
COLUMN = {DYNTS: "pass_at_1", GRPO: "value"}
FACETS = {DYNTS: ("model", "benchmark"), GRPO: ("setting",)}

every_grid = pytest.mark.parametrize(("study", "grid"), GRIDS, ids=[grid for _, grid in GRIDS])


def read(build: Build, study: str, grid: str, ending: str) -> bytes:
    return (build.site / f"grids/{study}/{grid}.{ending}").read_bytes()


def test_there_are_downloads_of_each_grid_and_nothing_else(atlas: Build) -> None:
    found = {path for path in atlas.files() if path.startswith("grids/") and not is_former(path)}
    ends = (*ENDINGS, *MORE)
    assert found == {
        f"grids/{study}/{grid}.{end}" for study, grid in (*GRIDS, *MEASURED) for end in ends
    } | {f"grids/{study}/answers.json" for study, _ in (*GRIDS, *MEASURED)}


@pytest.mark.parametrize(
    "path",
    [
        f"studies/{DYNTS}/model/r1-qwen/",
        f"studies/{DYNTS}/benchmark/average/",
        f"studies/{GRPO}/setting/",
        f"studies/{GRPO}/setting/before/",
    ],
)
def test_a_figure_links_its_own_downloads(atlas: Build, path: str) -> None:
    page = atlas.page(path)
    grids = [grid for figure in figures(page) if (grid := grid_of(figure))]
    assert grids
    for grid in grids:
        study = DYNTS if "/" in grid else GRPO
        links = about(figure_of(page, grid), ".ga-downloads a")
        found = sorted(urljoin(f"/{path}", str(link["href"])) for link in links)
        assert found == [f"/grids/{study}/{grid}.{ending}" for ending in ENDINGS]
        assert all(link.has_attr("download") for link in links)


def expected(grid: str) -> dict[tuple[str, str], tuple[str, str]]:
    """The value and the state of each cell."""
    cells = shown(grid).items()
    return {at: (cell.text, "disputed" if cell.disputed else "ok") for at, cell in cells}


@every_grid
def test_tables_hold_what_the_document_prints(atlas: Build, study: str, grid: str) -> None:
    x, y = AXES[study]
    facets = dict(zip(FACETS[study], grid.split("/"), strict=True))
    rows = list(csv.DictReader(io.StringIO(read(atlas, study, grid, "csv").decode("utf-8"))))
    assert len(rows) == len(expected(grid))
    assert {(row[x], row[y]): (row[COLUMN[study]], row["state"]) for row in rows} == expected(grid)
    for row in rows:
        assert {facet: row[facet] for facet in facets} == facets
        assert row["n"] == ("" if trials(grid) is None else str(trials(grid)))
        assert row["reading"]
        assert row["place"]
    content = json.loads(read(atlas, study, grid, "json"), parse_float=str)
    assert (content["study"], content["grid"]) == (study, grid)
    assert [*content["facets"].items()] == [*facets.items()]
    found = {
        (str(cell[x]), str(cell[y])): (Decimal(cell["value"]), cell["state"])
        for cell in content["cells"]
    }
    assert found == {at: (Decimal(text), state) for at, (text, state) in expected(grid).items()}
    assert {cell.get("n") for cell in content["cells"]} == {trials(grid)}


@every_grid
def test_pictures_show_what_the_document_prints(atlas: Build, study: str, grid: str) -> None:
    tree = ElementTree.fromstring(read(atlas, study, grid, "svg").decode("utf-8"))
    assert tree.tag == f"{SVG}svg"
    cells = [path for path in tree.iter(f"{SVG}path") if path.get("role") == "graphics-symbol"]
    labels = [CELL.fullmatch(cell.attrib["aria-label"]) for cell in cells]
    assert {(label[1], label[2]): (label[3], label[4] or "") for label in labels if label} == {
        at: (text, " (disputed)" if state == "disputed" else "")
        for at, (text, state) in expected(grid).items()
    }
    assert len(labels) == len(expected(grid))
    picture = Image.open(io.BytesIO(read(atlas, study, grid, "png")))
    assert picture.size == (2 * int(tree.attrib["width"]), 2 * int(tree.attrib["height"]))
    assert len(picture.getcolors(1 << 24) or []) > 50, "an empty picture"
    written = read(atlas, study, grid, "vl.json").decode("utf-8")
    spec = json.loads(written, parse_float=str, parse_int=str)
    assert "vega-lite" in spec["$schema"]
    assert '"url"' not in written  # Its data are inline.
    found = {(row["x"], row["y"]): row for row in spec["data"]["values"]}
    assert {at: (row["text"], Decimal(row["value"])) for at, row in found.items()} == {
        at: (text, Decimal(text)) for at, (text, _) in expected(grid).items()
    }
    # What one reading alone gives has an open corner, or a sentence in the caption.
    assert all(shown(grid)[at].disputed for at, row in found.items() if "corner" in row)
