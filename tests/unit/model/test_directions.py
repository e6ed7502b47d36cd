"""What names of metrics say of which values are better."""

import pytest
from builders import cases

from gridatlas.model.directions import HIGHER, LOWER, direction_of, says_lower


@pytest.mark.parametrize(
    ("name", "unit", "better", "is_lower"), cases(__file__, "whole words say it")
)
def test_whole_words_say_it(name, unit, better, is_lower):
    assert (direction_of(name, unit)[0], says_lower(name)) == (better, is_lower)


def test_no_word_says_both():
    assert set() == LOWER & HIGHER
