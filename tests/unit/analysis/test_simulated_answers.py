"""The share of false and of wrong answers, over simulated studies with fixed seeds.

A few studies of each kind, so that the shares are those over all kinds. The whole tables are those
of `python tools/simulate_answers.py`.
"""

import pytest
from amount import amount

import random_designs
from simulate_answers import NULL, PLANTED, false_pages, found

NULLS = amount(4, 200)
PLANTS = amount(10, 100)


def test_nothing_differs():
    rows = {kind: [false_pages(kind, number) for number in range(NULLS)] for kind in NULL}
    fronts = {kind: sum(front for front, _, _ in of) for kind, of in rows.items()}
    anywhere = {kind: sum(page for _, _, page in of) for kind, of in rows.items()}
    # Of a true 4 %, 2 of 4 are chance once in 100 kinds.
    assert {kind: of for kind, of in fronts.items() if of > NULLS / 4} == {}
    assert {kind: of for kind, of in anywhere.items() if of > NULLS / 3} == {}
    assert sum(fronts.values()) <= 0.05 * NULLS * len(NULL)


def test_what_was_planted_is_named():
    rows = {kind: [found(kind, number) for number in range(PLANTS)] for kind in PLANTED}
    asserted = {kind: sum(row[0] for row in of) / PLANTS for kind, of in rows.items()}
    expected = {kind: float(PLANTED[kind][2].split("/")[0]) / 100 for kind in PLANTED}
    # Three standard errors of a share of so many.
    room = 3 * (0.25 / PLANTS) ** 0.5
    assert {kind: of for kind, of in asserted.items() if of < expected[kind] - room} == {}
    assert sum(asserted.values()) >= sum(expected.values()) - room * len(PLANTED) ** 0.5
    assert sum(row[-1] for of in rows.values() for row in of) <= 0.04 * PLANTS * len(PLANTED)


@pytest.mark.parametrize("planted", [False, True])
def test_random_designs(planted):
    """What isn't so is asserted on few front pages, and few pages, whatever the design."""
    count = amount(60, 3000)
    rows = [random_designs.judged(number, planted=planted) for number in range(count)]
    for share, place in ((0.05, 0), (0.08, 2)):
        room = 2.5 * (share * (1 - share) / count) ** 0.5
        assert sum(row[place] for row in rows) <= count * (share + room)


def test_large_effects_are_found():
    """In all designs but those that nothing repeats, or hardly anything."""
    missed = [random_designs.missed(number) for number in range(amount(100, 3000))]
    found = [of for of in missed if of is not None]
    assert sum(found) <= 0.1 * len(found)
