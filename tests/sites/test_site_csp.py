"""The option `csp`: one policy in every page and as a header, and notebooks that keep it."""

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import site_builds
from bs4 import BeautifulSoup
from features import features, features_project
from site_builds import Build, Project

POLICY = "assets/gridatlas/csp.txt"
PAGES = {
    "home": "",
    "notes": "notes/",
    "script": "script/",
    "outputs": "outputs/",
    "overview": "studies/",
    "level": "studies/tiny/model/large/",
    "checks": "studies/tiny/checks/",
    "missing": "404.html",
}


@pytest.fixture(scope="module")
def site(base: Path) -> Build:
    return features(base)


@pytest.fixture(scope="module")
def plain(base: Path) -> Build:
    """The same site without the option."""
    return features_project(base / "plain", site_builds.shared_cache(base)).built()


def policy_of(page: BeautifulSoup) -> list[str]:
    return [str(meta["content"]) for meta in page.select('[http-equiv="Content-Security-Policy"]')]


def hashes_of(page: BeautifulSoup) -> set[str]:
    """Of what runs on a page, by another parser than that of the build."""
    return {
        f"'sha256-{base64.b64encode(hashlib.sha256(script.string.encode()).digest()).decode()}'"
        for script in page.select("script:not([src])")
        if script.get("type") in (None, "module") and script.string
    }


# --- the policy ---------------------------------------------------------------------------------


def test_every_page_has_the_one_policy_that_is_also_given_as_a_header(site: Build) -> None:
    text = (site.site / POLICY).read_text("utf-8").strip()
    pages = sorted(site.site.rglob("*.html"))
    assert len(pages) > 10
    allowed: set[str] = set()
    for path in pages:
        page = site_builds.parse(path)
        assert policy_of(page) == [text], path
        allowed |= hashes_of(page)
    assert set(re.findall(r"'sha256-[^']+'", text)) == allowed
    assert f"Content-Security-Policy: {text}" in site.log
    assert "csp: " not in site.log  # and it stops nothing
    assert "unsafe-eval" not in text
    assert "script-src 'self' 'sha256-" in text


@pytest.mark.parametrize("name", PAGES)
def test_the_policy_stands_ahead_of_all_that_loads_or_runs(site: Build, name: str) -> None:
    page = site.page(PAGES[name])
    assert page.head is not None
    names = [element.name for element in page.head.find_all(True)]
    first = next(index for index, name in enumerate(names) if name in ("script", "style", "link"))
    [policy] = page.select('[http-equiv="Content-Security-Policy"]')
    assert policy in page.head.find_all(True)[:first]
    # Browsers look for the encoding in so many bytes.
    assert str(page).index("<meta charset") < 1024


def test_a_second_build_over_the_first_has_the_policy_once(tiny: Callable[..., Project]) -> None:
    project = tiny({"csp": True})
    before = (project.built().site / POLICY).read_text("utf-8")
    project.write("docs/index.md", "# Home\n\n<script>document.title = 'new'</script>\n")
    again = project.built("--dirty")
    found = [policy_of(site_builds.parse(path)) for path in again.site.rglob("*.html")]
    after = (again.site / POLICY).read_text("utf-8")
    assert after != before
    assert found == [[after.strip()]] * len(found)


# --- what the policy stops ----------------------------------------------------------------------


def test_what_the_policy_stops_is_told_once_with_its_pages(
    tiny: Callable[..., Project],
) -> None:
    project = tiny({"csp": True}, theme={"name": "material"})
    project.write("docs/more.md", '# More\n\n<button onclick="run()">Run</button>\n')
    foreign = "<script src='https://cdn.example/a.js'></script>"
    project.write("docs/demo/own.html", f"<p onclick='own()'>{foreign}")
    build = project.build("--strict")
    assert build.status == 1
    site = project.built().site
    warnings = [line for line in build.log.splitlines() if "csp: " in line]
    # Pages for frames have none of the theme.
    pages = len([path for path in site.rglob("*.html") if site / "grids" not in path.parents]) - 1
    assert [re.sub(r"^.*?csp: ", "", line) for line in warnings] == [
        f"404.html and {pages - 1} more: a stylesheet from fonts.googleapis.com is stopped by the "
        "policy. Fix: set font: false under theme in mkdocs.yml",
        "demo/own.html: a script from cdn.example is stopped by the policy. "
        "Fix: put the file into docs/ and name it there, or remove it",
        'demo/own.html: onclick="own()" of <p> is stopped by the policy. '
        "Fix: call addEventListener in a script instead",
        'more/index.html: onclick="run()" of <button> is stopped by the policy. '
        "Fix: call addEventListener in a script instead",
    ]
    assert all(line.startswith("WARNING") for line in warnings)


# --- notebooks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["script", "outputs"])
def test_a_notebook_is_small_and_asks_no_other_host(site: Build, name: str) -> None:
    html = (site.site / PAGES[name] / "index.html").read_text("utf-8")
    assert len(html.encode()) < 60_000
    assert "cdnjs" not in html
    assert "import(" not in html
    assert "clipboard-copy" not in html
    [sheet] = site.page(PAGES[name]).select('article link[rel="stylesheet"]')
    assert (site.site / PAGES[name] / str(sheet["href"])).resolve().is_file()


def test_cells_keep_what_they_show(site: Build) -> None:
    article = site_builds.article(site.page("outputs/"))
    text = site_builds.text_of(article)
    for shown in ("Text with code", "0.25", "done", "ZeroDivisionError: division by zero"):
        assert shown in text
    assert article.select('img[src^="data:image/png;base64,"]')
    codes = [code.get_text() for code in article.select("div.highlight > pre > code")]
    assert codes == ["table\n", "picture\n", "print('done')\n", "1 / 0\n", "chart\n"]
    codes = [code.get_text() for code in site.page("script/").select("div.highlight > pre > code")]
    assert codes[0] == "def doubled(value):\n    return 2 * value\n"
    assert 'print(rates, "a < b")  # what is copied' in codes[1]


def test_without_the_option_nothing_is_changed(site: Build, plain: Build) -> None:
    assert not (plain.site / POLICY).exists()
    # Notebooks are as mkdocs-jupyter makes them.
    assert len((plain.site / "outputs/index.html").read_bytes()) > 500_000
    # And with it, other pages only get the policy.
    for address in ("", "notes/", "studies/tiny/model/large/"):
        file = Path(address) / "index.html"
        before = (plain.site / file).read_text("utf-8")
        after = (site.site / file).read_text("utf-8")
        assert policy_of(plain.page(address)) == []
        assert re.sub(r'\n<meta http-equiv="Content-Security-Policy"[^>]*>', "", after) == before
