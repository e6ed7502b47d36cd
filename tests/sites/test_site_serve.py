"""`mkdocs serve`: what is edited is on the page without a restart, and a mistake stops nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import served as serve
import site_builds
from bs4 import BeautifulSoup
from served import Served
from site_builds import data_table, figure_of, text_of


@pytest.fixture(scope="module")
def served(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("serve")
    project = site_builds.make_project(
        folder / "project", site_builds.shared_cache(base), {"templates": "overrides", "csp": True}
    )
    site_builds.add_tiny_study(project)
    project.write("overrides/overview.md.jinja", "# Our grids\n\n[it](tiny/index.md)\n")
    with serve.served(project, folder / "log") as running:
        running.wait("studies/", lambda page: _heading(page) == "Our grids")
        yield running


def _heading(page: BeautifulSoup) -> str:
    return text_of(page.select_one("h1"))


def _study(page: BeautifulSoup) -> str:
    return text_of(page.select_one(".ga-crumbs [aria-current]"))


def _value(page: BeautifulSoup) -> str:
    """What the small model's grid shows at batch size 8 and rate 0.1."""
    return data_table(figure_of(page, "small"))[1]["8"][0]


def test_an_edited_cell(served: Served) -> None:
    address = "studies/tiny/model/small/"
    served.wait(address, lambda page: _value(page) == "11.5")
    served.edit("data/tiny/cells.csv", "small,8,0.1,11.5", "small,8,0.1,19.5")
    page = served.wait(address, lambda page: _value(page) == "19.5")
    labels = [str(cell["aria-label"]) for cell in site_builds.drawn_cells(figure_of(page, "small"))]
    assert "Learning rate 0.1, Batch size 8: 19.5 %, best" in labels
    # Once, however often the site was built again.
    assert len(page.select('link[href$="gridatlas/gridatlas.css"]')) == 1


def test_an_edit_that_keeps_size_and_time(served: Served) -> None:
    address = "studies/tiny/model/small/"
    file = served.project.folder / "data/tiny/cells.csv"
    about = file.stat()
    served.edit("data/tiny/cells.csv", "small,8,0.1,19.5", "small,8,0.1,18.5")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    served.wait(address, lambda page: _value(page) == "18.5")


def test_pages_have_no_policy_which_would_stop_the_reloading(served: Served) -> None:
    page = served.page("studies/tiny/")
    assert page is not None
    assert page.select('[http-equiv="Content-Security-Policy"]') == []
    assert "livereload" in str(page)


def test_an_edited_study(served: Served) -> None:
    served.edit("data/tiny/study.yml", "title: Learning rate", "title: Step size")
    served.wait("studies/tiny/", lambda page: _study(page) == "Step size and batch size")


def test_an_edited_template(served: Served) -> None:
    served.edit("overrides/overview.md.jinja", "Our grids", "All our grids")
    served.wait("studies/", lambda page: _heading(page) == "All our grids")
    served.edit("overrides/overview.md.jinja", "All our grids", "Our grids")
    served.wait("studies/", lambda page: _heading(page) == "Our grids")


def test_a_new_study(served: Served) -> None:
    site_builds.add_tiny_study(served.project, "second")
    served.wait("studies/second/", lambda page: _study(page) == "Learning rate and batch size")


@pytest.mark.parametrize(
    ("path", "before", "after", "problem"),
    [
        ("data/tiny/study.yml", "format: 1", "format: [", "data/tiny/study.yml:3 (not-yaml)"),
        ("data/tiny/cells.csv", "large,16,0.2,24.5", "large,16,0.2,oops", '"oops"'),
        ("data/tiny/cells.csv", "model,batch", "modell,batch", 'a column "model"'),
    ],
    ids=["study", "value", "column"],
)
def test_a_mistake_stands_on_the_page_until_it_is_fixed(
    served: Served, path: str, before: str, after: str, problem: str
) -> None:
    def problems(page: BeautifulSoup) -> str:
        return " ".join(text_of(element) for element in page.select(".ga-problems li"))

    served.edit(path, before, after)
    try:
        served.wait("studies/tiny/", lambda page: problem in problems(page))
        # All else goes on.
        assert served.page("studies/") is not None
    finally:
        served.edit(path, after, before)
    fixed = served.wait("studies/tiny/", lambda page: not problems(page))
    assert len(site_builds.figures(fixed)) == 3


def test_a_broken_template_stops_nothing(served: Served) -> None:
    served.edit("overrides/overview.md.jinja", "# Our grids", "# {{ nothing }}")
    served.wait("studies/", lambda page: _heading(page) != "Our grids")
    assert "[broken-template]" in served.log.read_text()
    served.edit("overrides/overview.md.jinja", "# {{ nothing }}", "# Our grids")
    served.wait("studies/", lambda page: _heading(page) == "Our grids")
