"""Pages in the navigation: grouped by study and facet, each once, and one after another."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
import site_builds
from bs4 import BeautifulSoup
from expected import SETTINGS, TRAINED, is_former
from site_builds import DYNTS, GRPO, Build, Project, nav_addresses, navigation


@pytest.fixture(scope="module")
def whole(base: Path, atlas: Build) -> Build:
    """The repository's studies in a site without `nav:`, whose pages hold all of its navigation."""
    assert atlas.site.is_dir()  # its drawings are used again
    project = site_builds.make_project(base / "whole", site_builds.shared_cache(base))
    site_builds.add_real_studies(base, project)
    return project.built("--strict")


def studies(build: Build) -> list[Any]:
    """What the navigation holds below Studies."""
    found = [item for item in navigation(build.page("")) if item[0] == "Studies"]
    assert len(found) == 1
    assert found[0][1] == "studies/"
    return found[0][2]


def test_pages_are_grouped_by_study_and_facet(whole: Build) -> None:
    found, home = studies(whole), f"studies/{GRPO}/"
    assert [item[1] for item in found] == [f"studies/{id}/" for id in (*TRAINED, DYNTS, GRPO)]
    facets = [[facet[0] for facet in item[2]] for item in found]
    ours = ["Training", "Evaluation temperature", "Training seed", "Checks", "Runs"]
    assert facets == [*[ours] * 3, ["Model", "Benchmark", "Checks", "Reproduction"], [
        "GRPO setting", "Checks"]]  # fmt: skip
    settings = [[name, f"{home}setting/{level}/", []] for level, name in SETTINGS.items()]
    assert found[-1] == [
        "GRPO on two-operand digit tasks",
        home,
        [["GRPO setting", f"{home}setting/", settings], ["Checks", f"{home}checks/", []]],
    ]


@pytest.mark.parametrize(
    ("page", "below"),
    [
        (
            f"studies/{DYNTS}/model/r1-qwen/",
            ["DynTS: local window size and retention ratio", "Model", "R1-Llama", "R1-Qwen"],
        ),
        (
            "studies/",
            [
                "Digits before and after GRPO, with a control: our own runs",
                "Digits before and after GRPO, with a control, pass@8: our own runs",
                "Digits after GRPO at two rollout temperatures: our own runs",
                "DynTS: local window size and retention ratio",
                "GRPO on two-operand digit tasks",
            ],
        ),
    ],
)
def test_a_pruned_navigation_has_the_pages_own_study(
    atlas: Build, page: str, below: list[str]
) -> None:
    """With `prune_nav`: the study that the page is of, or a link to each outside of them."""
    text = [item.get_text(" ", strip=True) for item in atlas.page(page).select(SIDEBAR)]
    assert text[: len(below) + 2] == ["Results", "Studies", *below]
    assert any(title.startswith("GRPO on") for title in text) == (page == "studies/")


SIDEBAR = ".md-nav--primary .md-nav__item--active a.md-nav__link .md-ellipsis"


def pages_of(build: Build) -> list[str]:
    """The addresses of a site's pages."""
    return sorted(
        path.removesuffix("index.html")
        for path in build.files()
        if path.endswith(".html")
        and path != "404.html"
        and not path.startswith("grids/")
        and not is_former(path)
    )


def assert_walk(build: Build) -> None:
    """From the home page on, `next` leads over every page once, and `previous` back."""
    walked, before, address = [], None, ""
    while True:
        assert _related(build, "prev", address) == before
        assert address not in walked
        walked.append(address)
        before, following = address, _related(build, "next", address)
        if following is None:
            break
        address = following
    assert sorted(walked) == pages_of(build)
    listed = nav_addresses(navigation(build.page("")))
    assert walked == [address.removeprefix(".") for address in listed]


def _related(build: Build, relation: str, address: str) -> str | None:
    html = (build.site / address / "index.html").read_text("utf-8")
    head = BeautifulSoup(html.partition("</head>")[0], "html.parser")
    links = head.select(f'link[rel="{relation}"]')
    assert len(links) <= 1
    return urljoin(f"/{address}", str(links[0]["href"])).lstrip("/") if links else None


def test_previous_and_next_lead_over_every_page(whole: Build) -> None:
    assert_walk(whole)


def test_pages_that_the_user_placed_are_not_appended_again(tiny: Callable[..., Project]) -> None:
    small = "studies/tiny/model/small/"
    nav = [{"Results": ["studies/index.md", {"The small one": f"{small}index.md"}]}, "index.md"]
    build = tiny(nav=nav).built("--strict")
    model = ["Model", "studies/tiny/model/", [["Large", "studies/tiny/model/large/", []]]]
    checks = ["Checks", "studies/tiny/checks/", []]
    study = ["Learning rate and batch size", "studies/tiny/", [model, checks]]
    assert navigation(build.page("")) == [
        ["Results", "studies/", [["The small one", small, []], study]],
        ["Home", ".", []],
    ]


def test_a_section_whose_page_the_user_placed_takes_no_other_for_it(
    tiny: Callable[..., Project],
) -> None:
    """The theme takes a section's first page called index.md for the section's own."""
    nav = ["index.md", {"One": "studies/tiny/index.md"}, {"Two": "studies/tiny/model/index.md"}]
    build = tiny(nav=nav).built("--strict")
    levels = [
        ["Small", "studies/tiny/model/small/", []],
        ["Large", "studies/tiny/model/large/", []],
    ]
    assert studies(build) == [
        [
            "Learning rate and batch size",
            None,
            [["Model", None, levels], ["Checks", "studies/tiny/checks/", []]],
        ]
    ]


def test_studies_follow_the_page_of_all_of_them_where_it_stands_in_a_section(
    tiny: Callable[..., Project],
) -> None:
    results = ["index.md", {"Studies": "studies/index.md"}, {"Notes": "notes.md"}]
    project = tiny(nav=[{"Results": results}, {"Guide": ["guide.md"]}])
    project.write("docs/guide.md", "# Guide\n")
    project.write("docs/notes.md", "# Notes\n")
    build = project.built("--strict")
    tree = navigation(build.page(""))
    assert [item[:2] for item in tree] == [["Results", "."], ["Guide", None]]
    assert [item[:2] for item in tree[0][2]] == [
        ["Studies", "studies/"],
        ["Notes", "notes/"],
        ["Learning rate and batch size", "studies/tiny/"],
    ]
    assert_walk(build)


def test_a_nav_without_our_pages_has_them_at_its_end(tiny: Callable[..., Project]) -> None:
    project = tiny(nav=["index.md", {"Notes": [{"First": "first.md"}]}])
    project.write("docs/first.md", "# First\n")
    build = project.built("--strict")
    assert [item[0] for item in navigation(build.page(""))] == ["Home", "Notes", "Studies"]
    assert_walk(build)


def test_a_nav_with_every_page_stays_as_the_user_wrote_it(tiny: Callable[..., Project]) -> None:
    model = "studies/tiny/model"
    nav = [
        {"Start": "index.md"},
        {"B": f"{model}/large/index.md"},
        {"A": f"{model}/small/index.md"},
        {"Both": f"{model}/index.md"},
        {"Study": "studies/tiny/index.md"},
        {"Checked": "studies/tiny/checks/index.md"},
        {"All": "studies/index.md"},
    ]
    build = tiny(nav=nav).built("--strict")
    assert [item[0] for item in navigation(build.page(""))] == [
        "Start", "B", "A", "Both", "Study", "Checked", "All",
    ]  # fmt: skip
    assert_walk(build)


def test_studies_with_the_same_title_stay_apart(tiny: Callable[..., Project]) -> None:
    project = tiny()
    site_builds.add_tiny_study(project, "another")
    build = project.built("--strict")
    title = "Learning rate and batch size"
    assert [item[:2] for item in studies(build)] == [
        [title, "studies/another/"],
        [title, "studies/tiny/"],
    ]
    assert_walk(build)


def test_pages_go_into_the_folder_that_the_option_names(tiny: Callable[..., Project]) -> None:
    build = tiny(options={"into": "results/all"}).built("--strict")
    pages = ["", "tiny/", "tiny/checks/", "tiny/model/", "tiny/model/large/", "tiny/model/small/"]
    assert pages_of(build) == ["", *(f"results/all/{page}" for page in pages)]
    assert_walk(build)


# Not "/x" or "": where this fails, it writes to the root of the computer.
@pytest.mark.parametrize("into", ["../outside", "a/../../outside"])
def test_pages_never_leave_the_site(tiny: Callable[..., Project], into: str) -> None:
    project = tiny(options={"into": into})
    build = project.build()
    assert build.status == 1
    assert "Plugin 'gridatlas' option 'into': " in build.log
    assert "Traceback" not in build.log
    assert not (project.folder / "outside").exists()


# --- a user's own files -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["index.md", "README.md"])
def test_a_user_s_own_overview_and_study_page_are_kept(
    tiny: Callable[..., Project], name: str
) -> None:
    project = tiny()
    site_builds.add_tiny_study(project, "other")
    own = {f"studies/{name}": "studies/", f"studies/tiny/{name}": "studies/tiny/"}
    for path in own:
        project.write(f"docs/{path}", f"# Written by hand: {path}\n")
    build = project.built("--strict")
    for path, address in own.items():
        text = site_builds.text_of(site_builds.article(build.page(address)))
        assert text == f"Written by hand: {path}"
        logged = f"the site has its own {path}, so that of Grid Atlas isn't added\n"
        assert f"INFO    -  gridatlas: {logged}" in build.log
    assert build.log.count("so that of Grid Atlas isn't added") == 2
    # All else is there, and each page is listed once, theirs among them.
    listed = nav_addresses(navigation(build.page("")))
    assert len(listed) == len(set(listed))
    ours = {"studies/other/", "studies/tiny/model/", "studies/tiny/checks/"}
    assert ours | set(own.values()) <= set(listed)
    assert_walk(build)


def test_a_user_s_own_download_is_kept(tiny: Callable[..., Project]) -> None:
    project = tiny()
    project.write("docs/grids/tiny/small.csv", "written by hand\n")
    project.write("docs/assets/gridatlas/gridatlas.css", "/* written by hand */\n")
    build = project.built("--strict")
    assert (build.site / "grids/tiny/small.csv").read_text() == "written by hand\n"
    assert (build.site / "assets/gridatlas/gridatlas.css").read_text() == "/* written by hand */\n"
    assert (
        "the site has its own grids/tiny/small.csv, so that of Grid Atlas isn't added\n"
        in build.log
    )
    assert (build.site / "grids/tiny/small.json").is_file()
