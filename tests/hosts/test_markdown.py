"""Numbers in prose: `{{ grid(...).best.value }}` in any Markdown page."""

from collections.abc import Mapping
from pathlib import Path

import markdown
import pytest

from gridatlas import load
from gridatlas.claims import ClaimError
from gridatlas.hosts.markdown import GridAtlasExtension, number
from gridatlas.table.grids import Results

DATA = Path(__file__).parents[2] / "data"
QWEN = 'grid(study="dynts-window-ratio", model="r1-qwen", benchmark="aime24")'


@pytest.fixture(scope="module")
def studies() -> Mapping[str, Results]:
    return load(DATA)


def _html(text: str) -> str:
    """The page with the name of each expression in its place, so that it is seen what is one."""
    extension = GridAtlasExtension(lambda expression: f"<{expression}>")
    return markdown.markdown(text, extensions=["fenced_code", "tables", extension])


@pytest.mark.parametrize(
    ("text", "html"),
    [
        (
            "a {{ grid(x=1).best }} b",
            '<p>a <span class="ga-number">&lt;grid(x=1).best&gt;</span> b</p>',
        ),
        ("{{grid(a)}}", '<p><span class="ga-number">&lt;grid(a)&gt;</span></p>'),
        # Text is text: nothing in it is markup.
        ("{{ grid('*a*_b_') }}", "<p><span class=\"ga-number\">&lt;grid('*a*_b_')&gt;</span></p>"),
        # Braces that begin with anything else belong to others, and code is code.
        ("{{ page.title }} {% x %}", "<p>{{ page.title }} {% x %}</p>"),
        ("{{ gridlock() }}", "<p>{{ gridlock() }}</p>"),
        ("`{{ grid(a) }}`", "<p><code>{{ grid(a) }}</code></p>"),
        ("    {{ grid(a) }}", "<pre><code>{{ grid(a) }}\n</code></pre>"),
        ("```\n{{ grid(a) }}\n```", "<pre><code>{{ grid(a) }}\n</code></pre>"),
        ("{{ grid(a)", "<p>{{ grid(a)</p>"),
    ],
)
def test_only_braces_that_begin_with_grid_are_taken(text: str, html: str) -> None:
    assert _html(text) == html


def test_it_works_in_tables_lists_and_emphasis() -> None:
    page = _html("- **{{ grid(a) }}**\n\n|a|\n|-|\n|{{ grid(b) }}|\n")
    assert '<strong><span class="ga-number">&lt;grid(a)&gt;</span></strong>' in page
    assert '<td><span class="ga-number">&lt;grid(b)&gt;</span></td>' in page


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (f"{QWEN}.best.value", "52.0"),
        (f"{QWEN}.at(ratio=0.2, local_window=500)", "40.0"),
        (f"{QWEN}.mean", "45.03"),
        (f"({QWEN} > 47).count", "6"),
        (f"{QWEN}.best.cells", "ratio 0.4, local window size 2000"),
    ],
)
def test_a_number_stands_as_printed(
    studies: Mapping[str, Results], expression: str, text: str
) -> None:
    assert number(expression, studies) == text


def test_a_number_that_is_not_there_says_why(studies: Mapping[str, Results]) -> None:
    with pytest.raises(ClaimError) as caught:
        number('grid(study="grpo-digit", setting="before").mean', studies)
    assert str(caught.value).startswith(
        'there is no study "grpo-digit"; did you mean grpo-digits?\n'
        '  grid(study="grpo-digit", setting="before").mean\n'
        "       ^^^^^^^^^^^^^^^^^^\n"
    )
