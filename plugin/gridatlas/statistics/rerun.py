"""How far a published value and one measured again may be apart."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import special

from gridatlas.statistics.counts import wilson
from gridatlas.statistics.differences import combined
from gridatlas.statistics.interval import Interval

BY_TRIALS = "Newcombe's interval"
"""From the trials of both, each as if its trials were independent."""
BY_CLUSTERS = "Newcombe's interval, with standard errors over items"
"""Where one of the two has a standard error that counts trials of one item as alike."""


@dataclass(frozen=True, slots=True)
class Account:
    """One account of a cell: a share from 0 to 1, or, where n isn't given, any mean.

    Attributes:
        n: Trials; None where they aren't known.
        stderr: Standard error of the value; None where it isn't known.
        clusters: What the standard error is taken over: number of items, or of training seeds;
            None where there is none, or it isn't known.
    """

    value: float
    n: int | None = None
    stderr: float | None = None
    clusters: int | None = None


def interval_of(one: Account, confidence: float = 0.95) -> Interval | None:
    """Interval of one account's value; None where nothing tells how sure it is.

    From trials it is Wilson's; from a standard error that of Student's t with clusters − 1 degrees
    of freedom (normal where the clusters aren't known). Where both are known it reaches as far as
    the farther of the two: a few clusters may be alike by chance, and the trials of one are.
    Without a standard error, as where all clusters are alike, each cluster counts as one trial.

    Raises:
        ValueError: For impossible counts or a confidence outside 0 to 1.
    """
    found: list[Interval] = []
    if one.n is not None:
        found.append(wilson(one.value * one.n, one.n, confidence))
    if one.stderr and (one.clusters is None or one.clusters > 1):
        tail = (1 + confidence) / 2
        reach = one.stderr * float(
            special.ndtri(tail) if one.clusters is None else special.stdtrit(one.clusters - 1, tail)
        )
        found.append(Interval(one.value - reach, one.value + reach))
    elif one.n is not None and one.clusters is not None and one.clusters < one.n:
        found.append(wilson(one.value * one.clusters, one.clusters, confidence))
    if not found:
        return None
    return Interval(min(each.low for each in found), max(each.high for each in found))


def difference_interval(
    published: Account, again: Account, confidence: float = 0.95
) -> tuple[Interval, str] | None:
    """Interval of the value measured again minus the published one, and its name.

    None where one of the two has neither trials nor a standard error. The two count as independent;
    they are asked the same items, so that it is rather too wide than too narrow.

    Raises:
        ValueError: As `interval_of`.
    """
    first, second = interval_of(again, confidence), interval_of(published, confidence)
    if first is None or second is None:
        return None
    by_trials = not any(one.stderr or one.clusters for one in (published, again))
    interval = combined(again.value, first, published.value, second)
    return interval, BY_TRIALS if by_trials else BY_CLUSTERS
