"""This repository's own site, built by Zensical: page by page that of MkDocs."""

import pytest
import site_builds
from compared import compared
from site_builds import NOTEBOOKS, SITE_URL, Build, is_moved, run

ELSEWHERE = ("/notebooks/", "/reproduce/")
"""Pages of mkdocs-jupyter, which Zensical doesn't have."""


@pytest.fixture(scope="module")
def zensical(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The site, built by Zensical."""
    base = tmp_path_factory.getbasetemp()
    project = site_builds.copy_repository(base, "atlas-zensical", site_builds.shared_cache(base))
    project.configure(site_url=SITE_URL)
    command = ["gridatlas", "build", "--site", "--strict", "--host", "zensical"]
    done = run(command, project.folder, NOTEBOOKS)
    assert done.returncode == 0, done.stdout
    assert "gridatlas: Zensical has no mkdocs-jupyter" in done.stdout
    return Build(done.returncode, done.stdout, project.folder / "site")


@pytest.fixture(scope="module")
def mkdocs(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The site, built by MkDocs."""
    return site_builds.atlas(tmp_path_factory.getbasetemp())


def addresses(build: Build) -> set[str]:
    """The addresses of all pages but those for frames."""
    files = {file.relative_to(build.site).as_posix() for file in build.site.rglob("index.html")}
    return {path.removesuffix("index.html") for path in files}


def of_notebooks(build: Build) -> set[str]:
    return {path for path in addresses(build) if f"/{path}".startswith(ELSEWHERE)}


def test_both_have_the_same_pages(zensical: Build, mkdocs: Build) -> None:
    assert len(of_notebooks(mkdocs)) == 6
    assert addresses(zensical) == addresses(mkdocs) - of_notebooks(mkdocs)


def test_all_pages_say_and_draw_the_same(zensical: Build, mkdocs: Build) -> None:
    """Dear: each page of this repository is parsed twice, for two hosts."""
    different = []
    for page in sorted(addresses(mkdocs) - of_notebooks(mkdocs)):
        if is_moved(mkdocs.page(page)):
            assert str(zensical.page(page).body) == str(mkdocs.page(page).body)
            continue
        found, expected = compared(zensical, page, ELSEWHERE), compared(mkdocs, page, ELSEWHERE)
        # Where the page of a script is one, it says more of it.
        if found != expected and not page.endswith("/reproduction/"):
            different.append((page, found, expected))
        assert (found.drawings, found.values, found.head) == (
            expected.drawings, expected.values, expected.head
        )  # fmt: skip
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
    assert len(found) > 300
    assert found == files(mkdocs)
