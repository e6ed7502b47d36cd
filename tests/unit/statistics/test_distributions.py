"""Our distributions against SciPy's, over all that tests ask of them."""

import math

import numpy as np
import pytest
from scipy import special, stats

from gridatlas.statistics.differences import fisher, fisher_greater
from gridatlas.statistics.distributions import (
    beta_cdf,
    chi_squared_tails,
    f_tail,
    log_choose,
    normal_cdf,
    normal_quantile,
    t_cdf,
    t_quantile,
)

RANDOM = np.random.default_rng(1)
DF = np.concatenate(
    [RANDOM.uniform(1, 30, 1000), 10 ** RANDOM.uniform(0, 9, 1000), [1, 2, 3, 999.9, 1000, 1e9]]
)
SPREAD = RANDOM.choice([0.1, 1, 5, 15], len(DF))


def near(ours, scipys):
    """Equal to eight digits, where a float can hold it."""
    np.testing.assert_allclose(ours, scipys, rtol=1e-8, atol=1e-290)


def test_the_normal_distribution():
    z = RANDOM.normal(size=500) * 8
    near(normal_cdf(z), special.ndtr(z))
    for p in (0.6, 0.975, 1 - 1e-9, 0.3):
        near(normal_quantile(p), special.ndtri(p))
    assert (normal_quantile(0), normal_quantile(1)) == (-math.inf, math.inf)


def test_students_t():
    t = RANDOM.normal(size=len(DF)) * SPREAD
    near(t_cdf(t, DF), special.stdtr(DF, t))
    near(t_cdf([-2.0, 2.0], math.inf), special.ndtr([-2.0, 2.0]))


@pytest.mark.parametrize("p", [0.6, 0.8, 0.975, 0.9999, 1 - 1e-7])
def test_quantiles_of_students_t(p):
    near(t_quantile(p, DF), special.stdtrit(DF, p))
    near(t_quantile(p, math.inf), special.ndtri(p))
    assert np.isnan(t_quantile(p, [np.nan, 3.0])).tolist() == [True, False]


def test_the_shape_of_what_is_asked_is_that_of_the_answer():
    assert t_quantile(0.975, 4.0).shape == ()
    assert t_quantile(0.975, np.full((2, 3), 4.0)).shape == (2, 3)


def test_the_beta_distribution():
    a, b = (10 ** RANDOM.uniform(-1, 5, 1000) for _ in range(2))
    x = RANDOM.beta(a, b)
    near(beta_cdf(a, b, x), special.betainc(a, b, x))
    assert beta_cdf([2.0, 2.0], 3.0, [0.0, 1.0]).tolist() == [0.0, 1.0]


def test_f():
    df, over = RANDOM.integers(1, 400, 1000), 10 ** RANDOM.uniform(0, 5, 1000)
    ratio = RANDOM.f(df, over) * RANDOM.choice([1, 3, 10], 1000)
    near(f_tail(ratio, df, over), special.fdtrc(df, over, ratio))


@pytest.mark.parametrize("df", [1, 2, 7, 100, 3_000, 100_000])
@pytest.mark.parametrize("share", [0, 0.3, 0.9, 1, 1.1, 2])
def test_chi_squared(df, share):
    chi2 = df * share
    near(chi_squared_tails(chi2, df), (special.chdtrc(df, chi2), special.chdtr(df, chi2)))


def test_binomial_coefficients():
    n = RANDOM.integers(0, 100_000, 500)
    k = (n * RANDOM.uniform(size=500)).astype(int)
    np.testing.assert_allclose(log_choose(n, k), _log_binom(n, k), rtol=1e-9, atol=1e-8)


def _log_binom(n, k):
    found = -special.betaln(1 + n - k, 1 + k) - np.log(n + 1)
    return np.asarray(found, np.float64)


def test_fishers_exact_test():
    n1, n2 = RANDOM.integers(1, 400, (2, 200))
    k1, k2 = (RANDOM.binomial(n, RANDOM.uniform(size=200)) for n in (n1, n2))
    near(fisher_greater(k1, n1, k2, n2), stats.hypergeom.sf(k1 - 1, n1 + n2, k1 + k2, n1))
    for a, n, b, m in zip(k1, n1, k2, n2, strict=True):
        near(fisher(a, n, b, m), stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue)


def test_many_at_once_are_the_same_as_each_alone():
    x = np.linspace(0, 1, 3_001)
    a, b = 1 + 40 * x, 30 - 20 * x
    size = np.full_like(x, 60.0)  # As many terms of the fraction for each.
    together = beta_cdf(np.append(a, size), np.append(b, size), np.append(x, x))
    alone = [beta_cdf([p, 60.0], [q, 60.0], [at, at])[0] for p, q, at in zip(a, b, x, strict=True)]
    assert together[: len(x)].tolist() == alone
