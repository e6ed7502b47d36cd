"""Whether a value measured again agrees with the published one: edges, worked out by hand."""

from math import sqrt

import pytest

from gridatlas.statistics.differences import BY_CLUSTERS, BY_TRIALS, difference_interval
from gridatlas.statistics.estimates import Estimate
from gridatlas.statistics.estimates import interval_of as interval_of_estimate
from gridatlas.statistics.interval import Interval, verdict

Z = 1.959963984540054
T4 = 2.7764451051977987  # Student's t with 4 degrees of freedom, 97.5 %


@pytest.mark.parametrize(
    ("low", "high", "margin", "expected"),
    [
        (-3, 3, 3, "agrees"),  # the ends belong to the margin
        (-3.01, 3, 3, "too few to tell"),
        (-3, 3.01, 3, "too few to tell"),
        (-0.1, 0.1, 3, "agrees"),
        (0.5, 2.9, 3, "agrees"),  # surely another value, and surely none that matters
        (0.5, 3.1, 3, "differs"),
        (-3.1, -0.5, 3, "differs"),
        (0, 3.1, 3, "too few to tell"),  # 0 isn't excluded
        (-3.1, 0, 3, "too few to tell"),
        (3.1, 9, 3, "differs"),
        (-60, 70, 3, "too few to tell"),
        (-0.1, 0.1, None, "too few to tell"),  # nothing agrees without a margin
        (0, 0, None, "too few to tell"),
        (0.1, 0.2, None, "differs"),
        (-0.2, -0.1, None, "differs"),
    ],
)
def test_verdicts(low, high, margin, expected):
    assert verdict(Interval(low, high), margin) == expected


@pytest.mark.parametrize(("low", "high", "margin"), [(0, 1, 0), (0, 1, -3), (1, 0, 3)])
def test_wrong_margins_and_intervals(low, high, margin):
    with pytest.raises(ValueError, match=r"margin|interval"):
        verdict(Interval(low, high), margin)


def verdict_at(published, again, margin):
    found = difference_interval(published, again)
    return verdict(found[0], margin)


def test_few_trials_never_agree():
    # 0 of n on both sides: ± z²/(n + z²), at most 0.03 from n = z² · 0.97/0.03 = 124.2 on.
    assert pytest.approx(124.21, abs=0.01) == Z**2 * 0.97 / 0.03
    for n in range(1, 125):
        for k in range(0, n + 1, max(1, n // 7)):
            equal = Estimate(k / n, n)
            assert verdict_at(equal, equal, 0.03) == "too few to tell", (k, n)
    assert verdict_at(Estimate(0.0, 125), Estimate(0.0, 125), 0.03) == "agrees"
    # In the middle it takes 2 · (z/0.03)² · 0.25 = 2,134 or so: at p = ½ each half width adds up.
    assert verdict_at(Estimate(0.5, 2100), Estimate(0.5, 2100), 0.03) == "too few to tell"
    assert verdict_at(Estimate(0.5, 2200), Estimate(0.5, 2200), 0.03) == "agrees"
    # However many trials one side has, the other stays as it is.
    assert verdict_at(Estimate(0.5, 150), Estimate(0.5, 10**6), 0.03) == "too few to tell"


@pytest.mark.parametrize(
    ("estimate", "low", "high"),
    [
        (Estimate(1.0, 1), 1 / (1 + Z**2), 1),
        (Estimate(0.0, 30), 0, Z**2 / (30 + Z**2)),
        # 5 items: t = 2.776, wider than Wilson's of 1,000 trials …
        (Estimate(0.5, 1000, 0.02, 5), 0.5 - 0.02 * T4, 0.5 + 0.02 * T4),
        # … and not than that of 20: ½ ± z √(¼/20 + z²/1600)/(1 + z²/20).
        (
            Estimate(0.5, 20, 0.02, 5),
            0.5 - Z * sqrt(0.0125 + Z**2 / 1600) / (1 + Z**2 / 20),
            0.5 + Z * sqrt(0.0125 + Z**2 / 1600) / (1 + Z**2 / 20),
        ),
        # A standard error alone, of unknown items: normal.
        (Estimate(0.5, None, 0.02), 0.5 - 0.02 * Z, 0.5 + 0.02 * Z),
        # All 30 items alike, 5 samples each: as 30 trials, not as 150.
        (Estimate(1.0, 150, None, 30), 30 / (30 + Z**2), 1),
        # One training seed is one trial, whatever its standard error says.
        (Estimate(1.0, 600, None, 1), 1 / (1 + Z**2), 1),
        (Estimate(1.0, 600, 0.001, 1), 1 / (1 + Z**2), 1),
    ],
)
def test_intervals_of_one_value(estimate, low, high):
    found = interval_of_estimate(estimate)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_the_difference_is_newcombes():
    # Newcombe (1998), table II, (a): 56/70 and 48/80, method 10.
    found = difference_interval(Estimate(48 / 80, 80), Estimate(56 / 70, 70))
    assert (found[0].low, found[0].high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert found[1] == BY_TRIALS
    # Two standard errors: the squares of their reaches add up.
    both = difference_interval(Estimate(2.0, None, 0.3), Estimate(2.5, None, 0.4))
    assert (both[0].low, both[0].high) == pytest.approx((0.5 - Z / 2, 0.5 + Z / 2))
    assert both[1] == BY_CLUSTERS


@pytest.mark.parametrize(
    ("published", "again"),
    [
        (Estimate(0.5), Estimate(0.5, 100)),
        (Estimate(0.5, 100), Estimate(0.5)),
        (Estimate(0.5, None, 0.0), Estimate(0.5, 100)),  # a standard error of 0 says nothing
        (Estimate(0.5, None, 0.1, 1), Estimate(0.5, 100)),
    ],
)
def test_without_trials_or_standard_errors_there_is_no_interval(published, again):
    assert difference_interval(published, again) is None
