"""The same results on each host: MkDocs, ProperDocs and Zensical."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import site_builds
from compared import compared
from once import once
from site_builds import Build, Project, data_table, drawn_cells, figure_name, figures, run

# Without a title of its own, only Zensical names the home page in its head.
PAGE = """\
---
title: Home
---
# Home

The best is {{ grid(study="tiny", model="large").best.value }}.

```grid
tiny/small
tiny/large
scale: shared
```

=== "Difference"

    ```grid
    tiny/large
    delta: small
    ```

=== "Row"

    !!! note

        ```grid
        tiny/large
        row: 16
        ```
"""
EXTENSIONS = [
    "admonition", "attr_list", "pymdownx.superfences",
    {"pymdownx.tabbed": {"alternate_style": True}},
]  # fmt: skip
PROPERDOCS = (sys.executable, "-m", "properdocs", "build")
URL = "https://example.org/results/"
ASSETS = {
    "extra_css": ["assets/gridatlas/gridatlas.css"],
    "extra_javascript": [{"path": "assets/gridatlas/gridatlas.js", "defer": True}],
}
PAGES = [
    "", "studies/", "studies/tiny/", "studies/tiny/model/", "studies/tiny/model/small/",
    "studies/tiny/model/large/", "studies/tiny/checks/",
]  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """What a page shows: heatmaps and lines by their names, and what stands in them."""

    figures: tuple[tuple[str, int], ...]
    tables: tuple[tuple[str, tuple[str, ...]], ...]


def _project(folder: Path, cache: Path, with_plugin: bool) -> Project:
    """The same project for each host; where nothing else does it, the pages are written first."""
    extensions = [*EXTENSIONS]
    more: Mapping[str, object] = {"site_url": URL}
    if not with_plugin:
        extensions.append({"gridatlas": {"downloads": True, "cache": str(cache)}})
        more = more | ASSETS | {"plugins": ["search", "awesome-nav"]}
    # Zensical's --clean empties `.cache`, and what it leads to.
    own = cache if with_plugin else None
    project = site_builds.make_project(folder, own, markdown_extensions=extensions, **more)
    site_builds.add_tiny_study(project)
    project.write("docs/index.md", PAGE)
    return project


def _mkdocs(project: Project) -> Build:
    return project.built("--strict")


def _properdocs(project: Project) -> Build:
    site = project.folder / "site"
    done = run([*PROPERDOCS, "--strict", "-d", str(site)], project.folder)
    assert done.returncode == 0, done.stdout
    return Build(done.returncode, done.stdout, site)


def _written(project: Project) -> None:
    [extension] = [
        load
        for load in json.loads((project.folder / "mkdocs.yml").read_text("utf-8"))[
            "markdown_extensions"
        ]
        if "gridatlas" in load
    ]
    cache = extension["gridatlas"]["cache"]
    done = _gridatlas(project, "build", "--into", "docs", "--cache", cache, "--url", URL)
    assert done.status == 0, done.log


def _gridatlas(project: Project, *arguments: str) -> Build:
    done = run(["gridatlas", *arguments], project.folder)
    return Build(done.returncode, done.stdout, project.folder / "site")


def _site_of(host: str) -> Callable[[Project], Build]:
    def build(project: Project) -> Build:
        built = _gridatlas(project, "build", "--site", "--strict", "--host", host)
        assert built.status == 0, built.log
        return built

    return build


def _zensical_alone(project: Project) -> Build:
    _written(project)
    done = run(["zensical", "build", "--clean", "--strict"], project.folder)
    assert done.returncode == 0, done.stdout
    return Build(done.returncode, done.stdout, project.folder / "site")


def _mkdocs_without_plugin(project: Project) -> Build:
    _written(project)
    project.configure(plugins=["search"])
    return project.built("--strict")


HOSTS = {
    "mkdocs": _mkdocs,
    "properdocs": _properdocs,
    "zensical": _site_of("zensical"),
    "mkdocs by gridatlas": _site_of("mkdocs"),
    "properdocs by gridatlas": _site_of("properdocs"),
    "zensical alone": _zensical_alone,
    "mkdocs without the plugin": _mkdocs_without_plugin,
}
WRITTEN_FIRST = ("zensical alone", "mkdocs without the plugin")


@once
def sites_of_hosts(base: Path) -> dict[str, Build]:
    """The site of each host."""
    cache, folder = site_builds.shared_cache(base), base / "hosts"
    return {
        name: build(_project(folder / name.replace(" ", "-"), cache, name not in WRITTEN_FIRST))
        for name, build in HOSTS.items()
    }


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Build]:
    return sites_of_hosts(tmp_path_factory.getbasetemp())


def _shown(build: Build, page: str) -> Shown:
    found = figures(build.page(page))
    tables = [
        (figure_name(figure), tuple(" ".join(row) for row in data_table(figure)[1].values()))
        for figure in found
        if figure.select("table") or figure.find_parent(class_="ga-multiples")
    ]
    return Shown(
        tuple((figure_name(figure), len(drawn_cells(figure))) for figure in found), tuple(tables)
    )


@pytest.mark.parametrize("host", [name for name in HOSTS if name != "mkdocs"])
@pytest.mark.parametrize("page", PAGES)
def test_pages_show_the_same_on_each_host(
    builds: Mapping[str, Build], host: str, page: str
) -> None:
    found, expected = compared(builds[host], page), compared(builds["mkdocs"], page)
    if host in WRITTEN_FIRST:  # Nobody writes heads.
        found, expected = replace(found, head=()), replace(expected, head=())
    assert found == expected


def test_heatmaps_and_values_are_those_of_the_data(builds: Mapping[str, Build]) -> None:
    assert {page: len(_shown(builds["mkdocs"], page).figures) for page in PAGES} == {
        "": 4, "studies/": 1, "studies/tiny/": 3, "studies/tiny/model/": 2,
        "studies/tiny/model/small/": 1, "studies/tiny/model/large/": 1, "studies/tiny/checks/": 0,
    }  # fmt: skip
    assert _shown(builds["mkdocs"], "").figures == (
        ("Small", 4), ("Large", 4), ("Large − Small", 4), ("Large, batch size 16", 2),
    )  # fmt: skip
    # Columns lead to the levels; their cells have no labels.
    assert _shown(builds["mkdocs"], "studies/tiny/model/").figures == (("Small", 0), ("Large", 0))
    assert _shown(builds["mkdocs"], "studies/tiny/model/large/").tables == (
        ("Large", ("23.5 24.5", "21.5 22.5")),
    )


@pytest.mark.parametrize("host", HOSTS)
def test_each_host_gives_the_number_and_leaves_nothing_unrendered(
    builds: Mapping[str, Build], host: str
) -> None:
    for page in PAGES:
        text = str(builds[host].page(page))
        assert "data-gridatlas=" not in text
        assert "```" not in text
    assert builds[host].page("").select_one(".ga-number").get_text() == "24.5"


@pytest.mark.parametrize("host", HOSTS)
def test_each_host_has_the_files_that_pages_lead_to(builds: Mapping[str, Build], host: str) -> None:
    build = builds[host]
    for page in PAGES:
        soup = build.page(page)
        links = [str(link["href"]) for link in soup.select(".ga-downloads a, .ga-share a")]
        links += [str(element["href"]) for element in soup.select('link[href*="gridatlas.css"]')]
        links += [str(element["src"]) for element in soup.select('script[src*="gridatlas.js"]')]
        assert len(links) >= 2
        folder = build.site / page
        missing = [
            link for link in links if not (folder / link.partition("#")[0]).resolve().exists()
        ]
        assert missing == []


@pytest.mark.parametrize("host", ["zensical", "zensical alone"])
def test_zensical_has_the_pages_in_its_navigation(builds: Mapping[str, Build], host: str) -> None:
    found = site_builds.navigation(builds[host].page("studies/"))
    [studies] = [section for section in found if section[0] == "Studies"]
    [study] = [study for study in studies[2] if study[0] == "Learning rate and batch size"]
    assert [(title, address) for title, address, _ in study[2]] == [
        ("Model", "./tiny/model/"), ("Checks", "./tiny/checks/"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("host", "command"),
    [
        ("mkdocs", ["mkdocs", "build", "--strict"]),
        ("properdocs", [*PROPERDOCS, "--strict"]),
        ("zensical", ["zensical", "build", "--strict"]),
    ],
)
def test_each_host_fails_on_a_fault_and_names_its_line(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, host: str, command: list[str]
) -> None:
    cache = site_builds.shared_cache(tmp_path_factory.getbasetemp())
    project = _project(tmp_path / "project", cache, host != "zensical")
    project.write("docs/index.md", "---\ntitle: Home\n---\n# Home\n\n```grid\ntiny/smal\n```\n")
    done = run(command, project.folder)
    assert done.returncode != 0
    assert "index.md:7: this grid can't be shown" in done.stdout
    assert "write tiny/small" in done.stdout


def test_an_unwritten_site_is_not_taken_for_one(tmp_path: Path) -> None:
    # Zensical ignores a plugin without a word: the pages and charts have to be looked for.
    project = site_builds.make_project(tmp_path / "project")
    site_builds.add_tiny_study(project)
    done = run(["zensical", "build", "--strict"], project.folder)
    assert done.returncode == 0
    assert json.loads((project.folder / "mkdocs.yml").read_text("utf-8"))["plugins"][1] == (
        "gridatlas"
    )
    assert not (project.folder / "site/studies").exists()


def test_the_navigation_is_that_of_mkdocs(builds: Mapping[str, Build]) -> None:
    for page in PAGES:
        found, expected = (
            [nav_titles(site_builds.navigation(builds[host].page(page)))]
            for host in ("zensical", "mkdocs")
        )
        assert found == expected


def nav_titles(items: list[Any]) -> list[Any]:
    return [(title, nav_titles(below)) for title, _, below in items]


FAULTY = '# Home\n\n```grid\ntiny/smal\n```\n\n{{ grid(study="tiny", model="tall").max }}\n'


@pytest.mark.parametrize("strict", [True, False])
def test_a_fault_on_zensical_is_a_box_and_fails_a_strict_build(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, strict: bool
) -> None:
    cache = site_builds.shared_cache(tmp_path_factory.getbasetemp())
    project = _project(tmp_path / "project", cache, with_plugin=True)
    project.write("docs/index.md", FAULTY)
    more = ["--strict"] if strict else []
    for _ in range(2):  # Zensical's cache has the page the second time.
        done = _gridatlas(project, "build", "--site", "--host", "zensical", *more)
        assert "index.md:4: this grid can't be shown" in done.log
        assert "write tiny/small" in done.log
        assert "index.md: a number is missing" in done.log
        assert "Traceback" not in done.log
        assert done.status == int(strict)
        assert done.site.exists() != strict
    if not strict:
        assert done.page("").select_one(".ga-fence-error") is not None


def test_pages_that_were_written_before_are_not_taken_for_the_users(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache = site_builds.shared_cache(tmp_path_factory.getbasetemp())
    project = _project(tmp_path / "project", cache, with_plugin=False)
    _written(project)
    assert (project.folder / "docs/studies/tiny/index.md").is_file()
    cells = project.folder / "data/tiny/cells.csv"
    cells.write_text(cells.read_text("utf-8").replace("24.5", "24.9"), "utf-8")
    build = _site_of("zensical")(project)
    assert "24.9" in build.page("studies/tiny/model/large/").get_text()
    assert "24.5" not in build.page("studies/tiny/model/large/").get_text()
