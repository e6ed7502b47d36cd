"""A user's own templates: used by name, and named with their line where they are broken."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import site_builds
from builders import write_study
from site_builds import Build, Project, text_of

import gridatlas
from gridatlas.build.site import Site, build
from gridatlas.model.problems import Problem
from gridatlas.pages.fence import FenceError
from gridatlas.pages.fences import Fences, StudyPages
from gridatlas_review import base as compared

TEMPLATES = Path(gridatlas.__file__).parent / "pages" / "templates"


@pytest.fixture
def project(tiny: Callable[..., Project]) -> Project:
    made = tiny(options={"templates": "overrides"})
    (made.folder / "overrides").mkdir()
    return made


@pytest.fixture
def pages(project: Project, cache: Path) -> Callable[..., Site]:
    """Makes a project's pages without a host, which is quicker."""
    return lambda base=None: build(
        project.folder / "data",
        name="data",
        templates=project.folder / "overrides",
        cache=cache / "gridatlas",
        base=base,
    )


def heading(build: Build, address: str) -> str:
    return text_of(site_builds.article(build.page(address)).select_one("h1"))


def level_page(site: Site) -> str:
    """The page that the template level.md.jinja writes, with its figures."""
    return next(
        page.whole() for page in site.pages if page.plan.path == "studies/tiny/model/small/index.md"
    )


# --- templates that work ------------------------------------------------------------------------


def test_a_template_takes_the_place_of_ours_with_its_name(project: Project) -> None:
    project.write(
        "overrides/overview.md.jinja",
        "# Our grids\n\n{% for one in results %}\n## {{ one.study.title }}\n\n"
        '{{ figure("lead-" ~ one.study.id) }}\n{% endfor %}\n',
    )
    project.write(
        "overrides/thumbnails.html.jinja",
        '<div class="ours">{% for figure in row.figures %}{{ figure.svg }}{% endfor %}</div>\n',
    )
    site = project.built("--strict")
    assert heading(site, "studies/") == "Our grids"
    page = site_builds.article(site.page("studies/"))
    assert [text_of(element) for element in page.find_all("h2")] == ["Learning rate and batch size"]
    labels = [str(svg["aria-label"]).partition(":")[0] for svg in page.select(".ours > svg")]
    assert labels == ["Large − Small"]
    assert (
        heading(site, "studies/tiny/") == "Large likely beats Small, by 10.0 points, in these runs"
    )


CLAIM = """
claims:
  - text: The large model is ahead.
    check: (grid(model="large") > grid(model="small")).all
  - text: The small model is ahead.
    check: (grid(model="small") > grid(model="large")).all
    holds: false
"""
HISTORY = """
history:
  - {date: 2026-11-23, text: The batch size was misread before., covers: [answers]}
"""
BOARD = """format: 1
title: A leaderboard
metric: {name: Accuracy, better: higher}
x: test
y: model
roles: {model: choice, test: block}
"""
ROWS = [f"m{model},t{test},{50 + model + test}" for model in range(8) for test in range(4)]
READINGS = """
readings:
  - {id: first, file: cells.csv, label: First}
  - {id: other, file: other.csv, label: Other}
"""


SHAPES = ("shapes/data/sweep", "shapes/data/times", "seeds/data/methods")
"""Studies that the templates of main pictures are for."""


def changed(name: str, text: str) -> str:
    """A template that says its name somewhere."""
    if not name.endswith(("_parts.md.jinja", "_captions.html.jinja", "chips.html.jinja")):
        return f"{text}\nchanged {name}\n"
    # Macros alone.
    for part in ("All {{ number", "{{ row.says }}", "◐ Likely"):
        text = text.replace(part, f"changed {name} {part}")
    return text


def test_each_of_our_templates_can_be_copied_and_changed(
    project: Project, pages: Callable[..., Site]
) -> None:
    """The way everybody begins."""
    names = sorted(file.name for file in TEMPLATES.glob("*.jinja"))
    for name in names:
        text = (TEMPLATES / name).read_text(encoding="utf-8")
        project.write(f"overrides/{name}", changed(name, text))
    project.write("data/tiny/study.yml", site_builds.TINY_STUDY + CLAIM + HISTORY)
    project.write("data/broken/study.yml", "format: 2\n")
    site_builds.add_reproduced_study(project)
    tiny, cells = site_builds.TINY_STUDY, site_builds.TINY_CELLS
    other = {"other.csv": cells.replace("11.5", "12.5")}
    write_study(project.folder / "data/twice", tiny + READINGS, cells, other)
    write_study(project.folder / "before/tiny", tiny, cells)
    write_study(project.folder / "data/board", BOARD, "\n".join(["model,test,value", *ROWS, ""]))
    for shape in SHAPES:
        study = site_builds.ROOT / "tests/golden/projects" / shape
        shutil.copytree(study, project.folder / "data" / study.name)
    site = pages(compared.base("before", Path("data"), project.folder))
    kinds = [problem.kind for problem in site.problems if problem.severity == "problem"]
    assert kinds == ["newer-format"]
    texts = [page.whole() for page in site.pages] + [str(text) for text in site.files.values()]
    fences = Fences(
        site.assessments, templates=project.folder / "overrides", pages=StudyPages("studies")
    )
    texts += [
        fences.html(fence, "index.html", set())
        for fence in (
            "tiny/small\nrow: 8", "tiny/small\nas: profile", "tiny/model\nas: forest", "as: studies"
        )
    ]  # fmt: skip
    found = set(re.findall(r"changed ([\w.-]+\.jinja)", "".join(texts)))
    assert set(names) - found == set()


def test_a_template_that_fails_in_a_fence_is_told(
    project: Project, pages: Callable[..., Site]
) -> None:
    project.write("overrides/fence.html.jinja", "{% set a = 1 %}\n{{ nothing.here }}\n")
    fences = Fences(pages().assessments, templates=project.folder / "overrides")
    with pytest.raises(FenceError) as caught:
        fences.html("tiny/small", "index.html", set())
    assert caught.value.found == "overrides/fence.html.jinja:2: 'nothing' is undefined"


def test_a_folder_of_templates_that_there_is_not(tiny: Callable[..., Project]) -> None:
    project = tiny(options={"templates": "overrides"})
    message = f"the option templates names {project.folder / 'overrides'}, which isn't a folder\n"
    site = project.build()
    assert site.status == 0
    assert message in site.log
    strict = project.build("--strict")
    assert strict.status == 1
    assert message in strict.log


# --- templates that are broken ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "place", "found"),
    [
        (
            "{% if %}",
            "overrides/level.md.jinja:3",
            "Expected an expression, got 'end of statement block'",
        ),
        ("{{ levle.label }}", "overrides/level.md.jinja:3", "'levle' is undefined"),
    ],
    ids=["syntax", "undefined"],
)
def test_a_build_with_a_broken_template(
    project: Project, line: str, place: str, found: str
) -> None:
    """It says where and writes the page with our template; a strict one fails."""
    project.write("overrides/level.md.jinja", f"# {{{{ name }}}}\n\n{line}\n")
    warning = f"WARNING -  {place}: problem [broken-template]\n  found:    {found}\n"
    site = project.build()
    assert site.status == 0
    assert warning in site.log
    assert site.log.count("WARNING") == 1
    assert heading(site, "studies/tiny/model/small/").startswith("Small: Accuracy 11.5 to")
    assert len(site_builds.figures(site.page("studies/tiny/model/small/"))) == 1
    strict = project.build("--strict")
    assert strict.status == 1
    assert warning in strict.log
    assert "Traceback" not in strict.log
    assert strict.log.endswith("Aborted with 1 warnings in strict mode!\n")


def assert_one_problem(site: Site, place: str, found: str) -> None:
    assert [(problem.kind, problem.place) for problem in site.problems] == [
        ("broken-template", place)
    ]
    problem: Problem = site.problems[0]
    assert found in problem.found
    assert "# Small" in level_page(site)
    assert "<svg" in level_page(site)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("{% for section in sections %}", "Unexpected end of template"),
        ("{{ level.label | shout }}", "No filter named 'shout'"),
        ("{{ level.lable.upper() }}", "has no attribute 'lable'"),
        ("{{ 1 // 0 }}", "division"),
        ("{{ level.label + 1 }}", "str"),
        ('{{ figure("nope") }}', "nope"),
        ('{% include "gone.jinja" %}', "gone.jinja"),
        # They come with the data as often as not, so they can't do what Python can.
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
    ],
)
def test_a_broken_line_is_named(
    project: Project, pages: Callable[[], Site], line: str, found: str
) -> None:
    project.write("overrides/level.md.jinja", f"# {{{{ name }}}}\n\n{line}\n")
    assert_one_problem(pages(), "overrides/level.md.jinja:3", found)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("{% nope %}", "Encountered unknown tag 'nope'"),
        ("{{ nope }}", "'nope' is undefined"),
    ],
)
def test_a_broken_piece_of_pages_is_named_once_and_itself(
    project: Project, pages: Callable[[], Site], line: str, found: str
) -> None:
    """Not the template of each page that it is a piece of: the user may have none of those."""
    project.write("overrides/multiples.html.jinja", f"<div>\n{line}\n</div>\n")
    assert_one_problem(pages(), "overrides/multiples.html.jinja:2", found)


def test_a_broken_page_for_frames_is_named_and_written_with_ours(
    project: Project, pages: Callable[[], Site]
) -> None:
    project.write("overrides/embed.html.jinja", "<p>\n{{ nope }}\n")
    site = pages()
    assert_one_problem(site, "overrides/embed.html.jinja:2", "'nope' is undefined")
    assert "<svg" in str(site.files["grids/tiny/small.html"])


def test_a_template_that_is_not_utf_8(project: Project, pages: Callable[[], Site]) -> None:
    (project.folder / "overrides/level.md.jinja").write_bytes("# Größe\n".encode("latin-1"))
    assert_one_problem(pages(), "overrides/level.md.jinja:1", "UTF-8")


def test_one_broken_template_leaves_the_others_in_use(
    project: Project, pages: Callable[[], Site]
) -> None:
    project.write("overrides/overview.md.jinja", "# Our grids\n")
    project.write("overrides/level.md.jinja", "# {{ name }}\n\n{% if %}\n")
    site = pages()
    assert_one_problem(site, "overrides/level.md.jinja:3", "Expected an expression")
    overview = next(page for page in site.pages if page.plan.path == "studies/index.md")
    assert "# Our grids" in overview.markdown
