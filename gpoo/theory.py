"""Widths, constants and bounds of [GPOO]: pure functions, `log` natural.

Statements of Sec. 4 are derived here in the manner of StoOO's analysis; the paper's own constants
may differ, its rates do not.
"""

from functools import partial

import numpy as np

from fivebo.common.checks import positive


def _failure(p):
    return positive(p, "p", upper=1.0)


def _round(t):
    t = np.asarray(t, dtype=float)
    if (t < 1).any():
        raise ValueError(f"rounds t count from 1, got {t.min():g}")
    return t


def lipschitz_tail(L, *, a, b, dim=1):
    r"""Bound on the probability that f is not L-Lipschitz in the L1 distance.

    .. math:: P\bigl( \exists x_1, x_2: |f(x_1) - f(x_2)| > L \|x_1 - x_2\|_1 \bigr)
        \le d a e^{-L^2 / b^2}

    Source: [GPOO] Assumption 2 (tail of each partial derivative), App. A.

    Parameters
    ----------
    L : float or array_like
        In units of f per unit of x.
    a, b : float
        Constants of the tail, b in units of L.
    dim : int
    """
    return dim * positive(a, "a") * np.exp(-((np.asarray(L) / positive(b, "b")) ** 2))


def lipschitz_constant(p, *, a, b, dim=1):
    r"""Return the L at which `lipschitz_tail` is p.

    .. math:: L = b \sqrt{\log(d a / p)}

    Source: [GPOO] App. A.

    Examples
    --------
    >>> round(float(lipschitz_constant(0.1, a=1.0, b=2.0)), 6)
    3.034854
    """
    ratio = dim * positive(a, "a") / _failure(p)
    if ratio < 1:
        raise ValueError(f"p must be at most d a = {dim * a:g}, got {p:g}")
    return positive(b, "b") * np.sqrt(np.log(ratio))


def derivative_std(length_scale, variance=1.0, nu=np.inf):
    r"""Return the standard deviation of a partial derivative of f under a stationary kernel.

    .. math:: \sqrt v / l \ \text{(squared exponential)}, \qquad
        \sqrt{\nu / (\nu - 1)}\, \sqrt v / l \ \text{(Matérn, } \nu > 1)

    Source: [GPOO] Assumption 2 (the kernels for which it holds).
    """
    if not nu > 1:
        raise ValueError(f"nu must exceed 1 for f to be differentiable, got {nu:g}")
    factor = 1.0 if np.isinf(nu) else nu / (nu - 1)
    return float(np.sqrt(factor * positive(variance, "variance")) / positive(length_scale, "l"))


def lipschitz_delta(partition, L):
    r"""Return the smallest admissible ``delta(h) = L * diameter(h)`` as a function of h.

    .. math:: \sup_{x \in X_{h,i}} L\, \ell(x_{h,i^s}, x) \le \delta(h)

    Source: [GPOO] Assumption 3.

    Parameters
    ----------
    partition : gpoo.tree.Partition
    L : float
        Lipschitz constant of f in the L1 distance, in units of f per unit of x.
    """
    return partial(_lipschitz, partition, positive(L, "L"))


def _lipschitz(partition, L, h):
    return L * partition.diameter(h)


def geometric_delta(scale, base):
    """Return ``delta(h) = scale * base^-h`` as a function of h. Source: [GPOO] Sec. 5.

    With scale 14 and base 2 it is the function of the authors' experiments.
    """
    scale, base = positive(scale, "scale"), float(base)
    if not base > 1:
        raise ValueError(f"base must exceed 1 so that delta(h) falls, got {base:g}")
    return partial(_geometric, scale, base)


def _geometric(scale, base, h):
    return scale * base**-h


def beta_srinivas(t, *, p):
    r"""Return ``beta_t = 2 log(pi^2 t^2 / (6 p))``.

    Source: [GPOO] Lemma 1, as O(log t), in the form of Srinivas et al. (2009), which the paper
    follows; valid for one given node a round.

    Examples
    --------
    >>> round(float(beta_srinivas(80, p=0.1)), 4)
    23.1287
    """
    return 2 * np.log(np.pi**2 * _round(t) ** 2 / (6 * _failure(p)))


def beta_union(t, *, p, arity):
    r"""Squared width of intervals that hold for all nodes and rounds with probability 1 - p.

    .. math:: \beta_t = 2 \log \frac{(1 + K t)\, \pi^2 t^2}{6 p}

    Given the history the tree is fixed and every a'f is Gaussian, so that an interval fails with
    probability at most exp(-beta/2); at most 1 + K t nodes exist in round t. It is the event xi_2
    of the analysis. Source: [GPOO] Lemma 1, with our constants.

    Parameters
    ----------
    t : int or array_like
        Round, from 1.
    p : float
        Failure probability in (0, 1).
    arity : int
        K.
    """
    return beta_srinivas(t, p=p) + 2 * np.log1p(arity * _round(t))


def beta_scaled(t, *, p=0.1, scale=0.1):
    """Return ``scale * log(pi^2 t^2 / (6 p))``. Source: [GPOO] Sec. 5, the authors' experiments.

    The logarithm of Lemma 1 with the leading 2 replaced by `scale`: a practical choice, off the
    theory.

    Examples
    --------
    >>> round(float(beta_scaled(80)), 4)
    1.1564
    """
    return positive(scale, "scale") / 2 * beta_srinivas(t, p=p)


def confidence_width(var, beta):
    """Return ``CI = sqrt(beta) sqrt(sigma^2)``, in units of f. Source: [GPOO] Sec. 3.

    Parameters
    ----------
    var : array_like
        sigma^2(X | Z, a), in squared units of f.
    beta : float
        beta_t; its square root multiplies the standard deviation.
    """
    return np.sqrt(beta) * np.sqrt(var)


def b_value(mean, width, margin):
    """Return ``b = mu + CI + delta(h)``, in units of f. Source: [GPOO] Eq. (5)."""
    return mean + width + margin


def is_expanded(width, margin):
    """Whether ``CI <= delta(h)``, equality included. Source: [GPOO] Algorithm 1 (line 6)."""
    return width <= margin


def expanded_gap(margin, width_at_selection):
    r"""Bound on ``f* - fbar_{h,i}`` of a selected node on the events xi_1 and xi_2.

    .. math:: f^* - \bar f_{h,i} \le \delta(h) + 2\, CI_{h,i}

    because its b-value is at least f*; at most 3 delta(h) if its interval was within delta(h)
    already when it was selected. Source: [GPOO] Sec. 4, the condition on expanded nodes.

    Parameters
    ----------
    margin : float or array_like
        delta(h).
    width_at_selection : float or array_like
        CI_{h,i}(t) of the round that selected the node.
    """
    return np.asarray(margin) + 2 * np.asarray(width_at_selection)


def pulls_bound(beta, noise_var, margin):
    r"""Bound on the pulls of a node before it is expanded.

    .. math:: T_{h,i} \le \lceil \beta_N \sigma^2 / \delta(h)^2 \rceil

    since T pulls alone bring the variance to at most sigma^2 / T. Source: [GPOO] Sec. 4.

    Examples
    --------
    >>> int(pulls_bound(23.1282, 0.01, 0.109375))
    20
    """
    ratio = np.asarray(beta) * positive(noise_var, "noise_var") / np.square(margin)
    return np.maximum(1, np.ceil(ratio))


def near_optimal(values, optimum, margin):
    r"""Which nodes of a depth are in ``I_h = {(h, i): fbar_{h,i} + 3 delta(h) >= f*}``.

    Their number is at most ``C delta(h)^{-d}`` with the near-optimality dimension d of
    Definition 3. Source: [GPOO] Definition 3, Sec. 4.

    Parameters
    ----------
    values : array_like of shape (K^h,)
        Average rewards.
    optimum, margin : float
        f* and delta(h).
    """
    return np.asarray(values) + 3 * margin >= optimum


def depth_bound(budget, counts, margins, *, beta, noise_var, arity):
    r"""Return a depth that the tree reaches with N rounds, on the events xi_1 and xi_2.

    The largest H, below the number of given counts and margins, with

    .. math:: n(\delta(0)) + K \sum_{l < H} |I_l|\, n(\delta(l+1)) \le N, \qquad
        n(\delta) = \lceil \beta_N \sigma^2 / \delta^2 \rceil

    so that a node of depth H is expanded. Source: [GPOO] Sec. 4 (regret theorem), as derived here.

    Parameters
    ----------
    budget : int
        N.
    counts : sequence of int
        |I_0|, |I_1|, ...: the nodes that may be expanded at each depth.
    margins : sequence of float
        delta(0), delta(1), ..., at least as many.
    beta, noise_var : float
        beta_N and sigma^2.
    arity : int
        K.

    Returns
    -------
    int
        -1 if not even the root is certain to be expanded.
    """
    pulls = pulls_bound(beta, noise_var, np.asarray(margins, dtype=float))
    spent, depth = pulls[0], -1
    for level in range(min(len(counts), len(pulls) - 1)):
        if spent > budget:
            return depth
        depth = level
        spent += arity * counts[level] * pulls[level + 1]
    return depth


def regret_bound(margin, width_deepest=0.0, width_recommended=0.0):
    r"""Bound on the aggregated regret from the deepest expanded node, of depth H.

    .. math:: R_N \le 3 \delta(H) + CI_N(\text{deepest}) + CI_N(\text{recommended})

    with both widths 0 where the deepest node itself is recommended. Source: [GPOO] Sec. 4, regret
    theorem; `margin` is (delta + 2 CI)/3 of the round that selected the deepest node where its
    interval was wider then.

    Parameters
    ----------
    margin : float
        delta(H).
    width_deepest, width_recommended : float
        CI at the end, in units of f.
    """
    return 3 * margin + width_deepest + width_recommended


def regret_rate(budget, *, dimension, beta, noise_var):
    r"""Return ``(beta_N sigma^2 / N)^{1/(d + 2)}``, the rate for geometric delta(h).

    Source: [GPOO] Sec. 4, regret theorem: O((log N / N)^{1/(d+2)}).

    Parameters
    ----------
    budget : int or array_like
        N.
    dimension : float
        Near-optimality dimension d >= 0.
    beta, noise_var : float
    """
    ratio = np.asarray(beta) * noise_var / np.asarray(budget)
    return ratio ** (1 / (dimension + 2))
