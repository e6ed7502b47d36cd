"""Fisher's exact test, one-sided, of many pairs of cells at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from gridatlas.statistics.counts import Floats

_CHUNK = 2**20
"""Elements of an array that a vectorised sum holds at once."""


def fisher_greater(k1: ArrayLike, n1: ArrayLike, k2: ArrayLike, n2: ArrayLike) -> Floats:
    """P-values of Fisher's exact test that the first share is greater, for many pairs at once.

    The upper tail of the hypergeometric distribution, summed outwards from the observed count. The
    terms left out are below e⁻⁵⁰ of the sum: behind the mean a log-concave tail falls at least as
    fast as at the mean, where Bernstein's inequality bounds it.

    Args:
        k1: Successes of the first, from 0 to n1 (this isn't checked here); one-dimensional.
        n1: Trials of the first, of the same length, as are the other two.
        k2: Successes of the second.
        n2: Trials of the second.
    """
    k, n, k2, n2 = (np.asarray(one, dtype=np.float64) for one in (k1, n1, k2, n2))
    total, marked = n + n2, k + k2
    # Below the mean the other tail is the short one: that of n1 − k1 + 1 failures or more.
    low = k < n * marked / total
    k, marked = np.where(low, n - k + 1, k), np.where(low, total - marked, marked)
    logarithm = log_choose(marked, k) + log_choose(total - marked, n - k)
    first = np.exp(logarithm - log_choose(total, n))
    deviation = np.sqrt(n * marked / total * (1 - marked / total))
    width = int(np.ceil(60 + 12 * deviation.max(initial=0)))
    tail = np.empty_like(k)
    step = max(1, _CHUNK // width)
    for start in range(0, len(k), step):
        part = slice(start, start + step)
        x = k[part, None] + np.arange(width)
        ratio = (marked[part, None] - x) * (n[part, None] - x)
        ratio /= (x + 1) * ((total - marked - n)[part, None] + x + 1)
        # The first factor that isn't positive stands behind the last possible count.
        tail[part] = first[part] * (1 + np.cumprod(np.maximum(ratio, 0), axis=1).sum(axis=1))
    return np.clip(np.where(low, 1 - tail, tail), 0, 1)


def log_choose(n: Floats, k: Floats) -> Floats:
    """Natural logarithm of the binomial coefficient; −∞ for k = −1 and k = n + 1."""
    found = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return np.asarray(found, dtype=np.float64)
