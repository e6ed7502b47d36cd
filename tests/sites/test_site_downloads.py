"""Each grid's downloads are there, can be read, and hold what its heatmap shows."""

import csv
import io
import json
import struct
import zlib
from decimal import Decimal
from typing import Any
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest
from expected import GRIDS, MEASURED, is_former, shown, trials
from site_builds import DYNTS, GRPO, Build, about, figure_of, figures, grid_of

ENDINGS = ("csv", "json", "png", "svg", "vl.json")
"""Of the files that a figure's downloads name."""
MORE = ("best.svg", "html", "reproduced.svg")
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


@every_grid
def test_csv(atlas: Build, study: str, grid: str) -> None:
    rows = list(csv.DictReader(io.StringIO(read(atlas, study, grid, "csv").decode("utf-8"))))
    x, y = AXES[study]
    assert {(row[x], row[y]): (row[COLUMN[study]], row["state"]) for row in rows} == {
        point: (cell.text, "disputed" if cell.disputed else "ok")
        for point, cell in shown(grid).items()
    }
    assert len(rows) == len(shown(grid))
    for row in rows:
        assert tuple(row[facet] for facet in FACETS[study]) == tuple(grid.split("/"))
        assert row["n"] == ("" if trials(grid) is None else str(trials(grid)))
        assert row["reading"]
        assert row["place"]


@every_grid
def test_json(atlas: Build, study: str, grid: str) -> None:
    content = json.loads(read(atlas, study, grid, "json"), parse_float=Decimal)
    assert (content["study"], content["grid"]) == (study, grid)
    assert tuple(content["facets"].items()) == tuple(
        zip(FACETS[study], grid.split("/"), strict=True)
    )
    x, y = AXES[study]
    found = {
        (str(cell[x]), str(cell[y])): (cell["value"], cell["state"]) for cell in content["cells"]
    }
    assert found == {
        point: (Decimal(cell.text), "disputed" if cell.disputed else "ok")
        for point, cell in shown(grid).items()
    }
    assert {cell.get("n") for cell in content["cells"]} == {trials(grid)}


@every_grid
def test_svg(atlas: Build, study: str, grid: str) -> None:
    tree = ElementTree.fromstring(read(atlas, study, grid, "svg").decode("utf-8"))
    assert tree.tag == "{http://www.w3.org/2000/svg}svg"
    labels = [
        element.attrib["aria-label"]
        for element in tree.iter("{http://www.w3.org/2000/svg}path")
        if element.get("role") == "graphics-symbol"
    ]
    found = {}
    for label in labels:
        where, _, value = label.partition(": ")
        x, y = (part.rsplit(" ", 1)[1] for part in where.split(", "))
        value = (
            value.removesuffix(", best").removesuffix(", highest").removesuffix(", may be the best")
        )
        found[x, y] = value.replace(" %", "")
    assert found == {
        point: f"{cell.text} (disputed)" if cell.disputed else cell.text
        for point, cell in shown(grid).items()
    }
    assert len(labels) == len(found)


@every_grid
def test_png_is_twice_the_size_of_the_svg(atlas: Build, study: str, grid: str) -> None:
    tree = ElementTree.fromstring(read(atlas, study, grid, "svg").decode("utf-8"))
    width, height, pixels = _png(read(atlas, study, grid, "png"))
    assert (width, height) == (2 * int(tree.attrib["width"]), 2 * int(tree.attrib["height"]))
    assert len(set(pixels)) > 50, "an empty picture"


def _png(data: bytes) -> tuple[int, int, bytes]:
    """Width, height and the unpacked bytes of a PNG with 8 bits each of red, green, blue, alpha."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    place, packed, header = 8, b"", b""
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place : place + 8])
        body = data[place + 8 : place + 8 + size]
        assert struct.unpack(">I", data[place + 8 + size : place + 12 + size])[0] == zlib.crc32(
            kind + body
        )
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        place += 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", header[:10])
    assert (depth, colour) == (8, 6)
    pixels = zlib.decompress(packed)
    assert len(pixels) == height * (1 + 4 * width)
    return width, height, pixels


@every_grid
def test_vega_lite_has_its_data_inline(atlas: Build, study: str, grid: str) -> None:
    spec = json.loads(read(atlas, study, grid, "vl.json"), parse_float=Decimal)
    assert "vega-lite" in spec["$schema"]
    found = {(row["x"], row["y"]): row for row in spec["data"]["values"]}
    cells = shown(grid)
    assert {point: (row["text"], row["value"]) for point, row in found.items()} == {
        point: (cell.text, Decimal(cell.text)) for point, cell in cells.items()
    }
    # What one reading alone gives has an open corner, or a sentence in the caption.
    assert all(cells[point].disputed for point, row in found.items() if "corner" in row)
    assert "url" not in _keys(spec)


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()
