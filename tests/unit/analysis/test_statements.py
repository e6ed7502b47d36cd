"""Verdicts of statements: never kinder than the test of what they assert."""

import numpy as np
import pytest
from builders import cases

from gridatlas.analysis import statements
from gridatlas.analysis.statements import strong_words, tally, verdict, worst


@pytest.mark.parametrize(
    ("arithmetic", "options", "expected"),
    [
        (True, {"quotes": True}, "holds"),
        (True, {"quotes": True, "capped": True}, "holds-untested"),
        (True, {"p": 0.01}, "holds"),
        (True, {"p": 0.05}, "holds"),
        (True, {"p": 0.051}, "holds-within-noise"),
        (True, {"p": 0.01, "contrary": True}, "holds-within-noise"),
        (True, {"p": 0.01, "capped": True}, "holds-untested"),
        (True, {}, "holds-untested"),
        (True, {"p": float("nan")}, "holds-untested"),
        (False, {}, "false"),
        (False, {"p": 0.01}, "false"),
        (False, {"p": 0.01, "contrary": True}, "contrary-shown"),
        (False, {"p": 0.2, "contrary": True}, "false"),
        (None, {"p": 0.01}, "undecided"),
    ],
)
def test_verdicts(arithmetic, options, expected):
    assert verdict(arithmetic, **options) == expected


def test_two_readings_have_the_worse_verdict():
    assert worst(["holds", "holds-within-noise"]) == "holds-within-noise"
    assert worst(["undecided", "false", "holds"]) == "false"


@pytest.mark.parametrize(("text", "more"), cases(__file__, "words that assert more"))
def test_words_that_assert_more(text, more):
    assert bool(strong_words(text)) is more


def test_a_source_is_a_family():
    found = statements.adjusted([0.01, None, 0.04])
    assert found == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)


def test_counts_add_up():
    assert tally(300, 20, 4, 324) == (300, 20, 4)
    with pytest.raises(ValueError, match="20 failed and 4 not applicable aren't the 36"):
        tally(300, 20, 4, 36)
