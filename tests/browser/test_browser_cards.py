"""The card of a cell: by mouse, keyboard and touch, on every page that the theme puts up."""

import gzip
import re
import shlex
from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Locator, Page
from site_builds import DYNTS, GRPO, Build

from gridatlas.build.site import assets
from gridatlas.model.addresses import SCRIPT
from small_sites import LEVEL
from views import PHONE, arrive, colour, contrast, step, until

STUDY = f"studies/{DYNTS}/"
MODEL = f"{STUDY}model/r1-qwen/"
BEST, LOW = "r1-qwen/aime24/0.4,2000", "r1-qwen/aime24/0.1,500"


def cell(page: Page, key: str) -> Locator:
    return page.locator(f'[id="{key}"]')


def fill_of(locator: Locator) -> dict[str, float]:
    """The box of a cell's fill; that of Playwright has room for any stroke's corners around it."""
    box = "(one) => { const {x, y, width, height} = one.getBoundingClientRect();"
    return locator.evaluate(f"{box} return {{x, y, width, height}}; }}")  # type: ignore[no-any-return]


def card(page: Page) -> Locator:
    return page.locator(".ga-card")


def shown(page: Page, first: str, *others: str) -> None:
    """Wait for the card with a text, which has the others too."""
    until(
        page,
        "(text) => { const card = document.querySelector('.ga-card');"
        " return !!card && !card.hidden && card.innerText.includes(text); }",
        first,
    )
    said = card(page).inner_text()
    assert [text for text in others if text not in said] == [], said


def gone(page: Page) -> None:
    until(page, "() => !document.querySelector('.ga-card:not([hidden])')")


def pressed(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def focus(page: Page) -> str:
    return str(page.evaluate("() => document.activeElement.id"))


def copied(page: Page) -> str:
    """What a button of the card has put on the clipboard."""
    shown(page, "Copied")
    return str(page.evaluate("() => navigator.clipboard.readText()"))


def marked(page: Page, name: str) -> list[str]:
    """The heatmaps in which a ring of this name is to be seen."""
    return [
        str(element).partition(": ")[0]
        for element in page.locator(f"svg:has(.ga-ring-{name}.ga-on)").evaluate_all(
            "(all) => all.map((one) => one.getAttribute('aria-label'))"
        )
    ]


def overlaps(page: Page, selector: str) -> list[str]:
    """What of these elements the card lies on."""
    return list(
        page.evaluate(
            """(selector) => {
              const card = document.querySelector(".ga-card").getBoundingClientRect();
              return [...document.querySelectorAll(selector)].filter((one) => {
                const of = one.getBoundingClientRect();
                return of.left < card.right - 1 && of.right > card.left + 1
                  && of.top < card.bottom - 1 && of.bottom > card.top + 1;
              }).map((one) => one.outerHTML.slice(0, 60));
            }""",
            selector,
        )
    )


# --- mouse --------------------------------------------------------------------------------------


def test_a_reader_points_at_cells_keeps_a_card_and_compares(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    points(page)
    keeps(page, home)
    # Two cells: their difference, and an address that restores them.
    cell(page, BEST).click()
    cell(page, LOW).click(modifiers=["Shift"])
    compared(page)
    assert page.url.endswith(f"cell={LOW}&with={BEST}")
    page.reload()
    compared(page)
    letters = page.locator(".ga-rings > .ga-on > text").all_text_contents()
    assert [letter for letter in letters if letter] == ["B", "A"]


def points(page: Page) -> None:
    cell(page, BEST).hover()
    shown(
        page, "52.0 %", "R1-Qwen | AIME24", "Ratio 0.4, Local window size 2000 tokens",
        "95 % interval: 34.9 to 68.6 % (each item counted once)", "n = 150",
        "Best value. 19 other cells may be the best as well, by an unpaired test of the counts.",
        "From: R1-Qwen figure", "row 2000",
    )  # fmt: skip
    assert focus(page) == "", "hovering moved the focus"
    of = fill_of(cell(page, BEST))
    page.keyboard.press("Escape")
    gone(page)
    # Nor does the cell that was behind it open, before the pointer moves again.
    page.wait_for_timeout(300)
    gone(page)
    # The pointer may be at the very centre: a move to the same place is none.
    for beside in (-1, 1):
        page.mouse.move(of["x"] + of["width"] / 2 + beside, of["y"] + of["height"] / 2)
        shown(page, "52.0 %")
        if beside == -1:
            page.keyboard.press("Escape")
            gone(page)
    cell(page, LOW).hover()
    shown(page, "42.7 %")
    page.mouse.move(5, 500)
    gone(page)


def keeps(page: Page, home: str) -> None:
    """A click keeps the card, and what it has can be copied."""
    cell(page, BEST).click()
    until(page, "() => document.activeElement.id === 'ga-card'")
    assert page.url == f"{home}{MODEL}#cell={BEST}"
    assert card(page).get_attribute("role") == "dialog"
    assert cell(page, BEST).get_attribute("aria-expanded") == "true"
    page.mouse.move(5, 500)
    page.get_by_role("button", name="Copy value").click()
    value = copied(page)
    assert value.startswith(
        "R1-Qwen | AIME24, Ratio 0.4, Local window size 2000 tokens: 52.0 % "
        "(95 % interval 34.9 to 68.6 %, n = 150). R1-Qwen figure"
    )
    assert value.endswith(f"{home}{MODEL}#{BEST}")
    page.keyboard.press("Escape")
    assert page.url == home + MODEL
    cell(page, BEST).click()
    card(page).get_by_text("Copy link").click()
    assert copied(page) == f"{home}{MODEL}#{BEST}"
    card(page).get_by_text("Permalink").scroll_into_view_if_needed()
    scrolled = page.evaluate("() => scrollY")
    card(page).get_by_text("Permalink").click()
    assert page.url == f"{home}{MODEL}#{BEST}"
    assert page.evaluate("() => scrollY") == scrolled
    assert page.locator(".ga-target").get_attribute("id") == BEST
    card(page).get_by_label("Close").click()
    gone(page)
    assert focus(page) == BEST
    cell(page, BEST).click()
    shown(page, "52.0 %")
    page.mouse.click(1270, 400)
    gone(page)


def compared(page: Page) -> None:
    """Wait for the card of the lowest cell beside the best, with Newcombe's interval, by hand."""
    shown(
        page,
        "Against Ratio 0.4, Local window size 2000 tokens, 52.0 %.",
        "Difference: −9.3 points (95 %: −32.3 to +15.2). No difference shown",
    )
    assert page.locator(".ga-ring-held.ga-on").count() == 1


def test_the_card_covers_neither_headline_nor_heatmap(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    cell(page, BEST).hover()
    shown(page, "52.0 %")
    assert overlaps(page, "article h1, .ga-multiples svg") == []
    for width in (1100, 1220, 1280, 1600, 390):
        with step(f"{width} pixels wide"):
            page.set_viewport_size({"width": width, "height": 800})
            page.evaluate("() => scrollTo(0, 0)")
            cell(page, BEST).click()
            shown(page, "Copy value", "52.0 %")
            assert overlaps(page, "article h1, .ga-multiples svg, .ga-legend, .ga-lines") == []
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width
            page.keyboard.press("Escape")
            gone(page)

    # An address may ask for a card; its links lead to places that are there.
    page.goto(f"{home}{MODEL}?card={BEST}")
    shown(page, "Copy value", "52.0 %")
    links = page.locator(".ga-card a").evaluate_all("all => all.map((one) => one.href)")
    assert links[:2] == [
        f"{home}{STUDY}checks/#readings", f"{home}{STUDY}reproduction/#commands",
    ]  # fmt: skip
    for link in links[:2]:
        found = BeautifulSoup(page.request.get(link).text(), "html.parser")
        assert len(found.select(f"[id={link.partition('#')[2]}]")) == 1, link


MARKS_OF_DATA = "(all) => all.map((one) => [one.getAttribute('class'), one.children.length])"


def test_the_row_the_column_and_the_same_cell_elsewhere_are_marked(page: Page, home: str) -> None:
    page.goto(f"{home}studies/{DYNTS}/benchmark/aime24/")
    drawn = page.locator("svg g[class*=role-mark]").evaluate_all(MARKS_OF_DATA)
    cell(page, "r1-llama/aime24/0.2,1000").hover()
    shown(page, "R1-Llama | AIME24")
    # What is pointed at has marks of its own: those of the data stay.
    assert page.locator("svg g[class*=role-mark]").evaluate_all(MARKS_OF_DATA) == drawn
    assert marked(page, "row") == marked(page, "column") == marked(page, "cell")
    assert marked(page, "cell") == ["R1-Llama | AIME24"]
    linked = marked(page, "linked")
    assert linked == ["R1-Qwen | AIME24", "R1-Qwen − R1-Llama | AIME24"]
    assert page.locator("text.ga-on").all_text_contents() == ["0.2", "1000"]
    # Printed values stay as they are: the rings have no fill, and lie on the edges.
    rings = page.locator(".ga-ring-row.ga-on rect, .ga-ring-cell.ga-on rect")
    assert set(rings.evaluate_all("(all) => all.map((one) => getComputedStyle(one).fill)")) == {
        "none"
    }
    cell(page, "r1-qwen/aime24/0.3,500").hover()
    shown(page, "R1-Qwen | AIME24")
    assert marked(page, "cell") == ["R1-Qwen | AIME24"]
    assert page.locator("text.ga-on").all_text_contents() == ["0.3", "500"]


# --- keyboard -----------------------------------------------------------------------------------


def test_cells_by_keyboard_alone(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    first = "r1-qwen/aime24/0.1,3000"
    page.locator("article h1").evaluate("(one) => { one.tabIndex = -1; one.focus(); }")
    for _ in range(12):
        page.keyboard.press("Tab")
        if focus(page) == first:
            break
    assert focus(page) == first
    shown(page, "47.3 %")
    for keys, at in [
        ("ArrowRight ArrowDown", "0.2,2000"),
        ("ArrowLeft ArrowLeft ArrowLeft", "0.1,2000"),
        ("End", "0.5,2000"),
        ("ArrowUp ArrowUp", "0.5,3000"),
        ("Control+End", "0.5,500"),
        ("Home", "0.1,500"),
        ("Control+Home", "0.1,3000"),
        ("ArrowDown End ArrowLeft", "0.4,2000"),
    ]:
        pressed(page, *keys.split())
        assert focus(page) == f"r1-qwen/aime24/{at}", keys
    shown(page, "52.0 %")
    assert marked(page, "focus") == ["R1-Qwen | AIME24"]
    # Its ring is seen on every fill.
    fills = page.locator(f'figure[id="grid/{BEST.rpartition("/")[0]}"] svg path[role=button]')
    rings = page.locator(".ga-ring-focus.ga-on rect")
    strokes = rings.evaluate_all("(all) => all.map((one) => getComputedStyle(one).stroke)")
    assert len(strokes) == 2
    for css in set(fills.evaluate_all("(all) => all.map((one) => getComputedStyle(one).fill)")):
        fill = colour(css, 1, (255, 255, 255))
        assert max(contrast(fill, colour(stroke, 1, fill)) for stroke in strokes) >= 3

    page.keyboard.press("Enter")
    assert focus(page) == "ga-card"
    for _ in range(9):  # two links, the command, and buttons; the last but two copies it
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent") == "Copy command":
            break
    page.keyboard.press("Enter")
    assert copied(page) == (
        "uv run docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24"
        " --local-window 2000 --ratio 0.4"
    )
    page.keyboard.press("Escape")
    gone(page)
    assert focus(page) == BEST
    page.keyboard.press("Space")
    assert focus(page) == "ga-card"
    page.keyboard.press("Shift+Tab")
    assert focus(page) == BEST
    # One stop for the whole heatmap, at the cell that was left, and on from the card's end too.
    page.keyboard.press("Tab")
    assert focus(page).startswith("r1-qwen/aime25/")
    page.keyboard.press("Shift+Tab")
    assert focus(page) == BEST
    pressed(page, "Enter", *["Tab"] * 10)
    assert focus(page).startswith("r1-qwen/aime25/")

    compares_by_key(page)


def compares_by_key(page: Page) -> None:
    """By keys alone, and by the card's button and a key."""
    cell(page, BEST).focus()
    pressed(page, "c", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "c")
    compared(page)
    pressed(page, "Escape", "Escape")
    assert page.locator(".ga-ring-held.ga-on").count() == 0
    cell(page, BEST).click()
    page.get_by_role("button", name="Compare").click()
    page.keyboard.press("Escape")
    cell(page, LOW).focus()
    page.keyboard.press("c")
    compared(page)
    pressed(page, "Escape", "Escape")
    assert page.locator(".ga-ring-held.ga-on").count() == 0


# --- touch --------------------------------------------------------------------------------------


def test_a_tap_opens_the_card_within_a_phone(browser: Browser, home: str) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(home + MODEL)
    for key in ("0.1,3000", "0.5,3000", "0.3,1000", "0.1,500", "0.5,500"):
        with step(key):
            target = cell(page, f"r1-qwen/aime25/{key}")
            target.tap()
            shown(page, "R1-Qwen | AIME25")
            box, of = card(page).bounding_box(), fill_of(target)
            assert box is not None
            assert box["x"] >= 0
            assert box["y"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"]
            assert box["y"] + box["height"] <= PHONE["height"]
            assert box["y"] >= of["y"] + of["height"] - 0.5
            assert page.evaluate("() => visualViewport.scale") == 1
            close = card(page).get_by_label("Close")
            size = close.bounding_box()
            assert size is not None
            assert min(size["width"], size["height"]) >= 40
            close.tap()
            gone(page)
    cell(page, "r1-qwen/aime25/0.3,1000").tap()
    shown(page, "R1-Qwen | AIME25")
    page.locator("article h1").tap(position={"x": 3, "y": 3}, force=True)
    gone(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    context.close()


# --- what the theme does ------------------------------------------------------------------------

COUNT = """(() => {
  const add = EventTarget.prototype.addEventListener;
  window.added = 0;
  document.addEventListener = function (...given) {
    window.added += 1;
    return add.apply(this, given);
  };
})()"""


def test_instant_navigation_doubles_nothing(page: Page, instant: str) -> None:
    page.add_init_script(COUNT)
    arrive(page, f"{instant}studies/tiny/model/small/")
    page.evaluate("() => { window.same = true; }")
    cell(page, "small/0.1,8").click()
    shown(page, "11.5 %")
    before = page.evaluate("() => window.added")
    for _ in range(2):
        page.locator("article a", has_text="Learning rate and batch size").first.click()
        until(
            page,
            "() => location.pathname.endsWith('/tiny/') && !!document.querySelector('.ga-levels')",
        )
        gone(page)
        page.locator("article a", has_text="Small").first.click()
        until(page, "() => location.pathname.includes('/model')")
        until(page, "() => !!document.getElementById('small/0.2,8')?.matches('[role=button]')")
    assert page.evaluate("() => window.same"), "the page was loaded anew"
    assert page.evaluate("() => window.added") == before
    cell(page, "small/0.2,8").click()
    shown(page, "12.5 %")
    assert page.locator(".ga-card").count() == 1
    assert page.locator(".ga-live .ga-rings").count() == page.locator(".ga-rings").count() <= 3
    page.mouse.move(5, 500)  # off what may lie there on the page before
    page.go_back()
    gone(page)
    until(page, "() => !!document.querySelector('.ga-levels')")
    page.go_forward()
    shown(page, "12.5 %")  # the address tells which card was open
    page.keyboard.press("Escape")
    gone(page)
    cell(page, "small/0.1,16").first.hover()
    shown(page, "13.5 %")

    # The command measures the cell again whatever its levels say.
    page.locator("nav.ga-switch").get_by_role("link", name="Large", exact=True).click()
    figure = page.locator("figure.ga-figure").filter(has_text="Large").last
    figure.locator('path[role=button][aria-label*="Batch size 16"]').last.click()
    shown(page, "Measure it again")
    card(page).get_by_text("Copy command").click()
    command = copied(page)
    assert command == card(page).locator("code").inner_text()
    assert shlex.split(command) == [
        "python", "docs/run.py", f"--model={LEVEL}", "--batch", "16", "--rate", "0.2",
        "--to", "out/16-0.2;", "rm", "-rf", "/",
    ]  # fmt: skip


# --- other ways to read -------------------------------------------------------------------------


def test_a_screen_reader_hears_the_heatmap_and_its_cells(page: Page, home: str) -> None:
    page.goto(f"{home}studies/{GRPO}/setting/after_t100/")
    page.locator("svg.ga-live").first.wait_for()
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}

    def heard(node: dict[str, Any]) -> Iterator[tuple[str, str]]:
        """Roles and names in the order in which they are read."""
        name = node.get("name", {}).get("value")
        if name and not node["ignored"]:
            yield node["role"]["value"], name
        for child in node["childIds"]:
            yield from heard(by_id[child])

    everything = list(heard(nodes[0]))
    assert not [name for _, name in everything if "text '" in name or "container" in name]
    heads = [at for at, (_, name) in enumerate(everything) if ": Score from " in name]
    assert len(heads) == 1
    assert re.search(
        r"^After GRPO, temperature 1\.0: Score from 0 to 25 \(disputed\) .* "
        r"Highest: 25 \(disputed\) at .*; highest undisputed: 9 at .* "
        r"Disputed: \d+ of 100 values\.$",
        everything[heads[0]][1],
    )
    cells = everything[heads[0] + 1 : heads[0] + 101]
    assert {role for role, _ in cells} == {"button"}
    assert cells[0][1].startswith("Number of x's digits 1, Number of y's digits 1: ")
    assert everything[heads[0] + 101][0] != "button"


FILLS = """() => [...document.querySelectorAll(
  ".ga-figure .role-mark path, .ga-figure .role-mark:not(.mean_marks, .means_marks) text"
)].map((one) => [getComputedStyle(one).fill, getComputedStyle(one).stroke].join())"""


def test_print_has_every_table_and_forced_colours_leave_fills(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    cell(page, BEST).click()
    shown(page, "52.0 %")
    page.emulate_media(media="print")
    assert not card(page).is_visible()
    assert not page.locator(".ga-rings").first.is_visible()
    table = page.locator(".ga-actions table").first
    assert table.is_visible()
    box = table.bounding_box()
    assert box is not None
    assert box["height"] > 50
    page.emulate_media(media="screen")
    assert not table.is_visible()
    page.keyboard.press("Escape")
    page.evaluate("() => document.activeElement.blur()")

    plain = page.evaluate(FILLS)
    frame = page.locator(".ga-figure .role-axis-label text").first
    for scheme, ink in (("light", (0, 0, 0)), ("dark", (255, 255, 255))):
        with step(f"forced colours, {scheme}"):
            page.emulate_media(forced_colors="active", color_scheme=scheme)  # type: ignore[arg-type]
            assert page.evaluate("() => matchMedia('(forced-colors: active)').matches")
            assert page.evaluate(FILLS) == plain
            css = frame.evaluate("(one) => getComputedStyle(one).fill")
            assert contrast(colour(css, 1, ink), ink) < 1.5
            cell(page, "r1-qwen/aime24/0.1,3000").focus()
            page.keyboard.press("ArrowDown")
            ring = page.locator(".ga-ring-focus.ga-on rect")
            assert ring.evaluate_all("(all) => all.map((one) => getComputedStyle(one).stroke)") == [
                "rgb(255, 255, 255)",
                "rgb(142, 12, 84)",
            ]
            pressed(page, "Escape")
            page.evaluate("() => document.activeElement.blur()")


# --- weight -------------------------------------------------------------------------------------


def test_the_script_is_small() -> None:
    """As it is sent: why a line is there, readers needn't load."""
    sent = assets()[SCRIPT]
    assert isinstance(sent, str)
    assert len(gzip.compress(sent.encode(), 9, mtime=0)) <= 12_300


def test_a_heatmap_weighs_little(atlas: Build) -> None:
    """Its drawing, table and cards, and what a switch shows, as the whole page is sent."""
    html = BeautifulSoup((atlas.site / MODEL / "index.html").read_text("utf-8"), "html.parser")
    whole = len(gzip.compress(str(html).encode()))
    (row,) = html.select(".ga-multiples")
    assert len(row.select(":scope > .ga-picture figure")) == 5
    row.decompose()
    assert (whole - len(gzip.compress(str(html).encode()))) / 5 <= 3400
