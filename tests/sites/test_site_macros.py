"""Numbers of ours and macros of others, in the same page and in either order of the plugins."""

from pathlib import Path
from typing import Any

import pytest
import site_builds
from builders import write_study
from site_builds import TINY_CELLS, TINY_STUDY, Build, Project, article, navigation, text_of

LARGE = 'grid(study="tiny", model="large")'
PAGE = f"""\
# Best of {{{{ config.site_name }}}}: {{{{ {LARGE}.best.value }}}}

In {{{{ config.site_name }}}}, {{{{word}}}} best is {{{{ {LARGE}.best.value }}}}.

{{% if word %}}At {{{{ {LARGE}.best.cells }}}}.{{% endif %}}

{{% raw %}}Raw: {{{{ {LARGE}.min }}}} and {{{{ word }}}}.{{% endraw %}}

{{% for model in ["small", "large"] %}}
- {{{{ model }}}}: {{{{ grid(study="tiny",
  model="small").max }}}}
{{% endfor %}}

Code: `{{{{ {LARGE}.max }}}}` and `{{{{ word }}}}`.

```text
{{{{ {LARGE}.max }}}} {{{{ word }}}}
```

{{% include "part.md" %}}
"""
PART = f"Included: {{% raw %}}{{{{ {LARGE}.max }}}}{{% endraw %}}.\n"


def _project(folder: Path, base: Path, first: bool, **options: Any) -> Project:
    macros = {"macros": options | {"include_dir": "parts"}}
    plugins = ["gridatlas", macros] if first else [macros, "gridatlas"]
    project = site_builds.make_project(
        folder,
        site_builds.shared_cache(base),
        plugins=["search", *plugins],
        markdown_extensions=["pymdownx.superfences"],
        extra={"word": "the"},
    )
    project.write("parts/part.md", PART)
    # Where the best cell is: a level whose name is a template.
    cells = TINY_CELLS.replace(",0.2,", ",{{ 7919*7907 }},")
    write_study(project.folder / "data/tiny", TINY_STUDY, cells)
    return project


both_orders = pytest.mark.parametrize("first", [True, False], ids=["first", "last"])


@pytest.fixture(params=[True, False], ids=["first", "last"])
def build(base: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Build:
    project = _project(tmp_path / "macros", base, request.param, on_undefined="strict")
    project.write("docs/numbers.md", PAGE)
    return project.built("--strict")


def test_numbers_and_macros_are_given_in_one_page(build: Build) -> None:
    page = article(build.page("numbers/"))
    best = "Learning rate {{ 7919*7907 }}, batch size 16"
    assert text_of(page.select_one("h1")) == "Best of Tiny: 24.5"
    assert [text_of(element) for element in page.find_all("p", recursive=False)] == [
        "In Tiny, the best is 24.5.",
        f"At {best[0].lower()}{best[1:]}.",
        "Raw: 21.5 and {{ word }}.",
        f"Code: {{{{ {LARGE}.max }}}} and the.",
        "Included: 24.5.",
    ]
    assert [text_of(element) for element in page.select("li")] == ["small: 14.5", "large: 14.5"]
    assert text_of(page.select_one("pre")) == f"{{{{ {LARGE}.max }}}} the"
    # The title is the heading's, wherever it is shown.
    assert text_of(build.page("numbers/").select_one("title")) == "Best of Tiny: 24.5 - Tiny"
    titles = [title for title, _, _ in navigation(build.page(""))]
    assert titles == ["Home", "Best of Tiny: 24.5", "Studies"]
    index = (build.site / "search/search_index.json").read_text("utf-8")
    assert "Best of Tiny: 24.5" in index
    assert "gridatlas-number" not in index


def test_zensical_gives_both_too(base: Path, tmp_path: Path) -> None:
    project = _project(tmp_path / "macros", base, True)
    project.configure(
        plugins=["search", {"macros": {"include_dir": "parts"}}],
        markdown_extensions=["pymdownx.superfences", "gridatlas"],
    )
    # Its macros read the heading once more, for the title of a page that names none.
    project.write("docs/numbers.md", f"---\ntitle: Numbers\n---\n{PAGE}")
    (project.folder / ".cache").unlink()  # Zensical wants a folder of its own there.
    command = ["zensical", "build", "--clean", "--strict"]
    done = site_builds.run(command, project.folder)
    assert "Macro rendering failed" not in done.stdout
    assert done.returncode == 0, done.stdout
    page = Build(0, "", project.folder / "site").page("numbers/")
    assert text_of(page.select_one("h1")).removesuffix("¶") == "Best of Tiny: 24.5"
    assert text_of(page.select_one("title")) == "Numbers - Tiny"
    paragraphs = [text_of(element) for element in article(page).find_all("p", recursive=False)]
    assert paragraphs[0] == "In Tiny, the best is 24.5."
    assert paragraphs[-2:] == [f"Code: {{{{ {LARGE}.max }}}} and the.", "Included: 24.5."]


@both_orders
def test_a_number_that_is_wrong_is_a_message_of_ours(
    base: Path, tmp_path: Path, first: bool
) -> None:
    project = _project(tmp_path / "macros", base, first)
    project.write("docs/numbers.md", '# Numbers\n\nA {{ grid(study="tin").max }} {{ word }}\n')
    assert project.build("--strict").status == 1
    build = project.built()
    assert (
        "WARNING -  numbers.md: a number is missing\n"
        'there is no study "tin"; did you mean tiny?\n'
        '  grid(study="tin").max\n'
    ) in build.log
    assert "Macro Rendering Error" not in build.log
    text = text_of(article(build.page("numbers/")))
    assert text == 'Numbers A (there is no study "tin"; did you mean tiny?) the'


@both_orders
def test_an_included_number_without_raw_is_said_by_macros(
    base: Path, tmp_path: Path, first: bool
) -> None:
    """What a page includes is read by macros alone: docs/hosts.md names the spelling that works."""
    project = _project(tmp_path / "macros", base, first)
    project.write("parts/part.md", "{{ grid(study='tiny').max }}")
    project.write("docs/numbers.md", '{% include "part.md" %}')
    build = project.build("--strict")
    assert build.status == 1
    assert "_UndefinedError_: 'grid' is undefined" in build.log
