"""Pages without our script: JavaScript off, a feed reader, offline, a disk, back, zoom."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup, Tag
from expected import (
    BENCHMARKS,
    MODELS,
    SETTINGS,
    Point,
    Shown,
    extreme,
    items,
    name_of,
    rows,
    shown,
    study_of,
    trials,
)
from playwright.sync_api import Browser, BrowserContext, Error, Page, ViewportSize
from site_builds import (
    DYNTS,
    FIGURE,
    GRPO,
    Build,
    article,
    grid_of,
    serving,
    text_of,
)

from small_sites import FLAT_HOST
from views import PHONE, WIDE, Visit, arrive, until

MODEL = f"studies/{DYNTS}/model/r1-qwen/"
SETTING = f"studies/{GRPO}/setting/after_t125/"
CHECKS = f"studies/{GRPO}/checks/"
TABLES = {
    MODEL: [f"r1-qwen/{benchmark}" for benchmark in ("average", *list(BENCHMARKS)[:-1])],
    f"studies/{DYNTS}/benchmark/aime24/": [f"{model}/aime24" for model in MODELS],
    f"studies/{GRPO}/setting/": list(SETTINGS),
    SETTING: ["after_t125"],
}
"""Pages of every kind that has data tables, and the grids on each."""
LEADS = {
    f"studies/{DYNTS}/": ["r1-llama/average", "r1-qwen/average"],
    f"studies/{GRPO}/": list(SETTINGS),
}
"""Pages with heatmaps that only stand for their study."""
DRAWN = {MODEL: 5, SETTING: 2, "studies/": 21}
"""How many heatmaps some have, which are looked at on a phone too."""
AXES = {
    DYNTS: ("Ratio", "Local window size"),
    GRPO: ("Number of x's digits", "Number of y's digits"),
}


# --- what has to be read ------------------------------------------------------------------------


def cell_texts(grid: str) -> dict[str, list[str]]:
    """A grid's data table by level of y, worked out without the package.

    The intervals are the wider of Wilson's two: of the trials, and of the items each counted once.
    An average has none here.
    """
    n, asked = trials(grid), items(grid)
    return {y: [_cell_text(cell, n, asked) for cell in row] for y, row in rows(grid).items()}


def _cell_text(cell: Shown, n: int | None, asked: int | None) -> str:
    if n is None or asked is None:
        return f"{cell.text} (disputed)" if cell.disputed else cell.text
    share = round(float(cell.text) / 100 * n) / n
    ends = [_wilson(share, n), _wilson(share, asked)]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return f"{cell.text} ({100 * low:.1f} to {100 * high:.1f})"


def _wilson(share: float, n: int) -> tuple[float, float]:
    z = 1.959964
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * (share * (1 - share) / n + (z / (2 * n)) ** 2) ** 0.5 / (1 + z * z / n)
    return centre - half, centre + half


_CELL = re.compile(
    r"(?P<text>[\d.]+(?: \(disputed\))?)(?P<interval> \([\d.]+ to [\d.]+\))?"
    r"(?: n = \d+)?(?: (?P<mark>best|best undisputed|may be best))?"
)


def bare(texts: dict[str, list[str]], grid: str) -> dict[str, list[str]]:
    """A data table as it can be held against `cell_texts`: an average loses its intervals."""
    found = {y: [_CELL.fullmatch(text) for text in row] for y, row in texts.items()}
    for y, row in found.items():
        assert all(row), (grid, y, texts[y])
        assert {bool(match["interval"]) for match in row if match} == {study_of(grid) == DYNTS}
    # Cells that are no best ones, but may be, are a matter of the tests.
    marks = [
        match["mark"] if match["mark"] != "may be best" else None
        for row in found.values()
        for match in row
        if match
    ]
    assert marks == [_mark(grid, point) for point in shown(grid)], grid
    average = grid.endswith("/average")
    return {
        y: [match["text"] + ("" if average else match["interval"] or "") for match in row if match]
        for y, row in found.items()
    }


def best_of(grid: str, *, undisputed: bool = False) -> tuple[str, list[Point]]:
    """The best value, and where it is; of all cells, or of those that aren't disputed."""
    cells = {
        point: cell for point, cell in shown(grid).items() if not (undisputed and cell.disputed)
    }
    best = max(Decimal(cell.text) for cell in cells.values())
    found = [point for point, cell in cells.items() if Decimal(cell.text) == best]
    return cells[found[0]].text, found


def best_is_disputed(grid: str) -> bool:
    """Whether every cell with the best value is disputed."""
    return all(shown(grid)[point].disputed for point in best_of(grid)[1])


def _mark(grid: str, point: Point) -> str | None:
    """What a data table says of a cell: whether it has the best value, of all or of the sure."""
    if point in best_of(grid)[1]:
        return "best"
    if best_is_disputed(grid) and point in best_of(grid, undisputed=True)[1]:
        return "best undisputed"
    return None


def best_said(grid: str) -> str:
    """How a picture in words tells the best value, its unit and its cells.

    Where every cell with it is disputed, the best undisputed value and its cells follow.
    """
    value, points = best_of(grid)
    if not best_is_disputed(grid):
        return _value_at(grid, value, points)
    sure = _value_at(grid, *best_of(grid, undisputed=True))
    extreme = extreme_of(grid).lower()
    return f"{_value_at(grid, f'{value} (disputed)', points)}; {extreme} undisputed: {sure}"


def extreme_of(grid: str) -> str:
    """What the best value is called: nobody chooses numbers of digits."""
    return "Highest" if study_of(grid) == GRPO else "Best"


def _value_at(grid: str, value: str, points: list[Point]) -> str:
    unit = "" if study_of(grid) == GRPO else " %"
    number, _, disputed = value.partition(" ")
    x_label, y_label = AXES[study_of(grid)]
    ordered = sorted(points, key=lambda point: (Decimal(point[1]), Decimal(point[0])))
    cells = "; ".join(f"{x_label} {x}, {y_label} {y}" for x, y in ordered)
    return f"{number}{unit}{f' {disputed}' if disputed else ''} at {cells}"


# --- without JavaScript -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(browser: Browser) -> Iterator[BrowserContext]:
    """A browser with JavaScript off."""
    context = browser.new_context(viewport=WIDE, java_script_enabled=False, accept_downloads=True)
    yield context
    context.close()


SEEN = """() => {
  const seen = (element) =>
    element.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true});
  const texts = (elements) => [...elements].filter(seen).map((one) => one.innerText.trim());
  return [...document.querySelectorAll("figure.ga-figure")].map((figure) => {
    const row = figure.closest(".ga-multiples");
    const named = (one) => one.dataset.of === figure.id;
    const parts = row ? [...row.querySelectorAll("[data-of]")].filter(named) : [figure];
    const within = (selector) => parts.flatMap((part) => [...part.querySelectorAll(selector)]);
    const bodies = parts.filter((part) => part.localName === "tbody" && seen(part)).map((body) =>
      [body.parentNode.tHead.rows[0], ...[...body.rows].filter((one) => one.cells.length > 1)]);
    return {
      id: figure.id,
      label: figure.querySelector("svg").getAttribute("aria-label"),
      tables: [...bodies, ...within("table").filter(seen).map((table) => [...table.rows])]
        .map((rows) => rows.map((row) => texts(row.cells))),
      items: texts(within("ul > li")),
    };
  });
}"""
"""What can be seen of each figure: its tables, and where its values come from."""


def unfold(page: Page) -> None:
    """Open what is folded with heatmaps in it."""
    for summary in page.locator("details.ga-fold:has(.ga-multiples) > summary").all():
        summary.click()


@pytest.mark.parametrize("path", [*TABLES, *LEADS, "studies/"])
def test_without_javascript_everything_can_be_read(
    plain: BrowserContext, home: str, path: str
) -> None:
    page = plain.new_page()
    page.goto(home + path, wait_until="load")
    assert page.locator(".ga-multiples td:visible").count() == 0
    unfold(page)
    assert page.locator(".ga-multiples td:visible").count() == 0
    best_cells_are_said_and_seen(page, (TABLES | LEADS).get(path, []))
    if path in TABLES:
        every_value_interval_and_source_can_be_opened(page, TABLES[path])
    if path == MODEL:
        tables_say_all_that_cards_do(page)
    page.set_viewport_size(PHONE)
    drawings = page.locator("figure.ga-figure > svg").all() if path in DRAWN else []
    assert len(drawings) == DRAWN.get(path, 0)
    for drawing in drawings:
        for seen, least in ((drawing, 60), (drawing.locator(".cells_marks path").first, 8)):
            box = seen.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) > least
    page.close()


def best_cells_are_said_and_seen(page: Page, grids: list[str]) -> None:
    labels = {seen["id"].removeprefix(FIGURE): seen["label"] for seen in page.evaluate(SEEN)}
    for grid in grids:
        best = labels[grid].partition(f"{extreme_of(grid)}: ")[2]
        assert f"{best} ".partition(". ")[0] == best_said(grid)
        marked = page.locator(f'[id="{FIGURE}{grid}"] .best_marks > :visible')
        ties = len(best_of(grid)[1])
        assert marked.count() == (ties if ties <= 3 else 0), grid  # a sentence for more


def every_value_interval_and_source_can_be_opened(page: Page, grids: list[str]) -> None:
    for number, summary in enumerate(page.locator(".ga-actions > details > summary").all()):
        if number % 2:
            summary.focus()
            page.keyboard.press("Enter")
        else:
            summary.click()
    figures = {seen["id"].removeprefix(FIGURE): seen for seen in page.evaluate(SEEN) if seen["id"]}
    assert list(figures) == grids
    for grid, figure in figures.items():
        head, *body = figure["tables"][0]
        texts = {row[0]: [" ".join(text.split()) for text in row[1:]] for row in body}
        assert len(head) == len(body[0])
        assert bare(texts, grid) == cell_texts(grid)
        # Where the values come from: of each source, how many cells.
        counted = re.findall(r": (\d+) cells?(?=;|$)", "\n".join(figure["items"]), re.MULTILINE)
        assert sum(map(int, counted)) == len(shown(grid))


def tables_say_all_that_cards_do(page: Page) -> None:
    assert page.locator(".ga-card, [role=button]:is(path)").count() == 0
    row = page.locator(".ga-multiples").first
    for summary in row.locator("summary").all():
        summary.evaluate("(one) => { one.parentElement.open = true; }")
    text = " ".join(row.inner_text().split())
    for part in (
        "52.0 (34.9 to 68.6) best", "47.3 (30.8 to 64.5)", "n = 150 trials per cell",
        "Data table", "row 2000: 5 cells",
        "Faded: no difference here is shown to be beyond chance.",
    ):  # fmt: skip
        assert part in text
    table = row.locator('tbody[data-of="grid/r1-qwen/aime24"]')
    assert table.locator("td strong").all_inner_texts() == ["52.0"]


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_without_javascript_the_navigation_leads_on_and_files_can_be_saved(
    plain: BrowserContext, home: str, viewport: ViewportSize
) -> None:
    page = plain.new_page()
    page.set_viewport_size(viewport)
    page.goto(f"{home}studies/{DYNTS}/", wait_until="load")
    page.locator("article a", has_text="R1-Qwen").first.click()
    assert page.url == home + MODEL
    if viewport is WIDE:
        files_can_be_saved(page)
    # Where there is room, a study's pages have the other levels above their heading instead.
    levels = "nav.ga-switch a"
    if viewport is PHONE:
        page.locator("header label[for=__drawer]").click()
        levels = "nav.md-nav--primary a.md-nav__link:visible"
    page.locator(levels, has_text="R1-Llama").last.click()
    assert page.url == f"{home}studies/{DYNTS}/model/r1-llama/"
    page.close()


def files_can_be_saved(page: Page) -> None:
    links = page.locator(".ga-downloads a[download]")
    addresses = links.evaluate_all("(all) => all.map((one) => one.href)")
    assert len(addresses) >= 5 * len(TABLES[MODEL])
    for address in addresses:
        assert page.request.head(address).ok, address
    with page.expect_download() as saved:
        page.get_by_text("Download all", exact=True).click()
        files = page.locator(f'.ga-downloads[data-of="{FIGURE}r1-qwen/aime24"]')
        files.locator("summary").click()
        files.locator('a[download][href$=".csv"]').click()
    text = Path(saved.value.path()).read_text(encoding="utf-8")
    assert all(cell.text in text for cell in shown("r1-qwen/aime24").values())


# --- a feed reader ------------------------------------------------------------------------------


def reduced(part: Tag, *, drawings: bool) -> BeautifulSoup:
    """A part of a page as feed readers leave it: no styles, scripts, classes, ids or roles."""
    found = BeautifulSoup(str(part), "html.parser")
    for element in found(["style", "script", "template", "button", *([] if drawings else ["svg"])]):
        element.decompose()
    for element in found("br"):
        element.replace_with("\n")
    for element in found.find_all(True):
        attributes = ("href", "src", "alt", "scope", "aria-label", "viewBox", "d")
        for name in set(element.attrs) - set(attributes):
            del element[name]
    return found


@pytest.mark.parametrize("path", TABLES)
def test_a_feed_reader_has_values_best_intervals_and_sources_in_order(
    atlas: Build, path: str
) -> None:
    """With SVG or without: what drawings say is in their labels, and all else beside them."""
    page = atlas.page(path)
    left = reduced(article(page), drawings=False)
    rows = [row for row in page.select(".ga-multiples") if row.select("figure[id]")]
    grids = [grid_of(figure) for row in rows for figure in row.select("figure[id]")]
    assert grids == list(TABLES[path])
    for row in rows:
        around = reduced(row, drawings=True)
        labels = [str(svg.extract()["aria-label"]) for svg in around.select("figure > svg")]
        [table] = around.select('[aria-label^="Data table of "] table')
        assert {th.get("scope") for th in table.select("thead th")} == {"col"}
        bodies = [body["data-of"] for body in row.select("tbody[data-of]")]
        tables = dict(zip(bodies, table.select("tbody"), strict=True))
        for named, label in zip(row.select("figure[id]"), labels, strict=True):
            grid, body = grid_of(named), tables.pop(named["id"])
            texts = {}
            for line in body.select("tr:has(> td)"):
                head, *cells = line.find_all(["th", "td"])
                assert (head.name, head.get("scope")) == ("th", "row")
                texts[text_of(head)] = [text_of(cell) for cell in cells]
            assert bare(texts, grid) == cell_texts(grid)
            assert f"{extreme_of(grid)}: {best_said(grid)}. " in f"{label} "
            assert f"SVG of {name_of(grid)}" in text_of(around)
        assert tables == {}
        every = text_of(around)
        names = ["Data table", "Download all", "Where the values come from"]
        assert sorted(names, key=every.find) == names
        assert min(map(every.find, names)) >= 0
    # What the best cells are stands in the text too.
    summary = next(table for table in left.select("table") if "Spread" in text_of(table.tr))
    spread = {text_of(row.th): text_of(row.td) for row in summary.select("tbody tr")}
    assert set(spread) == {name_of(grid) for grid in TABLES[path]}
    for name, best in spread.items():
        grid = next(table for table in TABLES[path] if name_of(table) == name)
        assert best == extreme(grid, max)


@pytest.mark.parametrize("path", ["studies/", *TABLES, *LEADS, CHECKS, f"studies/{DYNTS}/checks/"])
def test_no_word_is_doubled_or_run_together(atlas: Build, path: str) -> None:
    """As hidden texts are read out, copied, and shown where there is no stylesheet."""
    left = reduced(article(atlas.page(path)), drawings=False)
    for code in left(["code", "pre"]):
        code.replace_with("`")
    wrong = []
    for element in left.select("p, li, figcaption, summary, h1, h2, h3, th"):
        for block in element.select("ul, table, details"):
            block.extract()
        text = text_of(element)
        wrong += re.findall(r"\b([A-Za-z]{2,})\s+\1\b", text)
        wrong += re.findall(r"\s[,;:.](?:\s|$)|\.\.(?!\.)|[a-z][.;:,][A-Z]|\(\s|\s\)", text)
        if element.name in ("p", "summary", "figcaption") and not text:
            wrong.append(f"an empty {element.name}")
    assert wrong == []


# --- offline, and from a disk -------------------------------------------------------------------


def test_a_loaded_page_works_offline(browser: Browser, home: str) -> None:
    context = browser.new_context(viewport=WIDE)
    visit = Visit(context.new_page())
    page = visit.page
    arrive(page, home + MODEL)
    # With instant navigation the theme fetches the page once, at the first change of its address.
    with page.expect_response(home + MODEL) as fetched:
        page.evaluate("(id) => { location.hash = id; }", "r1-qwen/aime24/0.1,500")
    fetched.value.finished()
    until(page, "() => !!document.querySelector('.ga-target')")
    context.set_offline(True)
    page.locator(".ga-actions summary").first.click()
    assert page.locator("td", has_text="52.0 (34.9 to 68.6)").is_visible()
    page.evaluate("(id) => { location.hash = id; }", "r1-qwen/gpqa_d/0.3,2000")
    until(page, MARKED, "r1-qwen/gpqa_d/0.3,2000")
    page.locator("label[for^=__palette]:visible").click()
    until(page, "() => document.body.dataset.mdColorScheme === 'slate'")
    # The theme asks for its icon, and on a slow machine for its search index.
    ours = re.compile(r"/(studies|grids|assets/gridatlas)/")
    assert [url for url in visit.failed if ours.search(url)] == []
    assert [line for line in visit.messages if line.startswith("pageerror")] == []
    with pytest.raises(Error, match="ERR_INTERNET_DISCONNECTED"):
        page.reload()
    context.close()


def test_pages_can_be_read_from_a_disk(browser: Browser, flat: Path) -> None:
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.goto((flat / "studies/index.html").as_uri(), wait_until="load")
    for link in ("tiny/index.html", "large/index.html"):
        page.locator(f'article a[href$="{link}"]').first.click()
        page.wait_for_url(f"**/{link}")
    page.wait_for_load_state("load")
    assert page.url == (flat / "studies/tiny/model/large/index.html").as_uri()
    page.locator("h1", has_text="large").wait_for()
    drawing = page.locator("figure.ga-figure > svg").first
    box = drawing.bounding_box()
    assert box is not None
    assert 80 < box["width"] < 430, "without our stylesheet it would be as wide as the page"
    assert drawing.locator(".cells_marks path").first.is_visible()
    page.locator(".ga-actions summary").first.click()
    assert page.locator(".ga-actions td", has_text="24.5").first.is_visible()
    context.close()


# --- back and forward ---------------------------------------------------------------------------

PLACE = """(id) => ({
  top: Math.round(document.getElementById(id).getBoundingClientRect().top),
  visits: window.visits || null,
})"""
MARKED = "(id) => getComputedStyle(document.getElementById(id)).strokeWidth === '10px'"
AT = """([id, top]) => {
  const cell = document.getElementById(id);
  return cell && Math.abs(cell.getBoundingClientRect().top - top) < 40;
}"""
FOLLOW = """(href) => {
  window.visits = (window.visits || 0) + 1;
  [...document.querySelectorAll("a")].find((one) => one.href === href).click();
}"""
"""Follows a link, wherever it is on the page, and counts in this document."""


@pytest.fixture(params=["whole pages", "instant"])
def tiny_home(
    request: pytest.FixtureRequest, browser: Browser, flat: Path
) -> Iterator[tuple[Page, str, bool]]:
    """A reader's page, the address of the site, and whether its pages take each other's place."""
    context = browser.new_context(viewport={"width": 500, "height": 500}, reduced_motion="reduce")
    if request.param == "instant":
        # The theme does so only at the site's own address.
        context.route(
            FLAT_HOST + "**",
            lambda route: route.fulfill(path=flat / urlsplit(route.request.url).path.lstrip("/")),
        )
        yield context.new_page(), FLAT_HOST, True
    else:
        with serving(flat) as address:
            yield context.new_page(), address, False
    context.close()


def test_back_leads_to_the_cell_again(tiny_home: tuple[Page, str, bool]) -> None:
    page, address, instant = tiny_home
    cell = "large/0.2,16"
    link = f"{address}studies/tiny/model/large/index.html#{cell}"
    other = f"{address}studies/tiny/model/small/index.html"
    arrive(page, link)
    until(page, MARKED, cell)
    first = page.evaluate(PLACE, cell)
    assert 0 <= first["top"] < 500
    for visits in (1, 2):
        page.evaluate(FOLLOW, other)
        page.wait_for_url(other)
        page.locator("article h1", has_text="small").wait_for()
        page.go_back()
        page.wait_for_url(link)
        page.locator(f'[id="{cell}"]').wait_for()
        until(page, AT, [cell, first["top"]])
        assert page.evaluate(PLACE, cell)["visits"] == (visits if instant else None)
        until(page, MARKED, cell)
        page.go_forward()
        page.locator("article h1", has_text="small").wait_for()
        page.go_back()
        page.locator(f'[id="{cell}"]').wait_for()
        until(page, AT, [cell, first["top"]])
        until(page, MARKED, cell)
