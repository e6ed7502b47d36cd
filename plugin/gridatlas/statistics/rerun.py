"""How far a published value and one measured again may be apart."""

from __future__ import annotations

from dataclasses import dataclass

from gridatlas.statistics.counts import wilson
from gridatlas.statistics.differences import combined
from gridatlas.statistics.interval import Interval
from gridatlas.statistics.spread import Spread, t_interval, widest

BY_TRIALS = "Newcombe's interval"
"""From the trials of both, each as if its trials were independent."""
BY_CLUSTERS = "Newcombe's interval, with standard errors over items"
"""Where one of the two has a standard error that counts trials of one item as alike."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value of a cell: a share from 0 to 1, or, where n isn't given, any mean.

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


def interval_of(estimate: Estimate, confidence: float = 0.95) -> Interval | None:
    """Interval of an estimate; None where nothing tells how sure it is.

    From trials it is Wilson's; from a standard error that of Student's t with clusters − 1 degrees
    of freedom (normal where the clusters aren't known). Where both are known it reaches as far as
    the farther of the two: a few clusters may be alike by chance, and the trials of one are.
    Without a standard error, as where all clusters are alike, each cluster counts as one trial.

    Raises:
        ValueError: For impossible counts or a confidence outside 0 to 1.
    """
    trials = (
        None if estimate.n is None else wilson(estimate.value * estimate.n, estimate.n, confidence)
    )
    return widest(trials, _of_clusters(estimate, confidence))


def _of_clusters(estimate: Estimate, confidence: float) -> Interval | None:
    """The interval for other clusters of the kind; None where nothing is known of them."""
    if estimate.stderr and (estimate.clusters is None or estimate.clusters > 1):
        return t_interval(estimate.value, Spread(estimate.stderr, estimate.clusters), confidence)
    if estimate.n is not None and estimate.clusters is not None and estimate.clusters < estimate.n:
        return wilson(estimate.value * estimate.clusters, estimate.clusters, confidence)
    return None


def difference_interval(
    published: Estimate, again: Estimate, confidence: float = 0.95
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
    by_trials = not any(estimate.stderr or estimate.clusters for estimate in (published, again))
    interval = combined(again.value, first, published.value, second)
    return interval, BY_TRIALS if by_trials else BY_CLUSTERS
