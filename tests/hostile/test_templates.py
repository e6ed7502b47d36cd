"""A user's template that leaves the sandbox, or runs for ever, is told, and ours is used."""

import contextlib
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import site_builds

from gridatlas import bounds, page
from gridatlas.address import SiteAddress
from gridatlas.build import Site, build
from gridatlas.problems import Problem

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
ENDLESS = {
    "{{ range(10**9)|list }}": "Range too big. The sandbox blocks ranges larger than MAX_RANGE",
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}":
        "it runs for more than",
    "{% for a in range(99999) %}{% if loop.index > 5 %}{% for b in range(99999) %}x{% endfor %}"
    "{% endif %}{% endfor %}": "it runs for more than",
    "{{ 'a' * 10**10 }}": "what * makes here is too large",
    "{{ 10**10 * [1] }}": "what * makes here is too large",
    "{{ 9**999999 }}": "what ** makes here is too large",
    "{{ '%1000000000d' % 1 }}": "what % makes here is too large",
    "{{ '%*d' % (1000000000, 1) }}": "what % makes here is too large",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "a template or macro that goes on calling",
    "{% include 'overview.md.jinja' %}": "a template or macro that goes on calling",
    "{% set n = namespace(t='xxxxxxxx') %}{% for a in range(60) %}{% set n.t = n.t ~ n.t %}"
    "{% endfor %}": "more memory than a page needs",
    "{{ 'x'.center(10000000000) }}": "more memory than a page needs",
    "{{ 'x'|center(10000000000) }}": "more memory than a page needs",
    "{{ '{:10000000000}'.format(1) }}": "more memory than a page needs",
    "{{ lipsum(n=1000000) }}": "it runs for more than",
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The pages of a small study."""
    base = tmp_path_factory.getbasetemp()
    project = site_builds.make_project(base / "endless", site_builds.shared_cache(base))
    site_builds.add_tiny_study(project)
    return build(project.folder / "data", cache=site_builds.shared_cache(base) / "gridatlas")


Written = Callable[[str], tuple[str, list[Problem]]]


@pytest.fixture
def written(site: Site, tmp_path: Path) -> Written:
    """Writes the overview with a template, as a build does."""
    plan = next(one.plan for one in site.pages if one.plan.path == "studies/index.md")

    def written(template: str) -> tuple[str, list[Problem]]:
        file = tmp_path / "overrides/overview.md.jinja"
        file.parent.mkdir()
        file.write_text(f"# Mine\n\n{template}\n", "utf-8")
        broken, read = page.check_templates(file.parent)
        writer = page.Writer((), site.drawings, file.parent, broken, SiteAddress())
        return writer.page(plan).markdown, [*read, *writer.problems]

    return written


@pytest.mark.parametrize("template", ESCAPES | ENDLESS)
def test_it_is_told_with_its_line_and_ours_is_used(
    written: Written, monkeypatch: pytest.MonkeyPatch, template: str
) -> None:
    told = (ESCAPES | ENDLESS)[template]
    monkeypatch.setattr(bounds, "MOST_SECONDS", 0.5 if "runs for" in told else 120)
    monkeypatch.setattr(bounds, "MOST_BYTES", 2**28)
    markdown, [problem] = written(template)
    assert problem.place == "overrides/overview.md.jinja:3"
    assert problem.kind == "broken-template"
    assert told in problem.found
    assert "# Studies" in markdown


def test_templates_that_are_fine_are_used(written: Written) -> None:
    markdown, problems = written("{{ 2 ** 10 }} {{ 'ab' * 3 }} {{ '%05.1f' % 2.25 }} {{ 7 % 4 }}")
    assert problems == []
    assert markdown.endswith("# Mine\n\n1024 ababab 002.2 3\n")


def test_the_bounds_end_with_the_template() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    inside = []
    with contextlib.suppress(ZeroDivisionError), bounds.bounded(Path("/templates")):
        inside.append(sys.gettrace())
        raise ZeroDivisionError
    assert inside != [None]
    assert sys.gettrace() is None
    assert resource.getrlimit(resource.RLIMIT_AS) == before
