"""Texts of data are paragraphs in Markdown, whatever begins a block with some extension."""

import re

import pytest
from amount import amount
from bs4 import BeautifulSoup
from hostile import EXTENSIONS
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from markdown import Markdown

from gridatlas.data.text import unprintable
from gridatlas.pages.environment import escape_markdown

STARTS = [
    "??? danger", "???+ open", "1) one", "12) twelve", "a) letter", "i) roman", "IV) upper",
    "#) any", "1. one", "a. letter", "i. roman", "#. any", "- one", "+ one", "* one", ": term",
    "!!! note", "/// note", '=== "tab"', "> quote", "```", "~~~", "| a | b |", "---", "# h",
    "[TOC]", "[^1]: note", "*[A]: b", "[x]: y", "--8<-- 'x'", "[=50% 'x']", "(a) one",
]  # fmt: skip
"""Known ones; the others are taken from the extensions."""


def _patterns() -> dict[str, re.Pattern[str]]:
    """What the extensions look for in lines and blocks, by the class that does."""
    processors = [*MARKDOWN.preprocessors, *MARKDOWN.parser.blockprocessors]
    return {
        f"{type(processor).__name__}.{name}": getattr(processor, name)
        for processor in processors
        for name in dir(processor)
        if isinstance(getattr(processor, name), re.Pattern)
    }


MARKDOWN = Markdown(extensions=EXTENSIONS)
PATTERNS = _patterns()


def _html(text: str) -> BeautifulSoup:
    MARKDOWN.reset()
    return BeautifulSoup(MARKDOWN.convert(str(escape_markdown(text))), "html.parser")


@pytest.mark.parametrize("text", STARTS)
def test_a_known_start_of_a_block_is_text(text: str) -> None:
    assert [(element.name, element.get_text()) for element in _html(text).find_all(True)] == [
        ("p", text)
    ]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(
    deadline=None,
    max_examples=amount(10, 300),
    derandomize=True,
    suppress_health_check=[HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_what_an_extension_looks_for_is_text(pattern: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(PATTERNS[pattern]))
    assume(not unprintable(text) and text.strip())
    html = _html(text)
    assert [element.name for element in html.find_all(True)] == ["p"]
    assert " ".join(html.get_text().split()) == " ".join(text.split())


def test_there_are_patterns_of_many_extensions() -> None:
    names = {name.partition(".")[0] for name in PATTERNS}
    assert {"DetailsProcessor", "FancyOListProcessor", "AdmonitionProcessor"} <= names
    assert len(PATTERNS) > 25
