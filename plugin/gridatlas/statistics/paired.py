"""Two cells compared question by question."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gridatlas.statistics.distributions import log_choose
from gridatlas.statistics.estimates import Floats

_FINEST_SHARE = 64
"""Outcomes that are shares of up to this many samples are tested exactly."""
_ENUMERATED_UP_TO = 14
"""Questions up to which every sign pattern is tried where outcomes are no such shares."""
RANDOM_PATTERNS = 19_999
"""Sign patterns that are tried where there are too many to try all."""
_AT_ONCE = 1024
"""Sign patterns in memory at once."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A p-value, and the name of the test that gave it."""

    p: float
    test: str


def paired_p(first: Sequence[float], second: Sequence[float]) -> PairedTest:
    """Two-sided test of two cells by the outcomes that they have on the same questions.

    Under the null hypothesis each question's difference is as likely to have the other sign: the
    sum of the differences is compared with the sums under other signs (Fisher 1935, *The Design of
    Experiments*, § 21). Questions are independent of one another; samples of one needn't be.

    - Outcomes 0 and 1: that is McNemar's exact test (McNemar 1947, Psychometrika 12, 153–157).
    - Shares, from 0 to 1, of up to 64 samples: exact over all sign patterns, by convolution (Pagano
      & Tritchler 1983, JASA 78, 435–440).
    - Any other numbers: exact over all patterns up to 14 questions; beyond, over random ones.

    Args:
        first: Outcome per question, such as the share of its samples that are right.
        second: As `first`, of the same length and in the same order of questions.

    Returns:
        Twice the smaller p of the two one-sided tests, at most 1.

    Raises:
        ValueError: For no questions, unequal lengths, or outcomes that aren't finite.
    """
    greater, less, test = sign_flips(outcome_table([first, second]), [(0, 1)])
    return PairedTest(float(min(1.0, 2 * min(greater[0], less[0]))), test)


def outcome_table(cells: Sequence[Sequence[float]]) -> Floats:
    """The outcomes as a table, cell by question.

    Raises:
        ValueError: For no questions, unequal lengths, or outcomes that aren't finite.
    """
    lengths = sorted({len(cell) for cell in cells})
    if len(lengths) > 1:
        raise ValueError(
            f"the cells have {lengths[0]} to {lengths[-1]} outcomes; "
            "paired cells have one per question, for the same questions"
        )
    table = np.array(cells, dtype=np.float64)
    if not table.size:
        raise ValueError("a paired test needs at least one question")
    if not np.isfinite(table).all():
        raise ValueError("an outcome isn't a finite number")
    return table


def sign_flips(table: Floats, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, Floats, str]:
    """P-values that the first of each pair of rows is greater, and less; and the test's name.

    All pairs share the random patterns. The observed pattern counts too, so that the level holds.
    """
    differences = np.array([table[i] - table[j] for i, j in pairs]).reshape(-1, table.shape[1])
    shares = np.unique(np.abs(table))
    for unit in range(1, _FINEST_SHARE + 1):
        if shares[-1] <= 1 and np.allclose(
            shares * unit, np.rint(shares * unit), rtol=0, atol=1e-9
        ):
            steps = np.rint(differences * unit).astype(np.int64)
            tails = np.array([_exact_tails(row) for row in steps]).reshape(-1, 2)
            binary = np.isin(shares, (0, 1)).all()
            name = "McNemar's exact test" if binary else "sign-flip permutation test, exact"
            return tails[:, 0], tails[:, 1], name
    questions = table.shape[1]
    at_random = questions > _ENUMERATED_UP_TO
    patterns = RANDOM_PATTERNS if at_random else 2**questions
    counts = [
        _flipped(part.tobytes(), questions, patterns, at_random)
        for part in np.split(differences, range(64, len(differences), 64))
    ]
    greater, less = (np.concatenate(counts, axis=1) + at_random) / (patterns + at_random)
    which = f"{patterns:,} random patterns" if at_random else "exact"
    return greater, less, f"sign-flip permutation test, {which}"


# Pages that compare the same levels ask for the same test.
@functools.lru_cache(maxsize=1024)
def _flipped(
    differences: bytes, questions: int, patterns: int, at_random: bool
) -> NDArray[np.int64]:
    """How many sign patterns give a sum at least, and at most, as large, per row of differences.

    Args:
        differences: The rows, in float64.
        questions: Of a row.
        patterns: How many are tried.
        at_random: Whether they are drawn at random, the same in every run; else all are tried.
    """
    rows = np.frombuffer(differences).reshape(-1, questions)
    seen = rows.sum(axis=1)
    # Equal sums may differ in their last digits.
    room = 1e-9 * np.abs(rows).sum(axis=1)
    random = np.random.default_rng(0) if at_random else None
    found = np.zeros((2, len(rows)), dtype=np.int64)
    for start in range(0, patterns, _AT_ONCE):
        end = min(start + _AT_ONCE, patterns)
        if random is None:
            chosen = np.arange(start, end)[:, None] >> np.arange(questions) & 1
        else:
            chosen = random.integers(0, 2, (end - start, questions))
        sums = (chosen * 2.0 - 1) @ rows.T
        found += [(sums >= seen - room).sum(axis=0), (sums <= seen + room).sum(axis=0)]
    return found


def _exact_tails(steps: NDArray[np.int64]) -> tuple[float, float]:
    """Chances of a sum at least, and at most, as large as that of these whole numbers.

    The sum of those that are positive is a Binomial(count, ½) times the size, for each size.
    """
    law = np.ones(1)
    for size, count in zip(*np.unique(np.abs(steps[steps != 0]), return_counts=True), strict=True):
        part = np.zeros(size * count + 1)
        chosen = np.arange(count + 1.0)
        part[::size] = np.exp(log_choose(chosen[-1:], chosen) - count * np.log(2))
        law = np.convolve(law, part)
    positive = steps[steps > 0].sum()
    return min(1.0, float(law[positive:].sum())), min(1.0, float(law[: positive + 1].sum()))
