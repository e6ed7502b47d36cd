"""A user's template that leaves the sandbox is reported, and ours is used."""

from collections.abc import Callable
from pathlib import Path

import pytest
import site_builds

from gridatlas.build.site import Site, build
from gridatlas.charts.pool import draw
from gridatlas.model.addresses import SiteAddress
from gridatlas.model.problems import Problem
from gridatlas.pages import render
from gridatlas.pages.environment import check_templates

ESCAPES = {
    "{{ ''.__class__.__mro__ }}": "access to attribute '__class__' of 'str' object is unsafe",
    "{{ ''|attr('__class__') }}": "access to attribute '__class__' of 'str' object is unsafe",
    "{{ cycler.__init__.__globals__ }}": "attribute '__init__' of 'type' object is unsafe",
    "{{ ''['__class__'] }}": "access to attribute '__class__' of 'str' object is unsafe",
    "{{ '{0.__class__}'.format(1) }}": "access to attribute '__class__' of 'int' object is unsafe",
    "{{ ('{x.__class__}').format_map({'x': 1}) }}": "attribute '__class__' of 'int' object",
    "{{ self.__init__ }}": "unsafe",
    "{{ link.func.__globals__ }}": "unsafe",
    "{{ results.append(1) }}": "'tuple object' has no attribute 'append'",
    "{{ [].append(1) }}": "attribute 'append' of 'list' object is unsafe",
    "{% import 'os' as os %}": "no template os",
    "{% include '/etc/passwd' %}": "no template /etc/passwd",
    "{% include '../data/tiny/study.yml' %}": "no template ../data/tiny/study.yml",
    "{{ lambda: 1 }}": "expected token 'end of print statement', got ':'",
}
RECURSIVE = {
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "a template or macro that goes on calling",
    "{% include 'overview.md.jinja' %}": "a template or macro that goes on calling",
    "{{ range(10**9)|list }}": "Range too big. The sandbox blocks ranges larger than MAX_RANGE",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The pages of a small study."""
    base = tmp_path_factory.getbasetemp()
    project = site_builds.make_project(base / "templates", site_builds.shared_cache(base))
    site_builds.add_tiny_study(project)
    return build(project.folder / "data", cache=site_builds.shared_cache(base) / "gridatlas")


Written = Callable[[str], tuple[str, list[Problem]]]


@pytest.fixture
def written(site: Site, tmp_path: Path) -> Written:
    """Writes the overview with a template, as a build does."""
    plan = next(page.plan for page in site.pages if page.plan.path == "studies/index.md")

    def written(template: str) -> tuple[str, list[Problem]]:
        file = tmp_path / "overrides/overview.md.jinja"
        file.parent.mkdir()
        file.write_text(f"# Mine\n\n{template}\n", "utf-8")
        broken, read = check_templates(file.parent)
        drawings = draw(plan.pictures)
        writer = render.Writer((), drawings, file.parent, broken, SiteAddress())
        return writer.page(plan).markdown, [*read, *writer.problems]

    return written


@pytest.mark.parametrize("template", ESCAPES | RECURSIVE)
def test_it_is_reported_with_its_line_and_ours_is_used(written: Written, template: str) -> None:
    """Dear: in the first of them the page is laid out, with all that it takes."""
    markdown, [problem] = written(template)
    assert problem.place == "overrides/overview.md.jinja:3"
    assert problem.kind == "broken-template"
    assert (ESCAPES | RECURSIVE)[template] in problem.found
    assert "# Mine" not in markdown
    assert render.placeholder("studies") in markdown


def test_templates_that_are_fine_are_used(written: Written) -> None:
    markdown, problems = written("{{ 2 ** 10 }} {{ 'ab' * 3 }} {{ '%05.1f' % 2.25 }} {{ 7 % 4 }}")
    assert problems == []
    assert markdown.endswith("# Mine\n\n1024 ababab 002.2 3\n")
