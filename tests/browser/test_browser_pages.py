"""Every kind of page, on a phone and on a wide screen, light and dark, in a real browser.

A page is opened once: on a phone in one scheme, then wide in the other. Colours don't depend on the
width, nor places on the colours; every second page begins in the dark.
"""

import os
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from site_builds import DOCUMENTS, DYNTS, FIGURE, GRPO

from axe import (
    CARD,
    OF_COLOURS_AND_WIDTHS,
    PLANTED,
    THEME,
    folds,
    open_card,
    planted,
    rules,
    violations,
)
from views import (
    PHONE,
    WIDE,
    Visit,
    beyond,
    centre,
    colour,
    contrast,
    luminance,
    measured,
    overlap,
    step,
    within,
)

PAGES = {
    "home": ("", 21),
    "code": ("claims/", None),
    "fence": ("fence/", None),
    "overview": ("studies/", 21),
    "study": (f"studies/{DYNTS}/", 3),
    "study without aggregates": (f"studies/{GRPO}/", 4),
    "models": (f"studies/{DYNTS}/model/", 5),
    "model": (f"studies/{DYNTS}/model/r1-qwen/", 5),
    "benchmark": (f"studies/{DYNTS}/benchmark/aime24/", 3),
    "average": (f"studies/{DYNTS}/benchmark/average/", 3),
    "settings": (f"studies/{GRPO}/setting/", 6),
    "disputed": (f"studies/{GRPO}/setting/after_t125/", 2),
    "checks": (f"studies/{GRPO}/checks/", 3),
    "measured": ("studies/digits-pass-1/seed/1/", 18),
    "measured again": ("studies/digits-pass-8/", 4),
    "runs": (f"studies/{DYNTS}/reproduction/", None),
    "missing": ("no/such/page/", None),
}
"""Addresses of pages; and how many grids, differences and comparisons of readings each has, where
all of them are looked at."""
ALIKE = {
    "study without aggregates",
    "benchmark",
    "average",
    "settings",
    "measured",
    "measured again",
}
"""Pages of a kind that another one stands for, where it is about the parts of a page."""
WITH_CARDS = ("models", "model", "disputed", "checks")
"""Pages that are looked at with all folds open, and then with a card, which lies on texts."""
WHOLE_ON_PHONES = ("overview", "model")
"""Pages of which all rules are held against the smaller screen too."""
WHITE = (255.0, 255.0, 255.0)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_on_a_phone_and_wide_light_and_dark(
    visit: Visit, home: str, name: str
) -> None:
    """Dear by axe, which holds some fifty rules against each element of a page."""
    page, (path, heatmaps) = visit.page, PAGES[name]
    # A first visit is in the reader's colours; then they use the button.
    first, other = ("dark", "light") if list(PAGES).index(name) % 2 else ("light", "dark")
    page.emulate_media(color_scheme=first)  # type: ignore[arg-type]
    page.set_viewport_size(PHONE)
    page.goto(home + path, wait_until="load")
    page.evaluate("() => document.fonts.ready")
    for scheme, width, chosen in ((first, PHONE["width"], ""), (other, WIDE["width"], other)):
        with step(f"{width} pixels wide, {scheme}"):
            seen = measured(page, width, chosen)
            assert seen["width"] <= seen["inner"], "the page scrolls sideways"
            assert seen["wide"] == []
            paper = colour(seen["paper"], 1, WHITE)
            assert luminance(paper) < 0.1 if scheme == "dark" else luminance(paper) > 0.8
            if heatmaps is not None:
                assert len(seen["heatmaps"]) == heatmaps
                for heatmap in seen["heatmaps"]:
                    with step(named(heatmap)):
                        drawn_whole(heatmap)
                        printed_on_their_cells(heatmap)
                        apart_and_large(heatmap)
                        in_the_palette(heatmap, dark=scheme == "dark")
            if name not in ALIKE:
                accessible(page, name, width)
    missing = ["404 " + home + path] if name == "missing" else []
    assert visit.failed == missing
    if missing:
        visit.failed.clear()
        assert len(visit.messages) == 1, "but that the page is missing"
        visit.messages.clear()


def accessible(page: Page, name: str, width: int) -> None:
    """What axe finds: nothing in ours, and of the theme's what is known."""
    every = width == WIDE["width"] or name in WHOLE_ON_PHONES
    held = () if every else OF_COLOURS_AND_WIDTHS
    if name in WITH_CARDS:
        folds(page, "open")
    ours, theme = violations(page, rules=held)
    assert ours == []
    assert rules(theme) <= THEME, theme
    # Pages of results have no list of pages at their left.
    if name == "code" and width == WIDE["width"]:
        assert rules(theme) == THEME, "the list is longer than it has to be"
        assert planted(page, ".md-sidebar--primary nav nav[aria-expanded=true] > ul") == PLANTED
    if name in WITH_CARDS:
        open_card(page)
        assert violations(page, CARD, held) == ([], [])
        page.keyboard.press("Escape")
        folds(page, "close")


def named(heatmap: dict[str, Any]) -> str:
    return str(heatmap["label"]).partition(": ")[0]


def drawn_whole(heatmap: dict[str, Any]) -> None:
    """As many marks as the grid has cells, each in the picture, and none on another."""
    ours = "seed" in named(heatmap).lower()
    sizes = (6 * 6, 10 * 10) if ours else (4 * 5 if "|" in named(heatmap) else 10 * 10,)
    kinds = [cell["kind"] for cell in heatmap["cells"]]
    assert len(kinds) in sizes
    # On the page of checks, what only one reading gives can't be compared.
    compared = re.search(r"differ in \d+ of (\d+) cells", str(heatmap["label"]))
    coloured = int(compared[1]) if compared else len(kinds)
    assert kinds.count("rect mark") == coloured
    assert kinds.count("point") == len(kinds) - coloured
    boxes = [cell["box"] for cell in heatmap["cells"]]
    smallest = 5 if heatmap["thumbnail"] else 8
    sides = [side for left, top, right, bottom in boxes for side in (right - left, bottom - top)]
    assert min(sides) > smallest
    assert all(beyond([box[:2], box[2:]], heatmap["box"]) < 0.5 for box in boxes)
    assert len({centre([box[:2], box[2:]]) for box in boxes}) == len(boxes)


def printed_on_their_cells(heatmap: dict[str, Any]) -> None:
    if heatmap["thumbnail"]:  # Its page has the values.
        assert heatmap["texts"] == []
        return
    texts = [text for text in heatmap["texts"] if text["part"] == "value"]
    assert len(texts) == sum(cell["kind"] == "rect mark" for cell in heatmap["cells"])
    for text in texts:
        cell = at_point(heatmap["cells"], centre(text["corners"]))
        if cell["label"]:  # A picture that links to its page is read out as one.
            value = cell["label"].rpartition(": ")[2].partition(",")[0].split(" ")[0]
            assert text["text"] == value
        assert beyond(text["corners"], cell["box"]) <= 1, text["text"]


def at_point(cells: list[dict[str, Any]], point: tuple[float, float]) -> dict[str, Any]:
    found = [cell for cell in cells if within(point, cell["box"])]
    assert len(found) == 1
    return found[0]


def apart_and_large(heatmap: dict[str, Any]) -> None:
    """No text lies on another, or is cut, or too small to be read."""
    for text in heatmap["texts"]:
        assert beyond(text["corners"], heatmap["box"]) <= 1, f"{text['text']!r} is cut"
        assert not text["text"].endswith("…"), f"{text['text']!r} is shortened"
        assert round(text["size"], 1) >= 8, f"{text['text']!r} is small"
    for first, other in combinations(heatmap["texts"], 2):
        assert overlap(first["corners"], other["corners"]) <= 1, (first["text"], other["text"])


def in_the_palette(heatmap: dict[str, Any], *, dark: bool) -> None:
    """Texts around the cells follow the page; those on cells can be read on their fills."""
    behind = colour(heatmap["background"], 1, WHITE)
    texts = [text for text in heatmap["texts"] if text["part"] == "frame"]
    assert len(texts) > 8 or heatmap["thumbnail"]
    for text in texts:
        ink = colour(text["colour"], text["opacity"], behind)
        assert contrast(ink, behind) >= 4.5, text["text"]
        assert (luminance(ink) > luminance(behind)) == dark
    for cell in heatmap["cells"]:
        if cell["kind"] == "point":
            hatching = colour(cell["stroke"], cell["opacity"], behind)
            assert contrast(hatching, behind) >= 3, cell["label"]
    for symbol in heatmap["symbols"]:
        drawn = [
            colour(symbol[part], symbol["opacity"], behind)
            for part in ("fill", "stroke")
            if symbol[part].startswith("rgb")
        ]
        assert max(contrast(color, behind) for color in drawn) >= 3, symbol
    for text in heatmap["texts"]:
        under = {"value": "cells", "asserted": "tabs"}.get(text["part"])
        if under:
            cell = at_point(heatmap[under], centre(text["corners"]))
            fill = colour(cell["fill"], cell["opacity"], behind)
            ink = colour(text["colour"], text["opacity"], fill)
            assert contrast(ink, fill) >= 4.5, text["text"]


def test_the_pages_show_every_grid(page: Page, home: str) -> None:
    """So that none of the tests here passes because it looks at nothing."""
    grids = set()
    for name in ("model", "settings"):
        page.goto(home + PAGES[name][0])
        figures = page.locator("figure.ga-figure:has(> svg)").evaluate_all(
            "(all) => all.map((one) => one.id)"
        )
        grids |= {figure.removeprefix(FIGURE) for figure in figures} - {""}
    every = {grid for study in DOCUMENTS.values() for grid in study}
    assert grids == {grid for grid in every if not grid.startswith("r1-llama/")}


# --- the browser itself -------------------------------------------------------------------------


def test_a_missing_browser_fails_the_tests_and_says_what_to_do(tmp_path: Path) -> None:
    here = Path(__file__)
    arguments = ["-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "inner")]
    test = f"{here}::test_the_pages_show_every_grid"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, test],
        cwd=here.parents[2],
        env={**os.environ, "CHROMIUM": str(tmp_path / "no-chromium")},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert f"CHROMIUM is '{tmp_path}/no-chromium', which is no program" in done.stdout
    assert "never skipped" in done.stdout
    assert "1 error" in done.stdout
    assert "skipped" not in done.stdout.replace("never skipped", "")
