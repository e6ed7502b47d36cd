"""What addresses tell and restore, and what a reader does with tables: sort, filter, switch."""

import base64
from contextlib import suppress
from typing import Any

import pytest
from expected import OURS
from playwright.sync_api import Page, Route
from site_builds import DYNTS, GRPO

from views import PHONE, WIDE, arrive, step, until

STUDY = f"studies/{DYNTS}/"
MODEL = f"{STUDY}model/r1-qwen/"
BEST, LOW = "r1-qwen/aime24/0.4,2000", "r1-qwen/aime24/0.1,500"
OPEN = "() => !!document.querySelector('.ga-card[role=dialog]:not([hidden])')"
IS_TARGET = "(id) => document.querySelector('.ga-target')?.id === id"


# --- what is open, sorted, shown and unfolded ---------------------------------------------------


def test_the_address_has_what_is_sorted_and_unfolded(page: Page, home: str) -> None:
    page.goto(home + STUDY)
    page.locator("#grids > summary").click()
    head = page.locator("#grids th", has_text="Mean")
    for order in ("descending", "ascending"):
        head.get_by_role("button").click()
        until(page, f"() => location.hash === '#sort=mean,{order}&open=grids'")
    page.reload()
    until(page, "() => document.querySelector('#grids[open] th[aria-sort=ascending]')")
    means = page.locator("#grids tbody tr > :nth-child(4)").all_inner_texts()
    assert means == sorted(means, key=lambda text: float(text.split()[0]))
    head.get_by_role("button").click()
    page.locator("#grids > summary").click()
    until(page, "() => location.hash === ''")


def test_a_heatmap_shows_the_version_that_the_address_names_or_a_reader_asks_for(
    page: Page, home: str
) -> None:
    page.goto(f"{home}{MODEL}#cell={BEST}&show=plain+values&open=statistics")
    until(page, OPEN)
    assert "52.0 %" in page.locator(".ga-card").inner_text()
    assert page.locator("#statistics[open]").count() == 1
    shown = page.locator(".ga-picture:not([hidden])")
    assert shown.get_attribute("data-version") == "plain values"
    assert shown.locator(".ga-ring-cell.ga-on").count() == 1
    page.keyboard.press("Escape")
    page.locator("#statistics > summary").click()
    page.locator(".ga-readings button", has_text="gemma").click()
    until(page, "() => location.hash.startsWith('#show=R1-Qwen+figure')")
    figure = shown.locator("figure", has_text="AIME24")
    for _ in range(2):  # also where the page is loaded with this address
        assert figure.locator(".cells_marks path").count() == 8
        assert figure.locator(".absent_marks path").count() == 12
        assert "5 differ" in figure.locator("figcaption").inner_text()
        line = page.locator(".ga-becomes[aria-live]").inner_text()
        assert "differs in 24 of 32 shared cells" in line
        page.reload()
        until(page, "() => !!document.querySelector('.ga-picture[data-version]')")
    page.locator(".ga-readings button", has_text="as shown").click()
    assert figure.locator(".cells_marks path").count() == 20
    assert page.locator(".ga-becomes").inner_text() == ""
    assert page.url == home + MODEL


def test_an_address_opens_what_it_is_folded_in(page: Page, home: str) -> None:
    """Where the page is loaded, and where a link leads to it without loading."""
    addresses = {
        f"{MODEL}#statistics": ["statistics"],
        f"{STUDY}checks/#statements": ["statements"],
        f"{MODEL}#statements-average": ["statements"],
        f"{STUDY}checks/#no-such-place": [],
    }
    opened = (
        "() => [...document.querySelectorAll('details.ga-fold[open][id]')].map((one) => one.id)"
    )
    for address, folds in addresses.items():  # no two of a page follow each other
        page.goto(home + address, wait_until="load")
        assert page.evaluate(opened) == folds, address
    arrive(page, home + STUDY)
    for address, folds in addresses.items():
        with step(address):
            to = home + address
            page.evaluate("(to) => { document.querySelector('.ga-crumbs a').href = to; }", to)
            page.locator(".ga-crumbs a").first.click()
            until(page, "(to) => location.href === to && document.readyState === 'complete'", to)
            until(page, "(to) => to.includes(document.querySelector('link[rel=canonical]')"
                  ".href.split('/sub/')[1])", to)  # fmt: skip
            if folds:
                until(page, f"() => document.getElementById('{folds[0]}')?.open")
            assert page.evaluate(opened) == folds


# --- permalinks ---------------------------------------------------------------------------------

TARGET = """(id) => {
  const cell = document.getElementById(id);
  const box = cell.getBoundingClientRect();
  const header = document.querySelector("header.md-header").getBoundingClientRect();
  return {
    box: [box.x, box.y, box.width, box.height],
    above: box.top - header.bottom,
    below: window.innerHeight - box.bottom,
    scrolled: window.scrollY,
  };
}"""

CHANGED = """async ([before, after]) => {
  const pixels = async (png) => {
    const bytes = Uint8Array.from(atob(png), (one) => one.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return canvas.getImageData(0, 0, image.width, image.height);
  };
  const [one, other] = [await pixels(before), await pixels(after)];
  const found = [];
  for (let i = 0; i < one.data.length; i += 4) {
    const change = Math.max(...[0, 1, 2].map((j) => Math.abs(one.data[i + j] - other.data[i + j])));
    if (change > 60) found.push([(i / 4) % one.width, Math.floor(i / 4 / one.width)]);
  }
  return found;
}"""
"""The pixels in which two pictures differ clearly."""


@pytest.mark.parametrize(
    ("address", "cell"),
    [
        (MODEL, BEST),
        (f"{STUDY}benchmark/aime24/", BEST),
        (f"studies/{GRPO}/setting/after_t125/", "after_t125/5,8"),
        (f"studies/{GRPO}/setting/", "after_t125/3,7"),
        (f"studies/{GRPO}/checks/", "after_t100/4,6"),
    ],
    ids=["model", "benchmark", "setting", "disputed", "hatched"],
)
def test_a_permalink_leads_to_its_cell_and_marks_it(
    page: Page, home: str, address: str, cell: str
) -> None:
    """Where the page is loaded on a wide screen, and on a phone where it is there already."""
    page.goto(f"{home}{address}#{cell}", wait_until="load")
    for size in (WIDE, PHONE):
        with step(size):
            if size == PHONE:
                page.set_viewport_size(size)
                page.evaluate("(id) => { scrollTo(0, 0); location.hash = id; }", cell)
            until(page, IS_TARGET, cell)
            at = in_sight(page, cell)
            assert _marked_sides(page, at) == {"left", "top", "right", "bottom"}


def in_sight(page: Page, cell: str) -> dict[str, Any]:
    """Where a cell is, which is in sight; going back, browsers scroll a moment later."""
    with suppress(AssertionError):
        until(page, f"(id) => {{ const at = ({TARGET})(id); return at.below >= 0; }}", cell, 2)
    at: dict[str, Any] = page.evaluate(TARGET, cell)
    assert at["above"] >= 0, "behind the header"
    assert at["below"] >= 0, "below the window"
    return at


def _marked_sides(page: Page, at: dict[str, Any]) -> set[str]:
    """The sides of a cell along most of which something stands out while it is the target."""
    x, y, width, height = at["box"]
    margin = 6
    clip: Any = {
        "x": x - margin, "y": y - margin,
        "width": width + 2 * margin, "height": height + 2 * margin,
    }  # fmt: skip
    marked = base64.b64encode(page.screenshot(clip=clip)).decode()
    # Another target, without scrolling.
    page.evaluate("() => location.replace('#none-of-these')")
    until(page, "() => !document.querySelector('.ga-target')")
    page.evaluate("(y) => window.scrollTo(0, y)", at["scrolled"])
    plain = base64.b64encode(page.screenshot(clip=clip)).decode()
    changed = page.evaluate(CHANGED, [marked, plain])
    ends = {"left": margin, "top": margin, "right": margin + width, "bottom": margin + height}
    found = set()
    for side, end in ends.items():
        across = side in ("left", "right")
        places = {
            py if across else px for px, py in changed if abs((px if across else py) - end) <= 4
        }
        if len(places) >= 0.8 * (height if across else width):
            found.add(side)
    return found


def test_permalinks_lead_to_their_cells_back_and_forward(page: Page, home: str) -> None:
    other = "r1-qwen/average/0.5,3000"
    page.set_viewport_size(PHONE)
    page.goto(f"{home}{MODEL}#{LOW}")
    until(page, IS_TARGET, LOW)
    in_sight(page, LOW)
    assert not page.evaluate(OPEN)
    for go, cell in (
        (lambda: page.evaluate("(id) => { location.hash = id; }", other), other),
        (page.go_back, LOW),
        (page.go_forward, other),
    ):
        go()
        until(page, IS_TARGET, cell)
        in_sight(page, cell)
    # An address that isn't on the page, or is none at all.
    scrolled = page.evaluate("() => scrollY")
    for nothing in ("r1-qwen/aime24/9,9", "%E0%A4%A", "__search"):
        page.evaluate("(id) => history.replaceState(null, '', `#${id}`)", nothing)
        page.evaluate("() => dispatchEvent(new HashChangeEvent('hashchange'))")
    assert page.evaluate("() => scrollY") == scrolled


@pytest.mark.parametrize("cell", ["grpo/0/3/1,1", "supervised/0.6/mean/2,2"])
def test_a_permalink_to_a_study_leads_to_the_page_that_shows_its_cell(
    page: Page, home: str, cell: str
) -> None:
    """Studies had all their grids on their own page."""
    study = f"{home}studies/{OURS}/"
    page.goto(f"{study}#{cell}", wait_until="load")
    setting, _, seed, _ = cell.split("/")
    # A seed has a page of its own; the mean of the seeds stands for them on all others.
    shown_by = f"setting/{setting}/" if seed == "mean" else f"seed/{seed}/"
    page.wait_for_url(f"{study}{shown_by}#{cell}")
    until(page, IS_TARGET, cell)


# --- by the keyboard, in a page that the theme puts in anew -------------------------------------

FIRST_CELL = """() => document.activeElement.matches("[role=button]")
  && document.querySelector(".ga-skip").hash.slice(1)
    === document.activeElement.closest("figure").id"""


@pytest.mark.parametrize("early", [True, False], ids=["before it is put in", "after"])
def test_a_link_for_the_keyboard_skips_to_the_first_heatmap_and_on(
    page: Page, home: str, early: bool
) -> None:
    """The theme fetches the page again after the first link in it; both ends of that are tried."""
    arrive(page, home + MODEL)
    until(page, "() => !!document.querySelector('figure.ga-figure [role=button]')")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(home + MODEL, hold)
    skip = page.locator("a.ga-skip")
    assert skip.bounding_box()["width"] <= 1  # type: ignore[index]
    skip.focus()
    assert skip.bounding_box()["width"] > 100  # type: ignore[index]
    page.keyboard.press("Enter")
    until(page, "() => location.hash.startsWith('#grid/') && !!document.querySelector(':target')")
    page.evaluate("() => { window.before = document.querySelector('figure'); }")
    if early:
        page.keyboard.press("Tab")
        until(page, FIRST_CELL)
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    until(page, "() => !window.before.isConnected && document.activeElement !== document.body")
    if not early:
        page.keyboard.press("Tab")
    until(page, FIRST_CELL)
    # A row of the ranks leads to its cell; the theme takes no link of a drawing for the page's.
    row = page.locator("a.ga-row").first
    row.click()
    until(page, "() => !!document.querySelector('.ga-target')")
    at = page.url.partition("#")[2]
    assert at.endswith("/" + str(row.get_attribute("data-cell")))
    assert page.locator(".ga-target").get_attribute("id") == at
    assert page.evaluate("() => !!window.before"), "the page was loaded anew"


# --- tables and statements ----------------------------------------------------------------------


def test_statements_are_filtered_and_tables_sorted(page: Page, home: str) -> None:
    page.goto(f"{home}{STUDY}checks/#statements")
    until(page, "() => !!document.querySelector('.ga-filter')")
    for name, number in (("Holds (13)", 13), ("Doesn't hold (15)", 15)):
        page.get_by_role("button", name=name, exact=True).click()
        assert page.locator("li.ga-claim:visible").count() == number
    table = page.locator("#statements table.ga-sortable")
    column = "all => all.map((row) => row.cells[3].textContent)"
    before = table.locator("tbody tr").evaluate_all(column)
    for order in ("descending", "ascending"):
        table.locator("th").nth(3).locator("button").click()
        assert table.locator(f"th[aria-sort={order}]").inner_text().startswith("Hold")
        found = [int(text) for text in table.locator("tbody tr").evaluate_all(column)]
        assert found == sorted(map(int, before), reverse=order == "descending")
    table.locator("th").nth(3).locator("button").click()
    assert table.locator("tbody tr").evaluate_all(column) == before
    # A link unfolds what it leads to.
    page.evaluate("(id) => { location.hash = id; }", LOW)
    until(page, IS_TARGET, LOW)
    assert page.locator(f'[id="{LOW}"]').is_visible()
