"""Data of golden sites, built by Zensical: page by page as by MkDocs."""

from pathlib import Path

import pytest
import site_builds
from compared import compared
from site_builds import SITE_URL, Build, is_moved, run


def project(base: Path, name: str) -> site_builds.Project:
    made = site_builds.make_project(base / name, site_url=SITE_URL)
    # Without a title of its own, only Zensical names the home page in its head.
    made.write("docs/index.md", "---\ntitle: Home\n---\n# Home\n")
    site_builds.add_golden_studies(made)
    return made


@pytest.fixture(scope="module")
def zensical(base: Path) -> Build:
    made = project(base, "by-zensical")
    done = run(["gridatlas", "build", "--site", "--strict", "--host", "zensical"], made.folder)
    return Build(done.returncode, done.stdout, made.folder / "site")


@pytest.fixture(scope="module")
def mkdocs(base: Path) -> Build:
    return project(base, "by-mkdocs").built("--strict")


def addresses(build: Build) -> set[str]:
    """The addresses of all pages but those for frames."""
    files = {file.relative_to(build.site).as_posix() for file in build.site.rglob("index.html")}
    return {path.removesuffix("index.html") for path in files}


def test_both_have_the_same_pages(zensical: Build, mkdocs: Build) -> None:
    assert zensical.status == 0, zensical.log
    assert addresses(zensical) == addresses(mkdocs)


def test_all_pages_say_and_draw_the_same(zensical: Build, mkdocs: Build) -> None:
    different = []
    for page in sorted(addresses(mkdocs)):
        if is_moved(mkdocs.page(page)):
            assert str(zensical.page(page).body) == str(mkdocs.page(page).body)
            continue
        found, expected = compared(zensical, page), compared(mkdocs, page)
        if found != expected:
            different.append((page, found, expected))
    assert different == []


def test_both_have_the_same_files_of_grids_and_answers(zensical: Build, mkdocs: Build) -> None:
    def files(build: Build) -> dict[str, bytes]:
        return {
            path: content
            for path, content in build.files().items()
            # Pages for frames have the policy of their site.
            if path.startswith(("grids/", "plots/", "studies/")) and not path.endswith(".html")
        }

    found = files(zensical)
    assert len(found) > 100
    assert found == files(mkdocs)
