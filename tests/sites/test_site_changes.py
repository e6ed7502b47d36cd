"""The page Changes: what changed since a revision or a folder, and pages that lead to it."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import site_builds
from builders import write_study
from site_builds import (
    TINY_CELLS,
    TINY_STUDY,
    Build,
    Project,
    article,
    figure_name,
    figures,
    nav_addresses,
    navigation,
    text_of,
)

PAGE = "studies/changes/"
CLAIM = (
    "claims:\n  - text: Large is ahead.\n"
    '    check: (grid(model="large") > grid(model="small")).all\n'
)
STUDY = TINY_STUDY.replace("label: Small}", "label: Small, items: 1000}")
WORST = (
    "“Large is ahead.” doesn't hold any more: 21.5 (Large, learning rate 0.1, batch size 8) "
    "against 31.5 (Small, learning rate 0.1, batch size 8) · Learning rate and batch size"
)
EDITED = TINY_CELLS.replace("small,8,0.1,11.5", "small,8,0.1,31.5")


def add_changed_study(project: Project) -> None:
    """Put a study into `data`, and as it was into `before`: one cell changed, a claim flipped."""
    text = STUDY + "trials: {items: model}\n" + CLAIM
    for folder, cells in (("before", TINY_CELLS), ("data", EDITED)):
        write_study(project.folder / folder / "tiny", text, cells)
        write_study(project.folder / folder / "same", TINY_STUDY, TINY_CELLS)


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def project(base: Path, cache: Path) -> Project:
    made = site_builds.make_project(
        base / "changed",
        cache,
        {"compare_to": "before", "csp": True},
        site_url="https://a.example/",
    )
    add_changed_study(made)
    return made


@pytest.fixture(scope="module")
def changed(project: Project) -> Build:
    return project.built()


def test_what_is_worst_is_told_first(changed: Build) -> None:
    page = article(changed.page(PAGE))
    assert [text_of(element).rstrip("¶") for element in page.select("h1, h2")] == [
        f"❌ {WORST}",
    ]
    points = [text_of(item) for item in page.select("h1 ~ ul > li")]
    assert points == [
        "⚠️ 1 value changed significantly: Small, learning rate 0.1, batch size 8: 11.5 → 31.5"
    ]
    folds = {
        text_of(element.summary): element.has_attr("open") for element in page.select(".ga-fold")
    }
    assert folds == {
        "Heatmaps before and after": True,
        "Statements (1)": True,
        "Differences by cell (1)": False,
        "How values were tested (1)": False,
    }
    (row,) = page.select('[aria-label^="Changed values"] tbody tr')
    assert [text_of(element) for element in row.select("td")] == [
        "Small", "0.1", "8", "11.5 → 31.5", "+20.0 points [+16.5 to +23.5]",
    ]  # fmt: skip
    (link,) = row.select("a")
    to, _, anchor = str(link["href"]).partition("#")
    assert (changed.site / PAGE / to).resolve() == changed.site / "studies/tiny/model/small"
    assert changed.page("studies/tiny/model/small/").find(id=anchor) is not None


def test_heatmaps_before_after_and_their_difference(changed: Build) -> None:
    found = figures(article(changed.page(PAGE)))
    assert [figure_name(figure) for figure in found] == [
        "Small, before", "Small, after", "Small, after − before",
    ]  # fmt: skip
    # What was, has neither an address nor cards on this page.
    assert [bool(figure.get("id")) for figure in found] == [False, True, False]
    assert [bool(figure.get("data-cells")) for figure in found] == [False, True, False]
    labels = [str(element["aria-label"]) for element in found[2].select('[role="img"]')]
    assert "Learning rate 0.1, Batch size 8: +20.0 points, significant" in labels
    assert "Learning rate 0.2, Batch size 8: 0 points" in labels


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("studies/", WORST),
        ("studies/tiny/", "1 value in 1 grid, 1 statement changed."),
        ("studies/tiny/model/", "1 value in 1 grid."),
        ("studies/tiny/model/small/", "1 value in 1 grid."),
        ("studies/tiny/model/large/", ""),
        ("studies/same/", ""),
    ],
)
def test_pages_concerned_lead_to_it(changed: Build, address: str, text: str) -> None:
    page = changed.page(address)
    links = [link for link in article(page).select("a") if link.text == "Changed since before"]
    assert len(links) == bool(text)
    assert f"Changed since before: {text}" in text_of(article(page)) or not text
    for link in links:
        assert (changed.site / address / str(link["href"])).resolve() == changed.site / PAGE.strip(
            "/"
        )
    assert any(address.endswith("changes/") for address in nav_addresses(navigation(page)))


def test_the_same_again_gives_the_same_bytes(project: Project, changed: Build) -> None:
    again = project.built(into="again").files()
    assert {path: text for path, text in again.items() if "sitemap" not in path} == {
        path: text for path, text in changed.files().items() if "sitemap" not in path
    }


def test_without_a_change_there_is_no_page(tiny: Callable[..., Project]) -> None:
    project = tiny({"compare_to": "before"})
    shutil.copytree(project.folder / "data", project.folder / "before")
    build = project.built("--strict")
    assert not (build.site / PAGE).exists()
    assert "Changed since" not in text_of(article(build.page("studies/tiny/")))


def test_the_answer_at_a_revision_and_now_is_told_first(tiny: Callable[..., Project]) -> None:
    project = tiny({"compare_to": "HEAD"})
    for arguments in (["init", "-q"], ["add", "data"], ["commit", "-q", "-m", "first"]):
        git(project.folder, *arguments)
    project.write("data/tiny/cells.csv", EDITED)
    build = project.built("--strict")
    page = article(build.page(PAGE))
    was, _, now = text_of(page.h1).rstrip("¶").partition(" → ")
    before = "Large likely beats Small, by 10.0 points, in these runs"
    assert was == f"❌ The answer is no longer asserted: {before}"
    lead = text_of(article(build.page("studies/tiny/")))
    assert now.partition(" · ")[0] in lead
    assert before not in lead


@pytest.mark.parametrize("compare_to", ["HEAD", "before"])
def test_without_a_study_before_all_is_new(tiny: Callable[..., Project], compare_to: str) -> None:
    project = tiny({"compare_to": compare_to, "strict": True})
    (project.folder / "before").mkdir()
    for arguments in (["init", "-q"], ["add", "docs"], ["commit", "-q", "-m", "no data"]):
        git(project.folder, *arguments)
    build = project.built("--strict")
    why = 'no folder "data"' if compare_to == "HEAD" else "no study"
    page = text_of(article(build.page(PAGE)))
    assert f"The base has {why}, so all results are new" in page
    new = "⚠️ The study “Learning rate and batch size” is new, with 2 grids and 8 values: "
    assert page.startswith(f"{new}Large likely beats Small, by 10.0 points")
    assert f"Changed since {compare_to}: this study is new." in text_of(
        article(build.page("studies/tiny/"))
    )


def test_a_shallow_clone_says_what_to_fetch(tiny: Callable[..., Project], tmp_path: Path) -> None:
    origin = tiny({"compare_to": "HEAD~1"}).folder
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        git(origin, *arguments)
    git(origin, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{origin}", "shallow")
    project = Project(tmp_path / "shallow")
    build = project.built()
    assert "WARNING -  gridatlas: the option compare_to: there is no folder" in build.log
    assert "`git fetch --unshallow origin`" in build.log
    assert not (build.site / PAGE).exists()
    assert project.build("--strict").status == 1


@pytest.mark.parametrize("strict", [False, True])
def test_what_cannot_be_compared_with_is_told(tiny: Callable[..., Project], strict: bool) -> None:
    project = tiny({"compare_to": "nowhere", "strict": strict})
    build = project.build(GIT_CEILING_DIRECTORIES=str(project.folder.parent))
    assert build.status == int(strict)
    assert 'there is no folder "nowhere"' in build.log
    assert "Traceback" not in build.log
    if not strict:
        assert not (build.site / PAGE).exists()
        assert (build.site / "studies/tiny/index.html").is_file()


def test_a_study_that_is_called_changes_is_told(tiny: Callable[..., Project]) -> None:
    project = tiny({"compare_to": "before"})
    shutil.copytree(project.folder / "data", project.folder / "before")
    site_builds.add_tiny_study(project, "changes")
    build = project.built()
    assert "problem [taken-address]" in build.log
    assert "Learning rate and batch size" in text_of(article(build.page(PAGE)))
