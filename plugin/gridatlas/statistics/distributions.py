"""The distributions that tests need, in NumPy.

SciPy has them too, but takes longer to load than a small site to build, and more room on a disk
than all else. The tests compare: relative errors are below 10⁻⁸.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_MANY = 1000.0
"""Degrees of freedom beyond which a series tells Student's t from the normal distribution."""
_AT_ONCE = 10_000
"""Terms of continued fractions that are made at once."""
_MORE = ((4, (1, 0, 1, 0)), (96, (5, 0, 16, 0, 3, 0)), (384, (3, 0, 19, 0, 17, 0, -15, 0)))
"""Divisors and polynomials of a normal quantile, by powers of 1/df: what Student's t has more."""
_Each = Callable[[ArrayLike], Floats]
_erfc: _Each = np.vectorize(math.erfc, [float])
_log_gamma: _Each = np.vectorize(lambda x: math.lgamma(x) if x > 0 else math.nan, [float])


def normal_cdf(z: ArrayLike) -> Floats:
    """The chance of a standard normal variable below z."""
    return _erfc(-np.asarray(z, float) / math.sqrt(2)) / 2


def normal_quantile(p: float) -> float:
    """The inverse of `normal_cdf`; infinite at 0 and 1."""
    return NormalDist().inv_cdf(p) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)


def log_choose(n: ArrayLike, k: ArrayLike) -> Floats:
    """Natural logarithm of the binomial coefficient, for k from 0 to n."""
    n, k = np.asarray(n, float), np.asarray(k, float)
    return _log_gamma(n + 1) - _log_gamma(k + 1) - _log_gamma(n - k + 1)


def beta_cdf(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Floats:
    """The regularised incomplete beta function I_x(a, b), elementwise; nan where one is nan.

    By the continued fraction of the NIST Digital Library of Mathematical Functions, 8.17.22.

    Args:
        a: Above 0.
        b: Above 0.
        x: From 0 to 1.
    """
    a, b, x = (of.astype(float) for of in np.broadcast_arrays(a, b, x))
    swapped = x > (a + 1) / (a + b + 2)
    a, b, x = np.where(swapped, b, a), np.where(swapped, a, b), np.where(swapped, 1 - x, x)
    fraction = np.ones_like(a)
    terms = np.arange(_terms(np.maximum(a, b)) - 1, 0, -1).reshape(-1, *[1] * a.ndim)
    with np.errstate(all="ignore"):
        for m in np.array_split(terms, 1 + len(terms) * a.size // _AT_ONCE):
            half = m // 2
            over = np.where(m % 2, -(a + half) * (a + b + half), half * (b - half))
            for term in over * x / ((a + m - 1) * (a + m)):
                fraction = 1 + term / fraction
        front = a * np.log(x) + b * np.log1p(-x) - np.log(a)
        front += _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)
        found = np.where(x > 0, np.exp(front) / fraction, 0 * a)
    return np.where(swapped, 1 - found, found)


def _terms(size: ArrayLike) -> int:
    """As many terms of a continued fraction as float64 tells apart."""
    return 20 + int(4 * math.sqrt(np.max(size, initial=1, where=np.isfinite(size))))


def chi_squared_tails(chi2: float, df: float) -> tuple[float, float]:
    """The chances of a χ² above this one, and below.

    By the series 8.7.1, or the continued fraction 8.9.2, of the NIST Digital Library of
    Mathematical Functions.

    Args:
        chi2: At least 0.
        df: Above 0.
    """
    a, x = df / 2, chi2 / 2
    if not x > 0:
        return 1.0, 0.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        n, term, below = a, 1 / a, 1 / a
        while term > below * 1e-17:
            n += 1
            term *= x / n
            below += term
        return 1 - front * below, front * below
    fraction = 1.0
    for m in reversed(range(1, 4 * _terms(a))):
        fraction = 1 + ((m + 1) // 2 - a if m % 2 else m // 2) / x / fraction
    above = front / x / fraction
    return above, 1 - above


def f_tail(ratio: ArrayLike, df: ArrayLike, over: ArrayLike) -> Floats:
    """The chance of an F of these degrees of freedom above the ratio."""
    ratio, df, over = (np.asarray(of, float) for of in (ratio, df, over))
    return beta_cdf(over / 2, df / 2, over / (over + df * ratio))


def t_cdf(t: ArrayLike, df: ArrayLike) -> Floats:
    """The chance of Student's t below this one; of many degrees of freedom by Hill's series.

    Hill (1970), Communications of the ACM 13, 617–619.

    Args:
        t: Any numbers.
        df: Above 0; infinite for the normal distribution.
    """
    t, df = (of.astype(float) for of in np.broadcast_arrays(t, df))
    with np.errstate(all="ignore"):
        few = np.where(df < _MANY, df, 1)
        below = beta_cdf(few / 2, 0.5, few / (few + t * t)) / 2
        a = df - 0.5
        squared = np.where(np.isinf(df), t * t, a * np.log1p(t * t / df))
        b = np.where(np.isinf(df), np.inf, 48 * a * a)
        more = 4 * squared**3 + 33 * squared**2 + 240 * squared + 855
        more = (squared + 3 - more / (10 * (b + 0.8 * squared**2 + 100))) / b
        by_series = normal_cdf(-np.sqrt(squared) * (1 + more))
    below = np.where(df < _MANY, below, np.where(np.isnan(df), np.nan, by_series))
    return np.where(t > 0, 1 - below, below)


def t_quantile(p: float, df: ArrayLike) -> Floats:
    """The inverse of `t_cdf`, by Newton's method on the logarithm of the tail.

    It begins with 26.7.5 of Abramowitz and Stegun, Handbook of Mathematical Functions.

    Args:
        p: Above 0.5, below 1.
        df: At least 1; infinite for the normal distribution.
    """
    distinct, place = np.unique(np.asarray(df, float), return_inverse=True)
    return _t_quantiles(p, tuple(distinct.tolist()))[place]


# Each contrast asks again for the same few.
@lru_cache(maxsize=1024)
def _t_quantiles(p: float, of: tuple[float, ...]) -> Floats:
    df = np.array(of)
    t = np.full(df.shape, normal_quantile(p))
    t = t + sum(np.polyval(more, t) / by / df**k for k, (by, more) in enumerate(_MORE, 1))
    finite = np.where(np.isfinite(df), df, 1)
    at_0 = np.exp(_log_gamma((finite + 1) / 2) - _log_gamma(finite / 2))
    at_0 = np.where(finite < 1e6, at_0 / np.sqrt(finite * np.pi), 1 / math.sqrt(2 * math.pi))
    for _ in range(100):
        tail = t_cdf(-t, df)
        density = at_0 * np.exp(-(finite + 1) / 2 * np.log1p(t * t / finite))
        step = np.where(np.isfinite(df), tail / density * np.log(tail / (1 - p)), 0)
        t = t + step
        if not (np.abs(step) > 1e-6 * t).any():  # The next would be as small as its square.
            break
    return np.where(np.isnan(df), np.nan, t)
