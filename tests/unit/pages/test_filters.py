"""Filters of templates."""

import re

from hypothesis import given
from hypothesis import strategies as st

from gridatlas.pages.filters import FILTERS


def read(text):
    """A CSS string's content, by its grammar."""
    return re.sub(r"\\([0-9a-f]{1,6}) ", lambda found: chr(int(found[1], 16)), text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_stays_within_a_string_of_css(text):
    css = str(FILTERS["css_string"](text))
    assert read(css) == text
    assert re.fullmatch(r"(?:[A-Za-z0-9]|\\[0-9a-f]{1,6} )*", css)
