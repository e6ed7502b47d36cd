"""No page of ours shows Markdown as text: a table that a blank line ends, a list in a paragraph."""

import re

import pytest
from bs4 import BeautifulSoup, Tag
from markdown import Markdown
from site_builds import Build, article, parse

RAW = {
    "table": r"^\s*\|.*|.*\|\s*$",
    "block": r"^\s*(?:!!!|\?\?\?\+?|===|///|:::|```|~~~|>).*",
    "list": r"^\s*(?:[-*+]|\d+[.)])\s.*",
    "heading": r"^\s*#{1,6}\s.*",
    "link": r"\[[^\]]*\]\([^)]*\)|^\s*\[[^\]]+\]:.*",
    "emphasis": r"\*\*\w[^*]*\*\*|(?<!\w)__\w[^_]*__(?!\w)",
    "attributes": r"\{[:#.][^}]*\}",
    "template": r"\{\{[^}]*\}\}|\{%[^%]*%\}",
}
"""What is left of Markdown that wasn't read as such."""
SHOWN = "p, li, td, th, dd, dt, summary, figcaption"


def left(page: Tag) -> list[tuple[str, str]]:
    """Markdown in the texts of a page, as (what, text); code, drawings and scripts may have it."""
    page = BeautifulSoup(str(page), "html.parser")
    for element in page.select(
        "code, pre, kbd, svg, script, style, .ga-share, .jp-Notebook .highlight"
    ):
        element.replace_with("x")
    found = []
    for element in page.select(SHOWN):
        texts = "".join(element.find_all(string=True, recursive=False))
        # A line's end in the source, in a paragraph, begins no block.
        for what, pattern in RAW.items():
            found += [(what, match[0].strip()) for match in re.finditer(pattern, texts, re.M)]
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("|a|b|\n|-|-|\n|1|2|\n\n|3|4|\n", [("table", "|3|4|")]),
        ("Text\n- one\n- two\n", [("list", "- one"), ("list", "- two")]),
        ("Text\n1. one\n", [("list", "1. one")]),
        ("!!! note\n    text\n", [("block", "!!! note")]),
        ("Text\n```\ncode\n", [("block", "```")]),
        ("[a] (b) and [a]\n(b)\n\n<p>[a](b)</p>\n", [("link", "[a](b)")]),
        ("a ** b** and **b\n\nc**", []),
        ("# a\n\n<p>**b** {: .c }</p>\n", [("emphasis", "**b**"), ("attributes", "{: .c }")]),
        ("{{ x }} {% y %}\n", [("template", "{{ x }}"), ("template", "{% y %}")]),
        ("|a|b|\n|-|-|\n|1|`|`|\n\n`| 1 |` - and 1. and #2\n\n- a\n\n1. b\n\n> c\n", []),
    ],
)
def test_what_is_left_of_markdown_is_found(text: str, found: list[tuple[str, str]]) -> None:
    html = Markdown(extensions=["tables"]).convert(text)
    assert left(BeautifulSoup(html, "html.parser")) == found


def test_no_page_of_the_documentation_shows_markdown(atlas: Build) -> None:
    pages = {
        path.relative_to(atlas.site).as_posix(): path
        for path in sorted(atlas.site.rglob("index.html"))
        if path.relative_to(atlas.site).parts[0] not in ("grids", "studies")
    }
    assert len(pages) > 30
    found = {name: left(article(parse(path))) for name, path in pages.items()}
    assert {name: texts for name, texts in found.items() if texts} == {}
