"""Fisher's exact test, one-sided, of many pairs of cells at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from gridatlas.statistics.counts import Floats


def fisher_greater(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike) -> Floats:
    """P-values of Fisher's exact test that the first share is greater, for many pairs at once.

    Args:
        k1: Successes of the first, from 0 to n1 (this isn't checked here); one-dimensional.
        n1: Trials of the first, of the same length, as are the other two.
        k2: Successes of the second.
        n2: Trials of the second.
    """
    k1, n1, k2, n2 = (np.asarray(values, dtype=np.int64) for values in (k1, n1, k2, n2))
    # The upper tail includes the observed count.
    p = stats.hypergeom.sf(k1 - 1, n1 + n2, k1 + k2, n1)
    return np.asarray(p, dtype=np.float64)


def log_choose(n: Floats, k: Floats) -> Floats:
    """Natural logarithm of the binomial coefficient; −∞ for k = −1 and k = n + 1."""
    found = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(found, dtype=np.float64)
