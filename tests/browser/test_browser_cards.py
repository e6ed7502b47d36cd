"""The card of a cell: by mouse, keyboard and touch, on every page that the theme puts up."""

import gzip
import json
import re
import shlex
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import site_builds
from bs4 import BeautifulSoup
from hostile import STRINGS, Texts, hostile
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize
from site_builds import DYNTS, GRPO

from gridatlas.build.site import assets
from gridatlas.model.addresses import SCRIPT
from views import Visit, arrive, colour, contrast, until

WIDE = ViewportSize(width=1280, height=900)
PHONE = ViewportSize(width=360, height=740)
MODEL = f"studies/{DYNTS}/model/r1-qwen/"
CELL = "r1-qwen/aime24/0.4,2000"


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    opened.grant_permissions(["clipboard-read", "clipboard-write"])
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, home: str) -> Iterator[Page]:
    """A page of the site; nothing may be said on its console."""
    opened = context.new_page()
    visit = Visit(opened, urlsplit(home).netloc)
    opened.set_viewport_size(WIDE)
    yield opened
    opened.close()
    assert visit.messages == []


def cell(page: Page, key: str) -> Locator:
    return page.locator(f'[id="{key}"]')


def fill_of(locator: Locator) -> dict[str, float]:
    """The box of a cell's fill; that of Playwright has room for any stroke's corners around it."""
    box = "(one) => { const {x, y, width, height} = one.getBoundingClientRect();"
    return locator.evaluate(f"{box} return {{x, y, width, height}}; }}")  # type: ignore[no-any-return]


def card(page: Page) -> Locator:
    return page.locator(".ga-card")


def shown(page: Page, text: str) -> None:
    """Wait for the card with this text."""
    until(
        page,
        "(text) => { const card = document.querySelector('.ga-card');"
        " return !!card && !card.hidden && card.innerText.includes(text); }",
        text,
    )


def gone(page: Page) -> None:
    until(page, "() => !document.querySelector('.ga-card:not([hidden])')")


def focus(page: Page) -> str:
    return str(page.evaluate("() => document.activeElement.id"))


def marked(page: Page, name: str) -> list[str]:
    """The heatmaps in which a ring of this name is to be seen."""
    return [
        str(element).partition(": ")[0]
        for element in page.locator(f"svg:has(.ga-ring-{name}.ga-on)").evaluate_all(
            "(all) => all.map((one) => one.getAttribute('aria-label'))"
        )
    ]


# --- mouse --------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("width", [1100, 1220, 1280, 1600, 390])
def test_the_card_covers_neither_headline_nor_heatmap(page: Page, home: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(home + MODEL)
    cell(page, CELL).click()
    shown(page, "52.0 %")
    assert overlaps(page, "article h1, .ga-multiples svg, .ga-legend, .ga-lines") == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_two_cells_are_marked_and_their_address_restores_them(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    cell(page, CELL).click()
    cell(page, "r1-qwen/aime24/0.1,500").click(modifiers=["Shift"])
    shown(page, "Difference: −9.3 points")
    assert page.url.endswith("#cell=r1-qwen/aime24/0.1,500&with=r1-qwen/aime24/0.4,2000")
    page.reload()
    shown(page, "Difference: −9.3 points")
    letters = page.locator(".ga-rings > .ga-on > text").all_text_contents()
    assert [letter for letter in letters if letter] == ["B", "A"]


def test_the_pointer_shows_a_card_beside_the_heatmaps(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    cell(page, CELL).hover()
    shown(page, "52.0 %")
    text = card(page).inner_text()
    for part in (
        "R1-Qwen | AIME24", "Ratio 0.4, Local window size 2000 tokens",
        "95 % interval: 34.9 to 68.6 % (each item counted once)",
        "n = 150",
        "Best value. 19 other cells may be the best as well, by an unpaired test of the counts.",
        "From: R1-Qwen figure", "row 2000",
    ):  # fmt: skip
        assert part in text
    assert focus(page) == "", "hovering moved the focus"
    of = fill_of(cell(page, CELL))
    assert overlaps(page, "article h1, .ga-multiples svg") == []
    page.keyboard.press("Escape")
    gone(page)
    # Nor does the cell that was behind it open, before the pointer moves again.
    page.wait_for_timeout(300)
    gone(page)
    # The pointer may be at the very centre: a move to the same place is none.
    page.mouse.move(of["x"] + of["width"] / 2 - 1, of["y"] + of["height"] / 2)
    shown(page, "52.0 %")
    page.keyboard.press("Escape")
    gone(page)
    page.mouse.move(of["x"] + of["width"] / 2 + 1, of["y"] + of["height"] / 2)
    shown(page, "52.0 %")
    cell(page, "r1-qwen/aime24/0.1,500").hover()
    shown(page, "42.7 %")
    page.mouse.move(5, 500)
    gone(page)


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
    assert {
        page.evaluate("(one) => getComputedStyle(one).fill", element.element_handle())
        for element in page.locator(".ga-ring-row.ga-on rect, .ga-ring-cell.ga-on rect").all()
    } == {"none"}
    cell(page, "r1-qwen/aime24/0.3,500").hover()
    shown(page, "R1-Qwen | AIME24")
    assert marked(page, "cell") == ["R1-Qwen | AIME24"]
    assert page.locator("text.ga-on").all_text_contents() == ["0.3", "500"]


def test_a_click_keeps_the_card_and_its_link_can_be_copied(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    cell(page, CELL).click()
    until(page, "() => document.activeElement.id === 'ga-card'")
    assert card(page).get_attribute("role") == "dialog"
    assert cell(page, CELL).get_attribute("aria-expanded") == "true"
    page.mouse.move(5, 500)
    card(page).get_by_text("Copy link").click()
    shown(page, "Copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == f"{home}{MODEL}#{CELL}"
    card(page).get_by_text("Permalink").scroll_into_view_if_needed()
    scrolled = page.evaluate("() => scrollY")
    card(page).get_by_text("Permalink").click()
    assert page.url == f"{home}{MODEL}#{CELL}"
    assert page.evaluate("() => scrollY") == scrolled
    assert page.locator(".ga-target").get_attribute("id") == CELL
    card(page).get_by_label("Close").click()
    gone(page)
    assert focus(page) == CELL
    cell(page, CELL).click()
    shown(page, "52.0 %")
    page.mouse.click(1270, 400)
    gone(page)


# --- keyboard -----------------------------------------------------------------------------------


def test_cells_by_keyboard_alone(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    first = "r1-qwen/aime24/0.1,3000"
    page.locator('article a[href$="../"], article p a').last.focus()
    page.locator("article h1").evaluate("(one) => { one.tabIndex = -1; one.focus(); }")
    for _ in range(12):
        page.keyboard.press("Tab")
        if focus(page) == first:
            break
    assert focus(page) == first
    shown(page, "47.3 %")
    for keys, at in [
        (["ArrowRight", "ArrowDown"], "0.2,2000"),
        (["ArrowLeft", "ArrowLeft", "ArrowLeft"], "0.1,2000"),
        (["End"], "0.5,2000"),
        (["ArrowUp", "ArrowUp"], "0.5,3000"),
        (["Control+End"], "0.5,500"),
        (["Home"], "0.1,500"),
        (["Control+Home"], "0.1,3000"),
        (["ArrowDown", "End", "ArrowLeft"], "0.4,2000"),
    ]:
        for key in keys:
            page.keyboard.press(key)
        assert focus(page) == f"r1-qwen/aime24/{at}", keys
    shown(page, "52.0 %")
    assert marked(page, "focus") == ["R1-Qwen | AIME24"]
    page.keyboard.press("Enter")
    assert focus(page) == "ga-card"
    for _ in range(9):  # two links, the command, and buttons; the last but two copies it
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent") == "Copy command":
            break
    page.keyboard.press("Enter")
    shown(page, "Copied")
    assert page.evaluate("() => navigator.clipboard.readText()") == (
        "uv run docs/reproduce/kv_sweep.py --model r1-qwen --benchmark aime24"
        " --local-window 2000 --ratio 0.4"
    )
    page.keyboard.press("Escape")
    gone(page)
    assert focus(page) == CELL
    page.keyboard.press("Space")
    assert focus(page) == "ga-card"
    page.keyboard.press("Shift+Tab")
    assert focus(page) == CELL
    # One stop for the whole heatmap, at the cell that was left, and on from the card's end too.
    page.keyboard.press("Tab")
    assert focus(page).startswith("r1-qwen/aime25/")
    page.keyboard.press("Shift+Tab")
    assert focus(page) == CELL
    page.keyboard.press("Enter")
    for _ in range(10):
        page.keyboard.press("Tab")
    assert focus(page).startswith("r1-qwen/aime25/")


def test_the_focused_cell_has_a_ring_that_is_seen_on_every_fill(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    fills = page.locator(f'figure[id="grid/{CELL.rpartition("/")[0]}"] svg path[role=button]')
    cell(page, "r1-qwen/aime24/0.1,3000").focus()
    page.keyboard.press("ArrowRight")
    rings = page.locator(".ga-ring-focus.ga-on rect")
    strokes = rings.evaluate_all("(all) => all.map((one) => getComputedStyle(one).stroke)")
    assert len(strokes) == 2
    for css in set(fills.evaluate_all("(all) => all.map((one) => getComputedStyle(one).fill)")):
        fill = colour(css, 1, (255, 255, 255))
        assert max(contrast(fill, colour(stroke, 1, fill)) for stroke in strokes) >= 3


# --- touch --------------------------------------------------------------------------------------


def test_a_tap_opens_the_card_within_a_phone(browser: Browser, home: str) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(home + MODEL)
    for key in ("0.1,3000", "0.5,3000", "0.3,1000", "0.1,500", "0.5,500"):
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


# --- permalinks ---------------------------------------------------------------------------------


def in_sight(page: Page, key: str) -> bool:
    return bool(
        page.evaluate(
            """(id) => {
              const cell = document.getElementById(id).getBoundingClientRect();
              const header = document.querySelector("header.md-header").getBoundingClientRect();
              return cell.top >= header.bottom && cell.bottom <= innerHeight;
            }""",
            key,
        )
    )


def test_permalinks_lead_to_their_cells_back_and_forward(page: Page, home: str) -> None:
    first, other = "r1-qwen/aime24/0.1,500", "r1-qwen/average/0.5,3000"
    where = "(id) => document.querySelector('.ga-target')?.id === id"
    page.set_viewport_size(PHONE)
    page.goto(f"{home}{MODEL}#{first}")
    until(page, where, first)
    assert in_sight(page, first)
    gone(page)
    page.evaluate("(id) => { location.hash = id; }", other)
    until(page, where, other)
    assert in_sight(page, other)
    page.go_back()
    until(page, where, first)
    assert in_sight(page, first)
    page.go_forward()
    until(page, where, other)
    assert in_sight(page, other)
    # An address that isn't on the page, or is none at all.
    scrolled = page.evaluate("() => scrollY")
    for nothing in ("r1-qwen/aime24/9,9", "%E0%A4%A", "__search"):
        page.evaluate("(id) => history.replaceState(null, '', `#${id}`)", nothing)
        page.evaluate("() => dispatchEvent(new HashChangeEvent('hashchange'))")
    assert page.evaluate("() => scrollY") == scrolled


# --- what the theme does ------------------------------------------------------------------------

ARGS = "--model={model} --batch {batch} --rate '{rate}' --to out/{batch}-{rate}; rm -rf /"
LEVEL = "$(touch hit) 'a' <b>"


@pytest.fixture(scope="module")
def instant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site with instant navigation, and a study with a command; a level looks like one."""
    base = tmp_path_factory.getbasetemp()
    project = site_builds.make_project(
        base / "instant",
        site_builds.shared_cache(base),
        theme={
            "name": "material",
            "font": False,
            "features": ["navigation.instant", "navigation.indexes"],
        },
        site_url="http://127.0.0.1/",
    )
    site_builds.add_tiny_study(project)
    reproduce = {"script": "docs/run.py", "args": ARGS}
    study = site_builds.TINY_STUDY + f"reproduce: {json.dumps(reproduce)}\n"
    project.write(
        "data/tiny/study.yml", study.replace("{id: large,", f"{{id: {json.dumps(LEVEL)},")
    )
    project.write("data/tiny/cells.csv", site_builds.TINY_CELLS.replace("large", f"{LEVEL}"))
    with site_builds.serving(project.built("--strict").site) as address:
        yield address


def test_instant_navigation_doubles_nothing(page: Page, instant: str) -> None:
    page.add_init_script(
        """(() => {
          const add = EventTarget.prototype.addEventListener;
          window.added = 0;
          document.addEventListener = function (...given) {
            window.added += 1;
            return add.apply(this, given);
          };
        })()"""
    )
    # The theme follows links that are in the sitemap, which doesn't know the server's port.
    sitemap = page.request.get(f"{instant}sitemap.xml").text()
    page.route(
        "**/sitemap.xml",
        lambda route: route.fulfill(
            body=sitemap.replace("http://127.0.0.1/", instant), content_type="application/xml"
        ),
    )
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


def test_the_command_measures_the_cell_again_whatever_its_levels_say(
    page: Page, instant: str
) -> None:
    page.goto(f"{instant}studies/tiny/model/")
    page.locator("nav.ga-switch").get_by_role("link", name="Large", exact=True).click()
    figure = page.locator("figure.ga-figure").filter(has_text="Large").last
    figure.locator('path[role=button][aria-label*="Batch size 16"]').last.click()
    shown(page, "Measure it again")
    card(page).get_by_text("Copy command").click()
    shown(page, "Copied")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == card(page).locator("code").inner_text()
    assert shlex.split(copied) == [
        "python", "docs/run.py", f"--model={LEVEL}", "--batch", "16", "--rate", "0.2",
        "--to", "out/16-0.2;", "rm", "-rf", "/",
    ]  # fmt: skip


def test_texts_from_data_are_text_in_a_card(
    page: Page, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Dear: the build of a site with all hostile texts counts here, or in another test of them."""
    with site_builds.serving(hostile(tmp_path_factory.getbasetemp()).site) as address:
        for study in ("script", "image", "end-of-title", "templates", "two-script"):
            page.goto(f"{address}studies/{study}/")
            page.locator(".ga-beside .ga-figure a").first.click()
            page.locator(".ga-live path[role=button]").first.click()
            card(page).wait_for()
            texts = Texts(study)
            assert STRINGS[study] in card(page).inner_text()
            assert texts["x one"] in re.sub(r"\s+", " ", card(page).inner_text())
            assert card(page).locator("script, img, b").count() == 0


# --- other ways to read -------------------------------------------------------------------------


def test_without_javascript_tables_say_all_that_cards_do(browser: Browser, home: str) -> None:
    context = browser.new_context(viewport=WIDE, java_script_enabled=False)
    page = context.new_page()
    page.goto(home + MODEL)
    assert page.locator(".ga-card, [role=button]:is(path)").count() == 0
    row = page.locator(".ga-multiples").first
    for summary in row.locator("summary").all():
        summary.click()
    text = " ".join(row.inner_text().split())
    for part in (
        "52.0 (34.9 to 68.6) best", "47.3 (30.8 to 64.5)", "n = 150 trials per cell",
        "Data table", "row 2000: 5 cells",
        "Faded: no difference here is shown to be beyond chance.",
    ):  # fmt: skip
        assert part in text
    table = row.locator('tbody[data-of="grid/r1-qwen/aime24"]')
    assert table.locator("td strong").all_inner_texts() == ["52.0"]
    context.close()


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


def test_print_has_every_table_and_no_card(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    cell(page, CELL).click()
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colours_leave_fills_and_what_is_printed_on_them(
    page: Page, home: str, scheme: Any
) -> None:
    page.goto(home + MODEL)
    style = """() => [...document.querySelectorAll(
      ".ga-figure .role-mark path, .ga-figure .role-mark:not(.mean_marks, .means_marks) text"
    )].map((one) => [getComputedStyle(one).fill, getComputedStyle(one).stroke].join())"""
    plain = page.evaluate(style)
    page.emulate_media(forced_colors="active", color_scheme=scheme)
    try:
        assert page.evaluate("() => matchMedia('(forced-colors: active)').matches")
        forced = page.evaluate(style)
        absent = [color for color, two in zip(plain, forced, strict=True) if color != two]
        assert absent == []
        frame = page.locator(".ga-figure .role-axis-label text").first
        ink = {"light": (0, 0, 0), "dark": (255, 255, 255)}[scheme]
        css = frame.evaluate("(one) => getComputedStyle(one).fill")
        assert contrast(colour(css, 1, ink), ink) < 1.5
        cell(page, "r1-qwen/aime24/0.1,3000").focus()
        page.keyboard.press("ArrowDown")
        ring = page.locator(".ga-ring-focus.ga-on rect")
        assert ring.evaluate_all("(all) => all.map((one) => getComputedStyle(one).stroke)") == [
            "rgb(255, 255, 255)",
            "rgb(142, 12, 84)",
        ]
    finally:
        page.emulate_media(forced_colors="none", color_scheme="light")


# --- weight -------------------------------------------------------------------------------------


def test_the_script_is_small() -> None:
    """As it is sent: why a line is there, readers needn't load."""
    sent = assets()[SCRIPT]
    assert isinstance(sent, str)
    assert len(gzip.compress(sent.encode(), 9, mtime=0)) <= 12_500


def test_a_heatmap_weighs_little(page: Page, home: str) -> None:
    """Its drawing, table and cards, and what a switch shows, as the whole page is sent."""
    html = BeautifulSoup(page.request.get(home + MODEL).text(), "html.parser")
    whole = len(gzip.compress(str(html).encode()))
    (row,) = html.select(".ga-multiples")
    assert len(row.select(":scope > .ga-picture figure")) == 5
    row.decompose()
    assert (whole - len(gzip.compress(str(html).encode()))) / 5 <= 3400
