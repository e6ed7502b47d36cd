"""The share of false and of wrong answers, over simulated studies with fixed seeds.

60 studies of each kind: of a true 4 %, 7 are chance once in 100 kinds. The whole tables are those
of `python tools/simulate_answers.py`.
"""

import pytest
from amount import amount

import random_designs
from simulate_answers import NULL, PLANTED, false_pages, found

NULLS = amount(60, 200)
PLANTS = amount(40, 100)


@pytest.fixture(scope="module")
def fronts():
    return {}


@pytest.mark.parametrize("kind", NULL)
def test_nothing_differs(kind, fronts):
    rows = [false_pages(kind, number) for number in range(NULLS)]
    fronts[kind] = sum(front for front, _, _ in rows)
    anywhere = sum(page for _, _, page in rows)
    assert fronts[kind] <= 7 * NULLS / 60
    assert anywhere <= 11 * NULLS / 60


def test_nothing_differs_over_all_kinds(fronts):
    if len(fronts) < len(NULL):  # Another process has the rest of them.
        rows = [false_pages(kind, 1000 + number) for kind in NULL for number in range(4)]
        assert sum(front for front, _, _ in rows) <= 0.08 * len(rows)
    else:
        assert sum(fronts.values()) <= 0.05 * NULLS * len(NULL)


@pytest.mark.parametrize("kind", PLANTED)
def test_what_was_planted_is_named(kind):
    rows = [found(kind, number) for number in range(PLANTS)]
    expected = float(PLANTED[kind][2].split("/")[0])
    asserted = 100 * sum(row[0] for row in rows) / PLANTS
    assert sum(wrong for *_, wrong in rows) <= 4 * PLANTS / 40
    # Three standard errors of a share of so many.
    assert asserted >= expected - 300 * (0.25 / PLANTS) ** 0.5


@pytest.mark.parametrize("planted", [False, True])
def test_random_designs(planted):
    """What isn't so is asserted on few front pages, and few pages, whatever the design."""
    count = amount(300, 3000)
    rows = [random_designs.judged(number, planted=planted) for number in range(count)]
    for share, place in ((0.05, 0), (0.08, 2)):
        room = 2.5 * (share * (1 - share) / count) ** 0.5
        assert sum(row[place] for row in rows) <= count * (share + room)
