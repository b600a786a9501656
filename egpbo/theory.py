"""Theorems 1 to 3 of [EGPBO]: constants, bounds, growth of the information gain; EXP3's rate.

Reference: [EGPBO] Lu et al., arXiv:2205.14090v1 (2022), Sec. 4, Sec. 7. The bounds are on the
cumulative Bayesian regret of exact GPs, count evaluations, and leave constants of the information
gain in O~; random features are outside them.
"""

import numpy as np

from fivebo.common.checks import as_finite_array, positive


def _at_least(value, least, name):
    number = float(as_finite_array(value, name, ndim=0))
    if number < least:
        raise ValueError(f"{name} must be at least {least:g}, got {value!r}")
    return number


def theorem1_c1(dim, noise_var):
    r"""Return the leading constant of Theorem 1.

    .. math:: c_1 = (2 + \sqrt d)\,\bigl(2 / \log(1 + \sigma_n^{-2})\bigr)^{1/2}

    The print has unbalanced parentheses; this reading is that of the proof.

    Source: [EGPBO] Theorem 1, Sec. 7.

    Parameters
    ----------
    dim : int
        d.
    noise_var : float
        sigma_n^2.

    >>> round(float(theorem1_c1(2, 0.2)), 6)
    3.607163
    """
    _at_least(dim, 1, "dim")
    noise_var = positive(noise_var, "noise_var")
    return (2 + np.sqrt(dim)) * np.sqrt(2 / np.log1p(1 / noise_var))


def theorem1_c2(n_models, dim, expected_sup):
    r"""Return the additive constant of Theorem 1.

    .. math:: c_2 = 9MB + \pi^2 d / 6 + \sqrt{2\pi}\, M / 12

    Source: [EGPBO] Theorem 1, Lemma 3.

    Parameters
    ----------
    n_models, dim : int
        M, d.
    expected_sup : float
        B, expected supremum of a sample path of a GP.

    >>> round(float(theorem1_c2(4, 2, 1.0)), 4)
    40.1254
    """
    M = _at_least(n_models, 1, "n_models")
    B = _at_least(expected_sup, 0, "expected_sup")
    return 9 * M * B + np.pi**2 * _at_least(dim, 1, "dim") / 6 + np.sqrt(2 * np.pi) * M / 12


def theorem1_terms(T, *, n_models, dim, noise_var, growth, expected_sup):
    r"""Return the three terms of the bound on the cumulative Bayesian regret.

    .. math::
        BR(T) \le c_1 \sqrt{M T^{c+1} \log T} + 2 \sigma_n \sqrt{M T \log T} + c_2

    Source: [EGPBO] Theorem 1.

    Parameters
    ----------
    T : int or array_like
        Evaluations, >= 1.
    n_models, dim : int
        M, d.
    noise_var : float
        sigma_n^2, in squared units of f.
    growth : float
        c in [0, 1) of the information gain, gamma_T = O~(T^c).
    expected_sup : float
        B.

    Returns
    -------
    tuple of three
        First, second and third term, in units of f.

    >>> [round(float(term), 4) for term in theorem1_terms(
    ...     100, n_models=4, dim=2, noise_var=0.2, growth=0.5, expected_sup=1.0)]
    [489.5744, 38.3882, 40.1254]
    """
    T = np.asarray(T, dtype=float)
    if (T < 1).any():
        raise ValueError(f"T must be at least 1, got {T.min():g}")
    if not 0 <= growth < 1:
        raise ValueError(f"growth must lie in [0, 1), got {growth!r}: the bound needs c < 1")
    c1 = theorem1_c1(dim, noise_var)
    first = c1 * np.sqrt(n_models * T ** (growth + 1) * np.log(T))
    second = 2 * np.sqrt(noise_var) * np.sqrt(n_models * T * np.log(T))
    return first, second, theorem1_c2(n_models, dim, expected_sup)


def theorem1_bound(T, **constants):
    """Return the sum of `theorem1_terms`. [EGPBO] Theorem 1.

    >>> constants = dict(n_models=4, dim=2, noise_var=0.2, growth=0.5, expected_sup=1.0)
    >>> round(float(theorem1_bound(100, **constants)), 4)
    568.088
    """
    return sum(theorem1_terms(T, **constants))


def variance_ratio(log_det_full, log_det_partial):
    r"""Return a bound on rho_K from the information that the pending evaluations hold.

    .. math:: \rho_K \le \exp\bigl( 2 I(f; y_{pending} \mid y_{told}) \bigr)

    Posterior variances with and without K - 1 pending evaluations differ at most by this factor.

    Source: [EGPBO] Theorem 2, Lemma 2.

    Parameters
    ----------
    log_det_full, log_det_partial : float
        ``log det(I + K / sigma_n^2)`` of all points, and of those told.

    >>> float(variance_ratio(3.0, 3.0))
    1.0
    """
    if log_det_full < log_det_partial - 1e-12:
        raise ValueError(
            f"log_det_full must be at least log_det_partial, got {log_det_full:g} < "
            f"{log_det_partial:g}"
        )
    return np.exp(max(0.0, log_det_full - log_det_partial))


def theorem2_bound(T, *, rho, **constants):
    r"""Return the bound for asynchronous workers: the first term times :math:`\sqrt{\rho_K}`.

    Source: [EGPBO] Theorem 2.

    Parameters
    ----------
    T : int or array_like
    rho : float
        rho_K >= 1, ratio of posterior variances; 1 gives Theorem 1.
    **constants
        Of `theorem1_terms`.
    """
    first, second, third = theorem1_terms(T, **constants)
    return np.sqrt(_at_least(rho, 1, "rho")) * first + second + third


def gain_exponent(family, dim):
    r"""Return c with gamma_T = O~(T^c): 0 for RBF, d / (2 nu + d) for Matern.

    RBF has :math:`\gamma_T = O((\log T)^{d+1})`, so any c > 0 will do, and 0 within O~. The Matern
    exponent is Vakili et al. (2021)'s.

    Source: [EGPBO] Lemma 1, Sec. 4.

    Parameters
    ----------
    family : {"rbf", "matern-3/2", "matern-5/2"}
    dim : int

    >>> gain_exponent("matern-3/2", 2)
    0.4
    """
    nu = {"rbf": np.inf, "matern-3/2": 1.5, "matern-5/2": 2.5}
    if family not in nu:
        raise ValueError(f"family must be one of {', '.join(nu)}, got {family!r}")
    return 0.0 if family == "rbf" else dim / (2 * nu[family] + dim)


def greedy_gain(K, noise_var, T):
    r"""Return greedy maximum information gains for 1, ..., T points of a finite domain.

    .. math:: \gamma_t \approx \tfrac12 \log\det(I + K_A / \sigma_n^2), \quad |A| = t

    Within 1 - 1/e of the maximum. Source: [EGPBO] Sec. 4, Lemma 1.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Prior covariance of the domain.
    noise_var : float
    T : int

    Returns
    -------
    ndarray of shape (T,)
        In nats.
    """
    K = np.array(K, dtype=float)
    total, gains = 0.0, []
    for _ in range(T):
        variances = np.diag(K)
        at = int(variances.argmax())
        total += 0.5 * np.log1p(variances[at] / noise_var)
        gains.append(total)
        column = K[:, at].copy()
        K -= np.outer(column, column) / (variances[at] + noise_var)
    return np.array(gains)


def exp3_rate(n_arms, horizon):
    r"""Return the exploration rate of EXP3BO.

    .. math:: \eta = \sqrt{M \log M / ((e - 1) T)}

    Source: [EGPBO] Sec. 5 (EXP3BO, as in the released code); Auer et al. (2002). At most 1.

    Parameters
    ----------
    n_arms, horizon : int
        M, T.

    >>> round(float(exp3_rate(11, 200)), 4), round(float(exp3_rate(4, 200)), 4)
    (0.277, 0.127)
    """
    M, T = _at_least(n_arms, 1, "n_arms"), _at_least(horizon, 1, "horizon")
    return min(1.0, np.sqrt(M * np.log(M) / ((np.e - 1) * T)))
