"""What a reader can do beside a cell's card: compare, sort, filter, switch, share, search."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route
from site_builds import DYNTS

from views import Visit, arrive, until

STUDY = f"studies/{DYNTS}/"
MODEL = f"{STUDY}model/r1-qwen/"
FIRST_CELL = """() => document.activeElement.matches("[role=button]")
  && document.querySelector(".ga-skip").hash.slice(1)
    === document.activeElement.closest("figure").id"""
BEST, LOW = "r1-qwen/aime24/0.4,2000", "r1-qwen/aime24/0.1,500"
OPEN = "() => !!document.querySelector('.ga-card[role=dialog]:not([hidden])')"


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(reduced_motion="reduce")
    opened.grant_permissions(["clipboard-read", "clipboard-write"])
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, home: str) -> Iterator[Page]:
    """A page of the site; nothing may be said on its console."""
    opened = context.new_page()
    visit = Visit(opened, urlsplit(home).netloc)
    yield opened
    opened.close()
    assert visit.messages == []


def cell(page: Page, key: str) -> Locator:
    return page.locator(f'[id="{key}"]')


@pytest.mark.parametrize("by", ["shift", "key", "keys alone"])
def test_two_cells_are_compared(page: Page, home: str, by: str) -> None:
    page.goto(home + MODEL)
    if by == "keys alone":
        cell(page, BEST).focus()
        for key in ("c", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "c"):
            page.keyboard.press(key)
    else:
        cell(page, BEST).click()
        until(page, OPEN)
    if by == "shift":
        cell(page, LOW).click(modifiers=["Shift"])
    elif by == "key":
        page.get_by_role("button", name="Compare").click()
        page.keyboard.press("Escape")
        cell(page, LOW).focus()
        page.keyboard.press("c")
    until(page, "() => document.querySelector('.ga-card').innerText.includes('Against')")
    text = page.locator(".ga-card").inner_text()
    # Newcombe's interval of 34.9 to 68.6 and 26.8 to 60.2, by hand.
    assert "Against Ratio 0.4, Local window size 2000 tokens, 52.0 %." in text
    assert "Difference: −9.3 points (95 %: −32.3 to +15.2). No difference shown" in text
    assert page.locator(".ga-ring-held.ga-on").count() == 1
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.locator(".ga-ring-held.ga-on").count() == 0


def test_the_address_has_what_is_open(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    cell(page, BEST).click()
    until(page, OPEN)
    assert page.url == f"{home}{MODEL}#cell={BEST}"
    page.get_by_role("button", name="Copy value").click()
    until(page, "() => document.querySelector('.ga-card').innerText.includes('Copied')")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith(
        "R1-Qwen | AIME24, Ratio 0.4, Local window size 2000 tokens: 52.0 % "
        "(95 % interval 34.9 to 68.6 %, n = 150). R1-Qwen figure"
    )
    assert copied.endswith(f"{home}{MODEL}#{BEST}")
    page.keyboard.press("Escape")
    assert page.url == home + MODEL
    page.goto(f"{home}{MODEL}?card={BEST}")
    until(page, OPEN)
    assert "52.0 %" in page.locator(".ga-card").inner_text()
    links = page.locator(".ga-card a").evaluate_all("all => all.map((one) => one.href)")
    assert links[:2] == [
        f"{home}{STUDY}checks/#readings", f"{home}{STUDY}reproduction/#commands",
    ]  # fmt: skip
    for link in links[:2]:
        page.goto(link)
        assert page.locator(f"[id={link.partition('#')[2]}]").count() == 1


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


def test_a_cell_is_opened_in_the_version_that_the_address_names(page: Page, home: str) -> None:
    page.goto(f"{home}{MODEL}#cell={BEST}&show=plain+values&open=statistics")
    until(page, OPEN)
    assert "52.0 %" in page.locator(".ga-card").inner_text()
    assert page.locator("#statistics[open]").count() == 1
    shown = page.locator(".ga-picture:not([hidden])")
    assert shown.get_attribute("data-version") == "plain values"
    assert shown.locator(".ga-ring-cell.ga-on").count() == 1


def test_a_heatmap_shows_another_reading(page: Page, home: str) -> None:
    page.goto(home + MODEL)
    page.locator(".ga-readings button", has_text="gemma").click()
    until(page, "() => location.hash.startsWith('#show=R1-Qwen+figure')")
    figure = page.locator(".ga-picture:not([hidden]) figure", has_text="AIME24")
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


@pytest.mark.parametrize(
    ("address", "folds"),
    [
        (f"{MODEL}#statistics", ["statistics"]),
        (f"{MODEL}#statements-average", ["statements"]),
        (f"{STUDY}checks/#statements", ["statements"]),
        (f"{STUDY}checks/#no-such-place", []),
    ],
)
def test_an_address_opens_what_it_is_folded_in(
    page: Page, home: str, address: str, folds: list[str]
) -> None:
    """Where the page is loaded, and where a link leads to it without loading."""
    page.goto(home + address, wait_until="load")
    opened = (
        "() => [...document.querySelectorAll('details.ga-fold[open][id]')].map((one) => one.id)"
    )
    assert page.evaluate(opened) == folds
    arrive(page, home + STUDY)
    page.evaluate("(to) => { document.querySelector('.ga-crumbs a').href = to; }", home + address)
    page.locator(".ga-crumbs a").first.click()
    place = address.partition("#")[2]
    until(page, f"() => location.hash === '#{place}' && document.readyState === 'complete'")
    if folds:
        until(page, f"() => document.getElementById('{folds[0]}')?.open")
    assert page.evaluate(opened) == folds


def test_a_link_for_the_keyboard_skips_to_the_first_heatmap(page: Page, home: str) -> None:
    arrive(page, home + MODEL)
    until(page, "() => !!document.querySelector('figure.ga-figure [role=button]')")
    skip = page.locator("a.ga-skip")
    assert skip.bounding_box()["width"] <= 1  # type: ignore[index]
    skip.focus()
    assert skip.bounding_box()["width"] > 100  # type: ignore[index]
    page.keyboard.press("Enter")
    until(page, "() => location.hash.startsWith('#grid/')")
    page.keyboard.press("Tab")
    until(page, FIRST_CELL)


@pytest.mark.parametrize("early", [True, False], ids=["before it is put in", "after"])
def test_keyboard_goes_on_although_the_theme_puts_the_page_in_anew(
    page: Page, home: str, early: bool
) -> None:
    """It fetches the page again after the first link within it; both ends of that are tried."""
    arrive(page, home + MODEL)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(home + MODEL, hold)
    page.locator("a.ga-skip").focus()
    page.keyboard.press("Enter")
    until(page, "() => !!document.querySelector(':target')")
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


def test_a_link_unfolds_what_it_leads_to(page: Page, home: str) -> None:
    page.goto(f"{home}{STUDY}checks/#{LOW}")
    until(page, "() => !!document.querySelector('.ga-target')")
    assert cell(page, LOW).is_visible()


def test_a_row_of_the_ranks_leads_to_its_cell(page: Page, home: str) -> None:
    """With instant navigation, which takes no link of a drawing for one of the page."""
    arrive(page, home + MODEL)
    page.evaluate("() => { window.same = true; }")
    page.locator("a.ga-row").first.click()
    until(page, "() => !!document.querySelector('.ga-target')")
    row = page.locator("a.ga-row").first
    at = page.url.partition("#")[2]
    assert at.endswith("/" + str(row.get_attribute("data-cell")))
    assert page.locator(".ga-target").get_attribute("id") == at
    assert page.evaluate("() => window.same")


def test_search_finds_a_cell_and_opens_it(page: Page, searched_home: str) -> None:
    page.goto(f"{searched_home}{STUDY}")
    page.locator("input[name=query]").first.click()
    page.keyboard.type("qwen aime24 2000 0.4")
    until(page, "() => !!document.querySelector('.md-search-result__link[href*=\"0.4,2000\"]')")
    hrefs = page.locator(".md-search-result__link").evaluate_all(
        "all => all.map((one) => one.href)"
    )
    found = next(href for href in hrefs if href.endswith(f"#{BEST}"))
    page.goto(f"{found.partition('?')[0].partition('#')[0]}?h=aime24#{BEST}")
    until(page, OPEN)
    assert "52.0 %" in page.locator(".ga-card").inner_text()
