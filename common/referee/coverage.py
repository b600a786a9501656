"""Coverage of a theorem along seeded runs: violations against the permitted rate."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from fivebo.common.referee.stats import LEVEL


@dataclass(frozen=True)
class Coverage:
    """Rate of runs that violate a bound, in the names of `stats.Comparison`.

    Parameters
    ----------
    n, violations : int
        Runs, and runs with a violation.
    effect, low, high : float
        Observed rate and its 95% Clopper-Pearson interval.
    p_less, p_greater : float
        Exact binomial p-values for a true rate below and above the permitted one.
    """

    n: int
    violations: int
    effect: float
    low: float
    high: float
    p_less: float
    p_greater: float


def coverage(violations, n, permitted):
    """Compare the rate of violating runs with the permitted one.

    Parameters
    ----------
    violations, n : int
        Runs with a violation, of n >= 1 runs.
    permitted : float
        Permitted rate in [0, 1]; 0 for a statement that holds surely.

    Returns
    -------
    Coverage
    """
    result = stats.binomtest(violations, n, permitted)
    interval = result.proportion_ci(LEVEL, method="exact")
    below, above = (
        float(stats.binomtest(violations, n, permitted, alternative=side).pvalue)
        for side in ("less", "greater")
    )
    return Coverage(
        n, violations, violations / n, float(interval.low), float(interval.high), below, above
    )


def runs_to_certify(rate, permitted, alpha=0.05, limit=10_000):
    """Return how many runs at an observed rate would put the true one below the permitted one.

    Parameters
    ----------
    rate, permitted : float
        Observed and permitted rate of violating runs.
    alpha : float, optional
        Level of the exact binomial test.
    limit : int, optional
        Give up above this number.

    Returns
    -------
    int or None
        None if the rate is not below the permitted one; 29 for rate 0 and permitted 0.1.
    """
    if rate >= permitted:
        return None
    n = np.arange(1, limit + 1)
    enough = stats.binom.cdf(np.ceil(rate * n - 1e-9), n, permitted) < alpha
    return int(n[enough][0]) if enough.any() else None
