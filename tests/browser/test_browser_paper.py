"""Pages on paper, in forced colours, enlarged, on the narrowest screens, and without motion."""

import io
import re
from collections import Counter
from itertools import combinations, product
from typing import Any

import pytest
from expected import BENCHMARKS, name_of, rows, shown
from PIL import Image
from playwright.sync_api import Browser, Page
from pypdfium2 import PdfDocument
from site_builds import DYNTS, GRPO

from views import MEASURE, PHONE, WIDE, beyond, contrast, overlap, step, until

MODEL = f"studies/{DYNTS}/model/r1-qwen/"
SETTING = f"studies/{GRPO}/setting/after_t125/"
CHECKS = f"studies/{GRPO}/checks/"
REFERENCE = "reproducing/"
PAGES = {"overview": "studies/", "model": MODEL, "setting": SETTING, "checks": CHECKS}
HEATMAPS = {
    "model": [f"r1-qwen/{benchmark}" for benchmark in BENCHMARKS],
    "setting": ["after_t125"],
}
"""Grids that are drawn with all their values."""
SHEETS = {"overview": 3, "model": 2, "setting": 3, "checks": 2}
"""How many sheets are sensible: a page of results has its answer, its charts and one table."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_on_paper_enlarged_and_narrow(page: Page, home: str, name: str) -> None:
    page.goto(home + PAGES[name], wait_until="load")
    page.set_viewport_size({"width": 605, "height": 934})  # A4 without margins of 25 mm
    page.emulate_media(media="print")
    assert (found := page.evaluate(HIDDEN)) == [], "\n".join(found)
    page.emulate_media(media="null")
    for part, (width, height) in SCREENS.items():
        with step(part):
            page.set_viewport_size({"width": width, "height": height})
            if part == "200 % of CSS":
                is_zoomed(page)
            else:
                keeps_everything_apart_and_in_sight(page)
    page.evaluate("() => { document.documentElement.style.zoom = ''; }")
    is_printed(name, sheets_of(page))


def test_without_script_a_page_prints_alike(browser: Browser, home: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(home + PAGES["setting"], wait_until="load")
        is_printed("setting", sheets_of(page))


# --- print --------------------------------------------------------------------------------------

HIDDEN = """() => {
  const within = document.querySelector("article").getBoundingClientRect();
  const name = (one) => `${one.localName}.${one.getAttribute("class") || ""}`;
  const found = [];
  for (const one of document.querySelectorAll("article *")) {
    if (one.closest(".ga-hidden, svg") || !one.checkVisibility()) continue;
    const style = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    if (box.right > within.right + 1) found.push(`${name(one)} is beyond the edge`);
    if (style.overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1)
      found.push(`${name(one)} is cut`);
  }
  return found;
}"""


def sheets_of(page: Page) -> list[str]:
    """The texts of a page's sheets."""
    with PdfDocument(page.pdf(format="A4")) as document:
        return [" ".join(sheet.get_textpage().get_text_range().split()) for sheet in document]


def is_printed(name: str, sheets: list[str]) -> None:
    """On no more sheets than sensible: what answers, and nothing to be clicked on or unfolded."""
    assert len(sheets) <= SHEETS[name]
    assert [number for number, text in enumerate(sheets, 1) if not text] == [], "empty sheets"
    every = " ".join(sheets)
    for text in (
        "Cite and embed", "<iframe", "Skip to content", "Data format", "Decisions", "Made with",
        "Back to top",
    ):  # fmt: skip
        assert text not in every
    if name == "checks":  # what is wrong and why, and no fold
        assert "9 more sentences that are wrong, and all 47 with their checks." in every
        for text in ("highest values form a broad plateau", "The plateau reaches into the lower"):
            assert text in every.partition("Why it is wrong")[2]
        for text in ("A figure of speech without a measure.", "All 47 statements", "Expression"):
            assert text not in every
    if name in HEATMAPS:
        # The theme unfolds everything before it prints.
        assert "Can I trust this?" in every
        for text in ("Statistics", "Statements", "Method", "Download all", "Where the values come"):
            assert f"{text} " not in every, text
        assert "highest seen" in every
    for grid in HEATMAPS.get(name, []):
        with step(grid):
            is_printed_whole(name, grid, sheets)


def is_printed_whole(name: str, grid: str, sheets: list[str]) -> None:
    """A heatmap on one sheet, and each row of its data table."""
    texts = [cell.text for cell in shown(grid).values()]
    # The highest is drawn in bold, after the others, unless several share it.
    highest = max(texts, key=float)
    values = " ".join(sorted(texts, key=lambda text: texts.count(highest) == 1 and text == highest))
    found = [text for text in sheets if values in text]
    assert len(found) == 1
    assert name_of(grid).rpartition(" | ")[2] in found[0]
    for y, row in rows(grid).items():
        interval = r"(?: \([\d.]+ to [\d.]+\))" if name == "model" else ""
        cells = [
            re.escape(f"{cell.text} (disputed)" if cell.disputed else cell.text)
            + interval
            + "(?: n = [0-9]+)?(?: (?:may be )?(?:the )?best(?: undisputed)?)?"
            for cell in row
        ]
        line = re.compile(rf"\b{y} {' '.join(cells)}(?!\S)")
        assert line.search(" ".join(sheets)), y


# --- enlarged and narrow ------------------------------------------------------------------------

SCREENS = {
    # 1280 × 900 at 200 %, as browsers enlarge.
    "200 %": (640, 450),
    # 1280 × 1024 at 400 %: what WCAG 1.4.10 asks for.
    "400 %": (320, 256),
    "200 % of CSS": (1280, 900),
}

STACKED = """() => {
  const box = (one) => {
    const at = one.getBoundingClientRect();
    return [one.localName, at.left, at.top, at.right, at.bottom];
  };
  const parts = (one) => [...one.children].filter((child) => child.checkVisibility()).map(box);
  const together = ".ga-gallery, .ga-panels-line, .ga-actions, .ga-figure, .ga-claims";
  return [...document.querySelectorAll(`${together}, article .md-typeset`)].map(parts);
}"""
"""The boxes of what stands together."""


def keeps_everything_apart_and_in_sight(page: Page) -> None:
    for summary in page.locator(":is(.ga-figure, .ga-actions) > details > summary").all():
        summary.evaluate("(one) => { one.parentElement.open = true; }")
    seen = page.evaluate(MEASURE)
    assert seen["width"] <= seen["inner"]
    assert seen["wide"] == []
    for heatmap in seen["heatmaps"]:
        for text in heatmap["texts"]:
            assert beyond(text["corners"], heatmap["box"]) <= 1, text["text"]
        for first, other in combinations(heatmap["texts"], 2):
            assert overlap(first["corners"], other["corners"]) <= 1, (first["text"], other["text"])
    groups = page.evaluate(STACKED)
    assert len(groups) > 2
    for group in groups:
        for (text, *first), (other, *second) in combinations(group, 2):
            across = min(first[2], second[2]) - max(first[0], second[0])
            down = min(first[3], second[3]) - max(first[1], second[1])
            assert min(across, down) <= 1, (text, other)


def is_zoomed(page: Page) -> None:
    page.evaluate("() => { document.documentElement.style.zoom = 2; }")
    assert page.evaluate("() => document.scrollingElement.scrollWidth - innerWidth") <= 0
    for drawing in page.locator("figure.ga-figure > svg").all():
        box = drawing.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280


# --- forced colours -----------------------------------------------------------------------------

PAINTED = """() => [...document.querySelectorAll("figure.ga-figure > svg")].map((svg) => {
  const box = (one) => {
    const at = one.getBoundingClientRect();
    return [at.left + scrollX, at.top + scrollY, at.right + scrollX, at.bottom + scrollY];
  };
  return {
    cells: [...svg.querySelectorAll(".cells_marks path")].map((one) => ({
      box: box(one),
      fill: getComputedStyle(one).fill,
    })),
    texts: [...svg.querySelectorAll(":is(.values_marks, .bold_marks) text")].map((one) => ({
      box: box(one),
      text: one.textContent,
    })),
    frame: [...svg.querySelectorAll("text")]
      .filter((one) => !one.closest(".role-mark") && one.textContent.trim())
      .filter((one) => getComputedStyle(one).visibility === "visible")
      .map((one) => ({box: box(one), text: one.textContent})),
    best: [...svg.querySelectorAll(".best_marks circle")].map(box),
    outlines: [...svg.querySelectorAll(".outline_marks path")].map(box),
  };
})"""
SCALE = 3
"""Pixels of the picture to one of the page, so that thin strokes are painted in full."""


def test_in_forced_colours_fills_values_and_outlines_can_be_seen(
    browser: Browser, home: str
) -> None:
    """By the pixels: computed styles keep the colours that were asked for."""
    with browser.new_context(
        viewport=WIDE, forced_colors="active", device_scale_factor=SCALE, reduced_motion="reduce"
    ) as context:
        page = context.new_page()
        page.goto(home + SETTING, wait_until="load")
        for scheme in ("light", "dark"):
            with step(scheme):
                page.emulate_media(forced_colors="active", color_scheme=scheme)  # type: ignore[arg-type]
                can_be_seen(page)


def can_be_seen(page: Page) -> None:
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    heatmaps = page.evaluate(PAINTED)
    assert [len(heatmap["texts"]) for heatmap in heatmaps] == [100, 100]

    def part(box: list[float], shrink: float = 0.0) -> list[tuple[int, ...]]:
        """The pixels of a part of the page."""
        left, top, right, bottom = (round(edge * SCALE) for edge in box)
        inner = round(shrink * SCALE)
        cut = picture.crop((left + inner, top + inner, right - inner, bottom - inner))
        return _pixels(cut)

    for heatmap in heatmaps:
        for text in heatmap["texts"]:
            (cell,) = [of for of in heatmap["cells"] if _within(text["box"], of["box"])]
            asked = tuple(map(int, re.findall(r"\d+", cell["fill"])))
            left, top, _, bottom = cell["box"]
            # Within the lines between cells and their outlines, left of the value.
            fill = part([left + 4, (top + bottom) / 2 - 1, left + 5, (top + bottom) / 2 + 1])[0]
            assert max(abs(a - b) for a, b in zip(fill, asked, strict=True)) <= 2, text
            ink = max(contrast(color, fill) for color in set(part(text["box"])))
            assert ink >= 4.5, (text, fill)
        for text in heatmap["frame"]:
            seen = Counter(part(text["box"]))
            paper = seen.most_common(1)[0][0]
            assert max(contrast(color, paper) for color in seen) >= 4.5, text
        for box in heatmap["best"] + heatmap["outlines"]:
            left, top, right, bottom = box
            apart = max(
                contrast(*pair)
                for pair in combinations(set(part([left - 1, top - 1, right + 1, bottom + 1])), 2)
            )
            assert apart >= 4.5, "stands out on the fill"
    assert [len(of["best"]) for of in heatmaps] == [0, 1]


def _within(inner: list[float], outer: list[float]) -> bool:
    """Whether the middle of a box lies in another."""
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def test_the_focus_can_be_seen(page: Page, home: str) -> None:
    page.set_viewport_size({"width": 700, "height": 800})
    page.goto(home + SETTING, wait_until="load")
    summary = page.locator(".ga-actions > details > summary").first
    for part in ("#statements", ".ga-actions > .ga-files"):
        page.locator(f"{part} > summary").first.click()
    summary.click()
    for forced, focused in product(
        ("none", "active"),
        (
            summary,
            page.locator(".ga-actions .ga-scroll").first,
            page.locator(".ga-actions .ga-downloads a").first,
            page.locator(".ga-claims summary").first,
        ),
    ):
        page.emulate_media(forced_colors=forced)  # type: ignore[arg-type]
        focused.scroll_into_view_if_needed()
        page.locator("body").evaluate("() => document.activeElement.blur()")
        page.mouse.move(0, 0)
        plain = _around(page, focused.bounding_box())
        # By the keyboard: there and back again.
        focused.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        assert focused.evaluate("(one) => one === document.activeElement")
        seen = _around(page, focused.bounding_box())
        pairs = zip(_pixels(plain), _pixels(seen), strict=True)
        changed = sum(before != other and contrast(before, other) >= 3 for before, other in pairs)
        assert changed > 60, f"{focused} in forced colours {forced}"


def _around(page: Page, box: Any, margin: int = 5) -> Image.Image:
    clip: Any = {
        "x": box["x"] - margin, "y": box["y"] - margin,
        "width": box["width"] + 2 * margin, "height": box["height"] + 2 * margin,
    }  # fmt: skip
    return Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")


def _pixels(picture: Image.Image) -> list[tuple[int, ...]]:
    assert picture.mode == "RGB"
    return list(zip(*[iter(picture.tobytes())] * 3, strict=True))


def test_wide_tables_are_scrolled_by_themselves_with_the_keyboard(page: Page, home: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(home + SETTING, wait_until="load")
    page.locator(".ga-actions > details > summary").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    table = page.locator(".ga-actions .ga-scroll").first
    assert table.evaluate("(one) => one === document.activeElement")
    _scrolled(page, ".ga-scroll")
    # In a fold: from a link in it.
    page.locator("#statistics > summary").click()
    page.locator("#statistics .ga-scroll a").first.focus()
    _scrolled(page, ".ga-scroll")
    # Of Markdown, which the theme puts into a box.
    page.goto(home + REFERENCE, wait_until="load")
    link = page.locator(".md-typeset__scrollwrap td a").first
    link.evaluate("(link) => { link.closest('td').style.minWidth = '900px'; }")
    link.focus()
    _scrolled(page, ".md-typeset__scrollwrap")


def _scrolled(page: Page, box: str) -> None:
    """Scroll the box that the focus is in."""
    wider = """(box) => {
      const found = document.activeElement.closest(box);
      return found ? found.scrollWidth - found.clientWidth : null;
    }"""
    assert page.evaluate(wider, box) > 0
    page.keyboard.press("ArrowRight")
    until(page, "(box) => document.activeElement.closest(box).scrollLeft > 0", box)
    assert page.evaluate("() => window.scrollX") == 0


# --- motion -------------------------------------------------------------------------------------

MOVING = """() => document.getAnimations()
  .filter((one) => one.effect.target.closest("[class^=ga-], [class*=' ga-']"))
  .map((one) => `${one.constructor.name} of ${one.effect.target.outerHTML.slice(0, 60)}`)"""


def test_nothing_of_ours_moves_where_less_motion_is_wanted(page: Page, home: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 600})
    page.goto(home + MODEL, wait_until="load")
    for summary in page.locator(".ga-actions > details > summary").all()[:4]:
        summary.click()
        assert page.evaluate(MOVING) == []
    x, y = (
        page.locator("figure.ga-figure .cells_marks path")
        .nth(3)
        .evaluate(
            """(one) => {
          one.scrollIntoView({block: "center"});
          const box = one.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }"""
        )
    )
    page.mouse.move(x, y)
    assert page.evaluate(MOVING) == []
    # Jumps, not a ride: ours, and the theme's, which may put the page anew into its place.
    cell = "r1-qwen/average/0.4,2000"
    places = page.evaluate(
        """async (id) => {
          location.hash = id;
          const seen = new Set();
          for (let i = 0; i < 30; i++) {
            await new Promise((done) => requestAnimationFrame(done));
            seen.add(scrollY);
          }
          return seen.size;
        }""",
        cell,
    )
    assert places <= 4
    assert page.evaluate(MOVING) == []
    page.wait_for_timeout(200)
    after = page.evaluate("(id) => document.getElementById(id).getBoundingClientRect().top", cell)
    assert 0 <= after < 600
