"""Naughty strings in every place are text in every place: nothing runs, nothing breaks."""

import csv
import io
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import cmarkgfm
import pytest
import site_builds
from bs4 import BeautifulSoup
from builders import write_study
from cmarkgfm.cmark import Options
from naughty import STUDIES, Naughty, naughty, plain
from playwright.sync_api import Browser, Page
from site_builds import Build

from gridatlas.assessment.pipeline import load_data
from gridatlas.build.site import Site, build
from gridatlas.data.tables import unguarded
from gridatlas.model.problems import printable
from gridatlas_review.compare import compare_snapshots, make_report
from gridatlas_review.markdown import to_markdown
from gridatlas_review.snapshot import snapshot_of

ATTACKS = [study for study in STUDIES if study != "plain"]
every_attack = pytest.mark.parametrize("study", ATTACKS)

HOOKS = """
window.seen = [];
for (const name of ["alert", "confirm", "prompt", "print", "open"])
  window[name] = () => { window.seen.push(name); };
addEventListener("securitypolicyviolation", (event) =>
  window.seen.push(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
Object.defineProperty(window, "ran", { set() { window.seen.push("ran"); } });
"""


@pytest.fixture(scope="module")
def site(base: Path) -> Build:
    return naughty(base)


@pytest.fixture(scope="module")
def home(site: Build) -> Iterator[str]:
    with site_builds.serving(site.site, site_builds.PREFIX) as address:
        yield address


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(service_workers="block")
    context.add_init_script(HOOKS)
    page = context.new_page()
    page.set_default_timeout(120_000)
    yield page
    context.close()


@pytest.fixture
def faults(page: Page) -> Iterator[list[str]]:
    """What a page did that it should not have."""
    found: list[str] = []

    def dialog(event: Any) -> None:
        found.append(f"dialog {event.message}")
        event.dismiss()

    def on_console(event: Any) -> None:
        # Chromium asks for a picture of the site's beside a drawing of its own.
        if event.type in ("error", "warning") and "favicon" not in event.location["url"]:
            found.append(f"console {event.text}")

    def failed(event: Any) -> None:
        found.append(f"error {event}")

    def asked(event: Any) -> None:
        if not event.url.startswith(("http://127.0.0.1", "http://localhost", "data:", "blob:")):
            found.append(f"request {event.url}")

    for event, handler in (
        ("dialog", dialog), ("console", on_console), ("pageerror", failed), ("request", asked)
    ):  # fmt: skip
        page.on(event, handler)  # type: ignore[call-overload]
    yield found
    for event, handler in (
        ("dialog", dialog), ("console", on_console), ("pageerror", failed), ("request", asked)
    ):  # fmt: skip
        page.remove_listener(event, handler)


def pages_of(site: Build, study: str) -> list[str]:
    """The addresses of a study's pages, and of the files that are pages."""
    folder = site.site / "studies" / study
    pages = sorted(file.parent for file in folder.rglob("index.html"))
    return [f"{page.relative_to(site.site).as_posix()}/" for page in pages]


def frames_of(site: Build, study: str) -> list[str]:
    files = sorted((site.site / "grids" / study).rglob("*.html"))
    return [file.relative_to(site.site).as_posix() for file in files]


def text_of(page: Page, selector: str = "body") -> str:
    return plain(page.eval_on_selector(selector, "element => element.textContent"))


LANDMARKS = """[...document.querySelectorAll("header, nav, main, article, footer, h1, figure")]
.map((element) => element.tagName).sort()"""


@pytest.fixture(scope="module")
def landmarks(site: Build, home: str, page: Page) -> list[list[str]]:
    """Of the pages of a plain study, and of the page with its fence."""
    found = []
    for address in [*pages_of(site, "plain"), "fence-plain/"]:
        page.goto(home + address)
        found.append(page.evaluate(LANDMARKS))
    return found


@every_attack
def test_nothing_runs_and_all_is_shown(
    site: Build,
    home: str,
    page: Page,
    landmarks: list[list[str]],
    faults: list[str],
    study: str,
) -> None:
    texts = STUDIES[study]
    addresses = pages_of(site, study)
    assert len(addresses) == len(pages_of(site, "plain")) == 6
    labels = {}
    for address, twin in zip([*addresses, f"fence-{study}/"], landmarks, strict=True):
        page.goto(home + address)
        assert page.evaluate(LANDMARKS) == twin, address
        assert page.evaluate("window.seen") == [], address
        labels[address] = text_of(page, "article")
    on_study = labels[f"studies/{study}/"]
    # A name within a sentence begins with a small letter.
    missing = [
        text
        for text in everywhere(texts)
        if plain(text) not in on_study and plain(text[0].lower() + text[1:]) not in on_study
    ]
    assert missing == []
    checks = labels[f"studies/{study}/checks/"]
    assert [text for text in texts.on_checks_page() if plain(text) not in checks] == []
    reproduction = labels[f"studies/{study}/reproduction/"]
    missing = [text for text in texts.on_reproduction_page() if plain(text) not in reproduction]
    assert missing == []
    assert plain(shlex.quote(texts["argument"])) in reproduction
    assert plain(texts["fence caption"]) in labels[f"fence-{study}/"]
    assert faults == []


def everywhere(texts: Naughty) -> list[str]:
    """The texts that the study's own page shows."""
    return [text for text in texts.everywhere() if text]


@every_attack
def test_frames_and_drawings_show_it_too(
    site: Build, home: str, page: Page, faults: list[str], study: str
) -> None:
    texts = STUDIES[study]
    for frame in frames_of(site, study):
        page.goto(home + frame)
        assert page.evaluate("window.seen") == []
        text = text_of(page)
        assert plain(texts["x one"]) in text
        drawing = home + frame.removesuffix(".html")
        for ending in (".svg", ".best.svg", ".reproduced.svg"):
            page.goto(drawing + ending)
            assert page.evaluate("window.seen") == []
            assert (
                page.evaluate("document.querySelectorAll('script, foreignObject, a').length") == 0
            )
    assert faults == []


@every_attack
def test_explore_shows_it_too(
    site: Build, home: str, page: Page, faults: list[str], study: str
) -> None:
    page.goto(f"{home}studies/{study}/facet/two/")
    page.get_by_role("button", name="Explore").first.click()
    page.locator(".ga-explore-chart svg").first.wait_for()
    marks = page.locator('.ga-explore-chart [aria-roledescription="rect mark"]')
    assert plain(STUDIES[study]["x one"]) in plain(str(marks.first.get_attribute("aria-label")))
    assert page.evaluate("window.seen") == []
    assert faults == []


@every_attack
def test_the_search_finds_text_only(home: str, site: Build, study: str) -> None:
    index = json.loads((site.site / "search/search_index.json").read_text("utf-8"))
    entries = [
        entry for entry in index["docs"] if entry["location"].startswith(f"studies/{study}/")
    ]
    assert entries
    for entry in entries:
        found = BeautifulSoup(entry["title"] + entry["text"], "html.parser")
        assert {tag.name for tag in found.find_all(True)} <= ALLOWED
        assert [tag.attrs for tag in found.find_all(True) if tag.attrs] == []


ALLOWED = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "br", "hr", "ol", "ul", "li", "dl", "dt"),
    *("dd", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "strong", "em"),
    *("code", "pre", "span"),
}


# --- files --------------------------------------------------------------------------------------


@every_attack
def test_downloads_hold_it_unchanged(site: Build, study: str) -> None:
    texts = STUDIES[study]
    folder = site.site / "grids" / study
    stems = sorted(file.with_suffix("") for file in folder.glob("*.csv"))
    assert len(stems) == 2
    for stem in stems:
        rows = list(csv.reader(io.StringIO(Path(f"{stem}.csv").read_text("utf-8"), newline="")))
        cells = {unguarded(text) for row in rows for text in row}
        for field in ("x id", "x one", "y one", "place"):
            assert texts[field].strip() in cells, field
        assert [text for row in rows for text in row if re.match(r"[=+@\-][^0-9]", text)] == []
        content = json.loads(Path(f"{stem}.json").read_text("utf-8"))
        assert (content["title"], content["metric"]["name"]) == (texts["title"], texts["metric"])
        assert content["x"] == {"id": texts["x id"], "label": texts["x"], "unit": "ms"}
        for ending in (".svg", ".best.svg", ".reproduced.svg"):
            tree = ElementTree.fromstring(Path(f"{stem}{ending}").read_text("utf-8"))
            tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
            assert tags <= {
                "svg",
                "circle",
                "g",
                "path",
                "text",
                "title",
                "style",
                "rect",
                "line",
                "defslinearGradient",
                "stop",
                "clipPath",
                "tspan",
                "linearGradient",
                "defs",
            }
            names = {name for element in tree.iter() for name in element.attrib}
            assert [name for name in names if name.lower().startswith("on")] == []


# --- Markdown -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(base: Path, site: Build) -> Site:
    return build(site.site.with_name("data"), cache=site_builds.shared_cache(base) / "gridatlas")


def shape(markdown: str) -> tuple[list[str], str]:
    """The elements of Markdown as GitHub shows it, with what they lead to, and its text."""
    # GitHub shows HTML in Markdown, too.
    html = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    found = BeautifulSoup(html, "html.parser")
    for link in found.select("a[href]"):
        # GitHub makes a link of an address in a text: it leads to where it says.
        if link.get_text() in (to := str(link["href"]), re.sub(r"^(https?://|mailto:)", "", to)):
            link.unwrap()
    elements = [
        f"{tag.name} {' '.join(sorted(tag.attrs))}".rstrip() for tag in found.find_all(True)
    ]
    leads = [str(tag.get(name)) for tag in found.find_all(True) for name in ("href", "src")]
    assert [lead for lead in leads if re.match(r"\s*(javascript|vbscript|data):", lead, re.I)] == []
    return elements, plain(found.get_text())


@every_attack
def test_a_diff_shows_it_in_a_comment(base: Path, tmp_path: Path, study: str) -> None:
    """Dear: several pairs of studies are loaded and compared for each attack."""

    def comment(name: str, more: str = "") -> tuple[list[str], str]:
        sides = []
        for number, value in enumerate(("1", "7")):
            folder = tmp_path / f"{name}{more}" / str(number) / "demo"
            file = STUDIES[name].study_file()
            file["metric"]["name"] += more
            file["claims"] = file["claims"][number:]
            second = {STUDIES[name].second_file: STUDIES[name].cells(second=True)}
            rows = STUDIES[name].cells()
            cells = re.sub(r",2,", f",{value},", rows) if number else rows
            write_study(folder, file, cells, second)
            loaded = load_data(folder.parent, "data")
            sides.append(snapshot_of(loaded, "data", f"side {number}", None))
        result = make_report(compare_snapshots(*sides))
        return shape(to_markdown(result, "https://atlas.example/"))

    elements, text = comment(study)
    # An answer is cut; of a long metric what is left of it doesn't change.
    more = " long" * 20 if "the answer is the same" in text else ""
    expected, _ = comment("plain", more)
    listed = "ul" in elements[: elements.index("table")]
    if not listed and "ul" in expected[: expected.index("table")]:
        # Of an answer that is cut, what is left doesn't change.
        expected = [*expected[: expected.index("ul")], *expected[expected.index("table") :]]
    assert elements == expected
    # White space that is none of a line's is escaped; \u200b keeps a name from being a link.
    text = re.sub(r"\\x(2028|2029|85|09|a0|3000)", " ", text).replace("\u200b", "")
    claim = printable(plain(STUDIES[study]["claim"]))[:200]  # longer ones are cut
    assert plain(claim.replace("\u200b", "")) in plain(text)
