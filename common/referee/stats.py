"""Comparisons across seeds: paired ratios, trends and growth rates, with intervals.

Degenerate samples (one seed, all ties, no variance, means of zero) give clear numbers: an interval
that is unbounded or a point, and p-values of 1, never NaN.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.95
"""Confidence level of every two-sided interval."""

RESAMPLES = 9999
"""Sign patterns drawn when 2^n exceeds this number; below, all of them are enumerated."""

SIGN_FLIP_SEED = 9999
"""Seed of those draws, so that a table of claims has the same bytes every time."""


@dataclass(frozen=True)
class Comparison:
    """Outcome of a paired comparison of two samples of one metric.

    Parameters
    ----------
    n : int
        Pairs (seeds).
    effect, low, high : float
        Ratio of the means, ``mean(a) / mean(b)``, and its 95% interval.
    p_less, p_greater : float
        One-sided p-values for ``mean(a) < factor * mean(b)`` and for the opposite.
    log_std : float
        Standard deviation of a seed's contribution to the log ratio, for power calculations.
    """

    n: int
    effect: float
    low: float
    high: float
    p_less: float
    p_greater: float
    log_std: float


def _sample(values, name):
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(
            f"{name} must be a non-empty 1-D sample of finite numbers, got shape {values.shape} "
            f"with {int((~np.isfinite(values)).sum())} non-finite value(s)"
        )
    return values


def mean_interval(values, level=LEVEL):
    """Interval of a mean by Student's t.

    With the 5 to 100 seeds of this project the t interval covers better than a bootstrap, whose
    intervals are too short below about 20 observations.

    Parameters
    ----------
    values : array-like of shape (n,)
    level : float, optional
        Two-sided level in (0, 1).

    Returns
    -------
    low, high : float
        Unbounded for n = 1; a point for a sample without variance.
    """
    values = _sample(values, "values")
    if values.size == 1:
        return -math.inf, math.inf
    spread = values.std(ddof=1) / math.sqrt(values.size)
    half = stats.t.ppf(0.5 + level / 2, values.size - 1) * spread
    return float(values.mean() - half), float(values.mean() + half)


def log_ratio_parts(a, b):
    """Contribution of every seed to ``log(mean(a) / mean(b))``.

    The infinitesimal jackknife: the parts' mean is the log ratio of the means itself, and their
    spread is its first-order sampling variance. Zeros within a sample are harmless, unlike in the
    mean of log ratios.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired samples with positive means.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        The samples differ in length, or a mean is not positive.
    """
    a, b = _sample(a, "a"), _sample(b, "b")
    if a.size != b.size:
        raise ValueError(f"a and b must be paired, got {a.size} and {b.size} values")
    mean_a, mean_b = a.mean(), b.mean()
    if mean_a <= 0 or mean_b <= 0:
        raise ValueError(f"a ratio needs positive means, got {mean_a:g} and {mean_b:g}")
    return math.log(mean_a / mean_b) + a / mean_a - b / mean_b


def sign_flip_test(differences):
    """Permutation test of paired differences by flipping their signs.

    Exact under the null hypothesis that the two methods of a pair could be swapped, whatever the
    distribution; with fewer than 5 pairs it cannot reach 5%.

    Parameters
    ----------
    differences : array-like of shape (n,)

    Returns
    -------
    p_less, p_greater : float
        For a mean below and above zero.
    """
    differences = _sample(differences, "differences")

    def test(alternative):
        return float(
            stats.permutation_test(
                (differences, np.zeros_like(differences)),
                lambda x, y, axis: np.mean(x - y, axis=axis),
                permutation_type="samples",
                vectorized=True,
                n_resamples=RESAMPLES,
                alternative=alternative,
                rng=np.random.default_rng(SIGN_FLIP_SEED),
            ).pvalue
        )

    return (test("less"), test("greater")) if differences.size > 1 else (1.0, 1.0)


def compare(a, b, factor=1.0):
    """Compare two paired samples of a non-negative metric by the ratio of their means.

    The p-values come from `sign_flip_test` on ``a - factor * b`` and need no distribution; the
    interval is the t interval of `log_ratio_parts`, taken back from logs.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Values of one metric, a pair a seed.
    factor : float, optional
        Ratio under test.

    Returns
    -------
    Comparison
        If a mean is zero the interval is unbounded; if both are, the ratio is 1.
    """
    a, b = _sample(a, "a"), _sample(b, "b")
    p_less, p_greater = sign_flip_test(a - factor * b)
    try:
        parts = log_ratio_parts(a, b)
    except ValueError:
        if (a < 0).any() or (b < 0).any() or a.size != b.size:
            raise
        effect = 1.0 if a.mean() == b.mean() else (0.0 if a.mean() == 0 else math.inf)
        return Comparison(a.size, effect, 0.0, math.inf, p_less, p_greater, math.inf)
    low, high = np.exp(mean_interval(parts))
    spread = parts.std(ddof=1) if a.size > 1 else math.inf
    return Comparison(
        a.size,
        *(float(v) for v in (np.exp(parts.mean()), low, high)),
        p_less,
        p_greater,
        float(spread),
    )


def compare_gains(first, second):
    """Compare an advantage in one experiment with that in another.

    Parameters
    ----------
    first, second : tuple of two array-likes
        The samples (a, b) of each experiment; the experiments' seeds are independent.

    Returns
    -------
    Comparison
        `effect` is the ratio ``(a2/b2) / (a1/b1)``: below 1 if a gains more over b in the second
        experiment. Welch's t on the log ratios, since the two groups of seeds are independent.
    """
    one, two = log_ratio_parts(*first), log_ratio_parts(*second)
    n = min(one.size, two.size)
    shift = two.mean() - one.mean()
    if n < 2:
        return Comparison(n, math.exp(shift), 0.0, math.inf, 1.0, 1.0, math.inf)
    spread = math.sqrt(one.var(ddof=1) + two.var(ddof=1))
    if spread == 0:
        p = (float(shift >= 0), float(shift <= 0))
        return Comparison(n, *([math.exp(shift)] * 3), *p, 0.0)
    less = stats.ttest_ind(two, one, equal_var=False, alternative="less")
    interval = stats.ttest_ind(two, one, equal_var=False).confidence_interval(LEVEL)
    low, high = np.exp([interval.low, interval.high])
    p_less = float(less.pvalue)
    return Comparison(n, math.exp(shift), float(low), float(high), p_less, 1 - p_less, spread)


def holm(p_values):
    """Adjust p-values by Holm's step-down method.

    Parameters
    ----------
    p_values : array-like of shape (m,)

    Returns
    -------
    ndarray of shape (m,)
        Adjusted values, at most 1; rejecting those below 0.05 keeps the chance of any false
        rejection in the family below 5%.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def seeds_needed(distance, std, alpha=0.05, power=0.8, limit=100_000):
    """Return how many seeds a one-sided t test needs to detect a distance.

    Parameters
    ----------
    distance : float
        Distance of the mean from the limit under test, positive if on the claimed side.
    std : float
        Standard deviation between seeds.
    alpha : float, optional
        One-sided level; divide it by the family's size if p-values are adjusted.
    power : float, optional
        Wanted probability of detection.
    limit : int, optional
        Give up above this number.

    Returns
    -------
    int or None
        None if the distance is not positive or the number exceeds `limit`.
    """
    if not (distance > 0 and math.isfinite(std)):
        return None
    if std == 0:
        return 2
    size = distance / std
    n = max(2, math.floor((stats.norm.isf(alpha) + stats.norm.ppf(power)) ** 2 / size**2))
    while n <= limit:
        critical = stats.t.isf(alpha, n - 1)
        if stats.nct.sf(critical, n - 1, size * math.sqrt(n)) >= power:
            return n
        n += 1
    return None


def trend_test(table):
    """Test whether a metric falls along ordered variants, by Page's L.

    Parameters
    ----------
    table : array-like of shape (n_seeds, n_variants)
        Columns in the order in which the metric should fall; at least 3.

    Returns
    -------
    p_falls, p_rises : float
    """
    table = np.asarray(table, dtype=float)
    if table.ndim != 2 or table.shape[1] < 3 or not np.isfinite(table).all():
        raise ValueError(f"table must be finite, of shape (seeds, 3 or more), got {table.shape}")
    if (table == table[:, :1]).all():
        return 1.0, 1.0
    return tuple(
        float(stats.page_trend_test(columns).pvalue) for columns in (table[:, ::-1], table)
    )


def loglog_slope(steps, values):
    """Least-squares slope of log(value) against log(step) in one run.

    The runs are the replicates: intervals come from the spread of this slope over seeds, because
    the points within a run are not independent.

    Parameters
    ----------
    steps, values : array-like of shape (T,)
        Positive numbers, at least 3.

    Returns
    -------
    float
    """
    steps, values = _sample(steps, "steps"), _sample(values, "values")
    if steps.size < 3 or (steps <= 0).any() or (values <= 0).any():
        raise ValueError(
            "a log-log slope needs at least 3 positive points, got "
            f"{int(((steps > 0) & (values > 0)).sum())} of {steps.size}"
        )
    return float(stats.linregress(np.log(steps), np.log(values)).slope)


def one_sided(values, limit):
    """P-values of a t test of a mean against a limit.

    Parameters
    ----------
    values : array-like of shape (n,)
    limit : float

    Returns
    -------
    p_below, p_above : float
        For a mean below and above `limit`; 1 and 1 for a single value.
    """
    values = _sample(values, "values")
    if values.size == 1:
        return 1.0, 1.0
    distance = values.mean() - limit
    spread = values.std(ddof=1) / math.sqrt(values.size)
    if spread == 0:
        return float(distance >= 0), float(distance <= 0)
    p_below = float(stats.t.cdf(distance / spread, values.size - 1))
    return p_below, 1 - p_below
