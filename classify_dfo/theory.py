"""Bounds on the mass that Algorithm 1 of [CDFO] gives to a point: Sec. 2 and App. A.1, A.5.

Pure functions; numbers that our text has lost are restored by derivation (`fidelity.yaml` says
which). Logarithms are natural, masses dimensionless. What a statement does not cover is refused.
App. A.2 is in `linear_theory`, App. A.3 in `bootstrap_theory`.
"""

import math

import numpy as np

from fivebo.common.checks import as_finite_array, count, one_of, positive

CHOSEN_AT = 1 / 4
"""Largest q_T(x) for which Corollary 1 speaks."""


def in_range(value, name, lower, upper):
    """Return a number, or an array of numbers, if all are in [lower, upper]; else raise."""
    if np.size(value) == 0:
        return np.empty(np.shape(value))  # mutants: no number is in it
    values = as_finite_array(value, name)
    if (wrong := values[(values < lower) | (values > upper)]).size:
        raise ValueError(f"{name} must lie in [{lower:g}, {upper:g}], got {wrong.flat[0]:g}")
    return values if values.ndim else float(values)


def growth_rate(eta):
    r"""Exponential growth of an untouched point's mass for each unit of coverage.

    .. math:: \eta / (\eta + 2)

    Source: [CDFO] Theorem 1; Theorem A.2 takes 1/5, at eta = 1/2.

    >>> growth_rate(0.5)
    0.2
    """
    return in_range(eta, "eta", 0, 0.5) / (eta + 2)


def cutting_plane_bound(rounds, eta, size):
    r"""Lower bound on the log mass of the minimisers when every h is the exact superlevel set.

    .. math:: \min\{ T \log(2/(2-\eta)) - \log|X|, \; -\log 2 \}

    for thresholds of at most the population median. The paper prints 0 as the second term, which
    fails as soon as a minimiser holds more than half the mass.

    Source: [CDFO] Sec. 2, noise-free bound.

    Parameters
    ----------
    rounds : int or ndarray
        T.
    eta : float
        In (0, 1].
    size : int
        abs(X), number of actions.

    >>> round(float(cutting_plane_bound(2, 0.5, 2)), 4)
    -0.6931
    """
    in_range(rounds, "rounds", 0, np.inf)
    eta, size = positive(eta, "eta", upper=1.0, closed=True), count(size, "size")
    return np.minimum(rounds * math.log(2 / (2 - eta)) - math.log(size), -math.log(2))


def theorem1_bound(rounds, coverage, eta, mistakes, size):
    r"""Lower bound on log p^(T)(x).

    .. math:: \gamma \frac{\eta}{\eta + 2} T - \eta (\eta + 1) M_T(x) - \log(2 |X|)

    Source: [CDFO] Theorem 1; with vol X in place of abs(X) it is Lemma A.1.

    Parameters
    ----------
    rounds : int
        T.
    coverage : float
        gamma > 0, at most the coverage of every round.
    eta : float
        In [0, 1/2].
    mistakes : float or ndarray
        M_T(x), rounds in which x was downweighted.
    size : float
        abs(X), or the volume of X for Lemma A.1.

    >>> round(float(theorem1_bound(40, 0.5, 0.5, 0, 100)), 4)
    -1.2983
    """
    coverage = positive(coverage, "coverage", upper=1.0, closed=True)
    mistakes, size = in_range(mistakes, "mistakes", 0, rounds), positive(size, "size")
    return coverage * growth_rate(eta) * rounds - eta * (eta + 1) * mistakes - math.log(2 * size)


def rarely_cut_bound(rounds, coverage, eta, size):
    r"""Upper bound on the number of points downweighted fewer than nu T times.

    .. math:: |S| \leq |X| e^{-\gamma \eta T / (\eta + 2)}, \quad \nu = \gamma / (\eta + 2)

    Source: [CDFO] Theorem 1, App. A.1 (proof).
    """
    return size * math.exp(-coverage * growth_rate(eta) * rounds)


def normaliser_bound(rounds, coverage, eta, size):
    r"""Upper bound on the sum of the unnormalised weights, prod (1 - eta h).

    .. math:: 2 |X| e^{-\eta \gamma T / (\eta + 2)}

    Source: [CDFO] Theorem 1, App. A.1 (proof).
    """
    return 2 * rarely_cut_bound(rounds, coverage, eta, size)


def optimal_eta(q):
    r"""Multiplicative weight of Corollary 1: half the growth goes to the mistakes.

    .. math:: \eta = \min\{ 1/2, \sqrt{1/4 + 1/(2q)} - 3/2 \} \text{ solves }
        (\eta + 1)(\eta + 2) q = 1/2

    Source: [CDFO] Corollary 1, App. A.1. It is not the maximiser of Theorem 1's bound.

    Parameters
    ----------
    q : float or ndarray
        q_T(x) = M_T(x) / (gamma T), in [0, 1/4].

    >>> [round(float(optimal_eta(q)), 4) for q in (0, 2 / 15, 0.2, 0.25)]
    [0.5, 0.5, 0.1583, 0.0]
    """
    q = np.maximum(in_range(q, "q", 0, CHOSEN_AT), np.finfo(float).tiny)
    return np.minimum(0.5, np.sqrt(0.25 + 1 / (2 * q)) - 1.5)


def corollary1_bound(q, coverage, rounds, size):
    r"""Lower bound on log p^(T)(x) at `optimal_eta`.

    .. math:: \min\{ 1/10, \; 1/6 - 2 q / 3 \} \gamma T - \log(2 |X|)

    Source: [CDFO] Corollary 1; our text has lost its constants.

    Parameters
    ----------
    q : float or ndarray
        In [0, 1/4].
    coverage, rounds, size
        As in `theorem1_bound`.

    >>> round(float(corollary1_bound(0.1, 0.5, 100, 50)), 4)
    0.3948
    """
    slope = np.minimum(0.1, 1 / 6 - 2 * in_range(q, "q", 0, CHOSEN_AT) / 3)
    return slope * coverage * rounds - math.log(2 * size)


def corollary1_least_share(coverage, rounds, size):
    r"""Smallest q_T(x) that is possible: a point that is never cut would end with mass above 1.

    .. math:: 1/4 - 3 \log(2 |X|) / (2 \gamma T) \leq q_T(x)

    Source: [CDFO] Corollary 1.

    >>> round(corollary1_least_share(0.5, 400, 100), 4)
    0.2103
    """
    return CHOSEN_AT - 3 * math.log(2 * size) / (2 * coverage * rounds)


def least_draws(mass):
    r"""Return the expected draws until a point of that mass is drawn, 1 / p.

    Source: [CDFO] Sec. 2.1, remark after Corollary 1: O(1 / (1 - gamma)) draws find a point that
    holds 1 - gamma.
    """
    return 1 / positive(mass, "mass", upper=1.0, closed=True)


def abstention_bound(coefficient, error):
    r"""Bound of Theorem 2 on the share on which CSS makes no decision.

    .. math:: P(h(X) = \text{no decision}) \leq \Delta_{h^*} \varepsilon

    Source: [CDFO] Theorem 2, Definition 2.

    Parameters
    ----------
    coefficient : float
        Disagreement coefficient.
    error : float
        epsilon, above the error of every hypothesis of the version space.
    """
    return coefficient * error


def median_batch(coverage, delta, rounds):
    r"""Batch for which every sample median is above the gamma quantile, with probability 1 - delta.

    .. math:: n \geq \tfrac12 (\gamma - \tfrac12)^{-2} (\log \delta^{-1} + \log 2T)

    The factor 1/2 is that of Hoeffding's inequality.

    Source: [CDFO] Theorem 3, second term; Theorems A.5, A.7.

    >>> math.ceil(median_batch(0.25, 0.05, 10)), math.ceil(median_batch(0.4, 0.05, 10))
    (48, 300)
    """
    coverage, delta = positive(coverage, "coverage", upper=0.5), positive(delta, "delta", upper=1.0)
    return 0.5 * (coverage - 0.5) ** -2 * (math.log(1 / delta) + math.log(2 * rounds))


def median_failure(n, coverage):
    r"""Chance that the median of n draws is below the gamma quantile, and its bound.

    .. math:: P(\mathrm{Bin}(n, \gamma) > n/2) \leq \exp(-2 (\gamma - \tfrac12)^2 n)

    Source: [CDFO] Theorem 3, App. A.1 (proof).

    Returns
    -------
    chance, bound : float
    """
    from scipy import stats

    coverage = positive(coverage, "coverage", upper=0.5)
    return float(stats.binom.sf(n // 2, n, coverage)), math.exp(-2 * (coverage - 0.5) ** 2 * n)


def vc_batch(error, vc_dim, delta, rounds, constant):
    r"""Batch after which every error-free hypothesis has error below epsilon, in every round.

    .. math:: n \geq C \varepsilon^{-1} (V \log \varepsilon^{-1} + \log \delta^{-1} + \log 2T)

    Source: [CDFO] Theorem 3, first term; the numerical constant C is not given.
    """
    error, delta = positive(error, "error", upper=1.0), positive(delta, "delta", upper=1.0)
    parts = vc_dim * math.log(1 / error) + math.log(1 / delta) + math.log(2 * rounds)
    return constant / error * parts


def selective_bound(rounds, coverage, loss, eta, size):
    r"""Lower bound on log p^(T)(x*) with a selective classifier that loses coverage.

    .. math:: \min\{ (\gamma - \ell) \frac{\eta}{\eta + 2} T - \log(2 |X|), \; \log(1 - \gamma) \}

    Source: [CDFO] Theorem 3 (loss = Delta_h epsilon), Theorem A.5 ((Delta_h + 1) epsilon), Theorem
    A.7 (`bernstein_abstention`).

    Parameters
    ----------
    rounds, eta, size
        As in `theorem1_bound`.
    coverage : float
        gamma in (loss, 1/2).
    loss : float
        Coverage lost to abstention.
    """
    coverage = positive(coverage, "coverage", upper=0.5)
    if not 0 <= loss < coverage:
        raise ValueError(f"loss must lie in [0, coverage = {coverage:g}), got {loss:g}")
    growth = (coverage - loss) * growth_rate(eta) * rounds - math.log(2 * size)
    return min(growth, math.log(1 - coverage))


def bernstein_abstention(coefficient, width, beta, factor):
    r"""Bound on abstention of the agnostic classifier in a (beta, B)-Bernstein class.

    .. math:: B \Delta_h (4 \sigma(n, \delta/4, V))^\beta

    Source: [CDFO] Theorem A.6, Theorem A.7, Definition A.4; sigma is `selective.excess_width`.

    Parameters
    ----------
    coefficient : float
        Delta_h.
    width : float
        sigma(n, delta / 4, V).
    beta, factor : float
        In (0, 1], and B >= 1.
    """
    beta = positive(beta, "beta", upper=1.0, closed=True)
    factor = in_range(factor, "factor", 1, np.inf)
    return factor * coefficient * (4 * width) ** beta


def pairwise_label_error(rank_share, c, ties="low"):
    r"""Chance that c comparisons with random opponents give an action the wrong label.

    Source: [CDFO] Sec. 3.1, Eq. (1); at most `exp(-2 c (q - 1/2)^2)` by Hoeffding's inequality.

    Parameters
    ----------
    rank_share : float or ndarray
        q, share of the batch that is worse than the action, in [0, 1].
    c : int
        Comparisons.
    ties : {"low", "coin"}
        What an equal number of wins and losses gives.

    >>> round(float(pairwise_label_error(0.9, 10)), 6)
    0.000147
    """
    from scipy import stats

    q, c = in_range(rank_share, "rank_share", 0, 1), count(c, "c")
    one_of(ties, "ties", ("low", "coin"))
    high = stats.binom.cdf(math.ceil(c / 2) - 1, c, q)  # fewer wins than c / 2
    if ties == "coin" and c % 2 == 0:
        high = high + stats.binom.pmf(c // 2, c, q) / 2
    return np.where(q > 0.5, high, 1 - high)
