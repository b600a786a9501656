"""Linear functions on a convex body, App. A.2 of [CDFO]: Theorem A.2 and its ingredients.

Pure functions; numbers that our text has lost are restored by derivation (`fidelity.yaml` says
which).
"""

import math

from fivebo.classify_dfo.theory import growth_rate, in_range
from fivebo.common.checks import count, positive


def low_side_ratio(coverage, missed, eta):
    r"""Factor of Lemma A.2: p^(t) times it is at least uniform on the low side.

    .. math:: \frac{1 - \eta(\gamma - \nu)}{1 - \gamma - \nu} p^{(t)}(x) \geq q^{(t)}(x)

    Source: [CDFO] Lemma A.2, with h* = 1{f > alpha}; the paper prints 1{f <= alpha}.

    Parameters
    ----------
    coverage : float
        gamma, mass of the high side.
    missed : float
        nu, mass of the high side that h leaves.
    eta : float
    """
    coverage = positive(coverage, "coverage", upper=1.0)
    eta = positive(eta, "eta", upper=1.0, closed=True)
    missed = in_range(missed, "missed", 0, coverage)
    if coverage + missed >= 1:
        raise ValueError(f"coverage + missed must be below 1, got {coverage + missed:g}")
    return (1 - eta * (coverage - missed)) / (1 - coverage - missed)


def linear_bound(rounds, missed, volume, level_volume):
    r"""Lower bound on the log mass of a sublevel set, linear f on a convex body, CSS, eta = 1/2.

    .. math:: \min\{ \tfrac15 (\tfrac14 - \nu) T - \log(2 \mathrm{vol} X)
        + \log \mathrm{vol} S_\alpha, \; -\log 4 \}

    Source: [CDFO] Theorem A.2.
    """
    volume = positive(volume, "volume")
    level_volume = positive(level_volume, "level_volume", upper=volume, closed=True)
    missed = in_range(missed, "missed", 0, 0.25)
    growth = (0.25 - missed) * growth_rate(0.5) * rounds
    return min(growth - math.log(2 * volume) + math.log(level_volume), -math.log(4))


def quartile_failure(n):
    r"""Bound on the chance that the last median is off the middle half.

    .. math:: P(\gamma^{(t)} \notin [1/4, 3/4]) \leq 2 e^{-n/8}

    Source: [CDFO] Theorem A.2 (proof).
    """
    return 2 * math.exp(-count(n, "n") / 8)


def low_share(coverage, missed):
    r"""Share tau of the draws that fall below the last threshold, at least, for eta = 1/2.

    .. math:: \tau = \frac{1 - \gamma - \nu}{1 - (\gamma - \nu)/2}

    Source: [CDFO] Theorem A.2 (proof), Lemma A.2 at eta = 1/2.
    """
    return 1 / low_side_ratio(coverage, missed, 0.5)


def draws_to_keep(n, share, delta):
    r"""Draws of which n fall into a set of mass tau with probability 1 - delta.

    .. math:: n' \geq \frac{4 \tau n + L + \sqrt{L^2 + 8 \tau n L}}{4 \tau^2},
        \quad L = \log(1/\delta)

    Source: [CDFO] Theorem A.2 (proof), from Hoeffding's inequality.
    """
    n, share = count(n, "n"), positive(share, "share", upper=1.0, closed=True)
    L = math.log(1 / positive(delta, "delta", upper=1.0))
    return (4 * share * n + L + math.sqrt(L**2 + 8 * share * n * L)) / (4 * share**2)
