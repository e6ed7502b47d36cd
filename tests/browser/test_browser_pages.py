"""Every kind of page, on a phone and on a wide screen, light and dark, in a real browser."""

import functools
import re
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from once import made_once
from playwright.sync_api import Browser
from site_builds import DOCUMENTS, DYNTS, FIGURE, GRPO

from views import (
    MEASURE,
    View,
    beyond,
    centre,
    colour,
    contrast,
    look,
    luminance,
    overlap,
    within,
)

PHONE, WIDE = 360, 1280
PAGES = {
    "home": "",
    "overview": "studies/",
    "study": f"studies/{DYNTS}/",
    "study without aggregates": f"studies/{GRPO}/",
    "models": f"studies/{DYNTS}/model/",
    "model": f"studies/{DYNTS}/model/r1-qwen/",
    "benchmark": f"studies/{DYNTS}/benchmark/aime24/",
    "average": f"studies/{DYNTS}/benchmark/average/",
    "settings": f"studies/{GRPO}/setting/",
    "disputed": f"studies/{GRPO}/setting/after_t125/",
    "checks": f"studies/{GRPO}/checks/",
    "measured": "studies/digits-pass-1/seed/1/",
    "measured again": "studies/digits-pass-8/",
}
HEATMAPS = {
    "home": 21, "overview": 21, "study": 3, "study without aggregates": 4, "models": 5,
    "model": 5, "benchmark": 3, "average": 3, "settings": 6, "disputed": 2, "checks": 3,
    "measured": 18, "measured again": 4,
}  # fmt: skip
"""Grids, differences and comparisons of readings on each page."""
VIEWS = list(product(PAGES, (PHONE, WIDE), ("light", "dark")))

every_view = pytest.mark.parametrize(
    "view", VIEWS, indirect=True, ids=[f"{name}-{width}-{scheme}" for name, width, scheme in VIEWS]
)
WHITE = (255.0, 255.0, 255.0)


@pytest.fixture(scope="module")
def looked(
    browser: Browser, home: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], dict[tuple[int, str], View]]]:
    """Looks at a page, once for all tests, in a browser that keeps what it has loaded."""
    context = browser.new_context(reduced_motion="reduce", color_scheme="light")
    base = tmp_path_factory.getbasetemp()

    @functools.cache
    def looked_at(name: str) -> dict[tuple[int, str], View]:
        def make(_: Path) -> dict[tuple[int, str], View]:
            return look(context, home + PAGES[name], (PHONE, WIDE))

        return made_once(base, f"looked at {name}", make)

    yield looked_at
    context.close()


@pytest.fixture
def view(
    request: pytest.FixtureRequest, looked: Callable[[str], dict[tuple[int, str], View]]
) -> View:
    name, width, scheme = request.param
    return looked(name)[width, scheme]


def named(heatmap: dict[str, Any]) -> str:
    return str(heatmap["label"]).partition(": ")[0]


@every_view
def test_nothing_is_said_on_the_console(view: View) -> None:
    assert view.messages == []


@every_view
def test_every_request_is_answered_by_the_site_itself(view: View) -> None:
    assert view.elsewhere == []
    assert view.failed == []


@every_view
def test_the_page_does_not_scroll_sideways(view: View) -> None:
    assert view.measured["width"] <= view.measured["inner"]
    assert view.measured["wide"] == []


@every_view
def test_every_heatmap_has_as_many_marks_as_its_grid_has_cells(
    view: View, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["view"][0]
    if name in HEATMAPS:
        assert len(view.heatmaps) == HEATMAPS[name]
    for heatmap in view.heatmaps:
        ours = "seed" in named(heatmap).lower()
        sizes = (6 * 6, 10 * 10) if ours else (4 * 5 if "|" in named(heatmap) else 10 * 10,)
        kinds = [cell["kind"] for cell in heatmap["cells"]]
        assert len(kinds) in sizes
        # On the page of checks, what only one reading gives can't be compared.
        compared = re.search(r"differ in \d+ of (\d+) cells", str(heatmap["label"]))
        coloured = int(compared[1]) if compared else len(kinds)
        assert kinds.count("rect mark") == coloured
        assert kinds.count("point") == len(kinds) - coloured
        # They are seen: each in the picture, next to each other and not on top of each other.
        boxes = [cell["box"] for cell in heatmap["cells"]]
        smallest = 5 if heatmap["thumbnail"] else 8
        sides = [
            side for left, top, right, bottom in boxes for side in (right - left, bottom - top)
        ]
        assert min(sides) > smallest
        assert all(beyond([box[:2], box[2:]], heatmap["box"]) < 0.5 for box in boxes)
        assert len({centre([box[:2], box[2:]]) for box in boxes}) == len(boxes)


@every_view
def test_each_value_is_printed_on_its_own_cell(view: View) -> None:
    for heatmap in view.heatmaps:
        if heatmap["thumbnail"]:  # Its page has the values.
            assert heatmap["texts"] == []
            continue
        texts = [text for text in heatmap["texts"] if text["part"] == "value"]
        assert len(texts) == sum(cell["kind"] == "rect mark" for cell in heatmap["cells"])
        for text in texts:
            cell = at_point(heatmap["cells"], centre(text["corners"]))
            if cell["label"]:  # A picture that links to its page is read out as one.
                value = cell["label"].rpartition(": ")[2].partition(",")[0].split(" ")[0]
                assert text["text"] == value
            assert beyond(text["corners"], cell["box"]) <= 1, (named(heatmap), text["text"])


def at_point(cells: list[dict[str, Any]], point: tuple[float, float]) -> dict[str, Any]:
    found = [cell for cell in cells if within(point, cell["box"])]
    assert len(found) == 1
    return found[0]


@every_view
def test_no_text_in_a_heatmap_lies_on_another_or_is_cut(view: View) -> None:
    bad = []
    for heatmap in view.heatmaps:
        for text in heatmap["texts"]:
            if beyond(text["corners"], heatmap["box"]) > 1:
                bad.append(f"{named(heatmap)}: {text['text']!r} is cut")
            if text["text"].endswith("…"):
                bad.append(f"{named(heatmap)}: {text['text']!r} is shortened")
        for first, other in combinations(heatmap["texts"], 2):
            if overlap(first["corners"], other["corners"]) > 1:
                bad.append(f"{named(heatmap)}: {first['text']!r} and {other['text']!r}")
    assert bad == []


@every_view
def test_texts_are_large_enough(view: View) -> None:
    sizes = {
        (text["part"], text["text"]): round(text["size"], 1)
        for heatmap in view.heatmaps
        for text in heatmap["texts"]
    }
    assert {text: size for text, size in sizes.items() if size < 8} == {}


@every_view
def test_texts_around_the_cells_follow_the_palette(
    view: View, request: pytest.FixtureRequest
) -> None:
    dark = request.node.callspec.params["view"][2] == "dark"
    paper = colour(view.measured["paper"], 1, WHITE)
    assert luminance(paper) < 0.1 if dark else luminance(paper) > 0.8
    for heatmap in view.heatmaps:
        behind = colour(heatmap["background"], 1, WHITE)
        texts = [text for text in heatmap["texts"] if text["part"] == "frame"]
        assert len(texts) > 8 or heatmap["thumbnail"]
        for text in texts:
            ink = colour(text["colour"], text["opacity"], behind)
            assert contrast(ink, behind) >= 4.5, (named(heatmap), text["text"])
            assert (luminance(ink) > luminance(behind)) == dark
        for cell in heatmap["cells"]:
            if cell["kind"] == "point":
                hatching = colour(cell["stroke"], cell["opacity"], behind)
                assert contrast(hatching, behind) >= 3, (named(heatmap), cell["label"])
        for symbol in heatmap["symbols"]:
            drawn = [
                colour(symbol[part], symbol["opacity"], behind)
                for part in ("fill", "stroke")
                if symbol[part].startswith("rgb")
            ]
            assert max(contrast(color, behind) for color in drawn) >= 3, (named(heatmap), symbol)


@every_view
def test_each_value_stands_out_from_its_cell(view: View) -> None:
    for heatmap in view.heatmaps:
        behind = colour(heatmap["background"], 1, WHITE)
        for text in heatmap["texts"]:
            under = {"value": "cells", "asserted": "tabs"}.get(text["part"])
            if under:
                cell = at_point(heatmap[under], centre(text["corners"]))
                fill = colour(cell["fill"], cell["opacity"], behind)
                ink = colour(text["colour"], text["opacity"], fill)
                assert contrast(ink, fill) >= 4.5, (named(heatmap), text["text"])


def test_the_pages_show_every_grid(
    looked: Callable[[str], dict[tuple[int, str], View]],
) -> None:
    """So that none of the tests here passes because it looks at nothing."""
    grids = set()
    for name in ("model", "settings"):
        view = looked(name)[WIDE, "light"]
        grids |= {heatmap["grid"].removeprefix(FIGURE) for heatmap in view.heatmaps} - {""}
    every = {grid for study in DOCUMENTS.values() for grid in study}
    assert grids == {grid for grid in every if not grid.startswith("r1-llama/")}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_first_visit_is_in_the_reader_s_colours(browser: Browser, home: str, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(home + PAGES["model"], wait_until="load")
    paper = colour(page.evaluate(MEASURE)["paper"], 1, WHITE)
    assert luminance(paper) < 0.1 if scheme == "dark" else luminance(paper) > 0.8
    context.close()
