"""Information gains of [MTBO] Lemmas 1 and 6, and gains that are maximal by greedy choice."""

import numpy as np

from fivebo.common.gp.posterior import GP


def log_det_gain(gram, alpha):
    """Return log det(I + K / alpha) of a Gram matrix K.

    Source: [MTBO] Sec. 4, Theorem 2, Lemma 4.
    """
    return float(np.linalg.slogdet(np.eye(len(gram)) + gram / alpha)[1])


def greedy_gain(kernel, candidates, alpha, horizon):
    r"""Information gain of the greedy design after 1, ..., T rounds.

    .. math:: \gamma_T(k, \alpha) := \max_{X_T} \log\det(I_T + \alpha^{-1} K_T)
        \le \frac{\text{greedy}}{1 - 1/e}

    Parameters
    ----------
    kernel : Kernel
        Scalar kernel.
    candidates : ndarray of shape (m, d)
    alpha : float
        Regulariser > 0.
    horizon : int
        T.

    Returns
    -------
    ndarray of shape (T,)
        log det without the factor 1/2, non-decreasing.

    Notes
    -----
    Source: gamma_T as in [MTBO] Lemma 1; submodularity gives the factor 1 - 1/e (Krause & Guestrin
    2005; Srinivas et al. 2010), see `gain_upper_bound`.
    """
    gp = GP(kernel, alpha)
    tracked = gp.track(candidates)
    terms = np.empty(horizon)
    for t in range(horizon):
        best = int(tracked.var.argmax())
        terms[t] = np.log1p(tracked.var[best] / alpha)
        gp.condition(candidates[best : best + 1], np.zeros(1))
    return np.cumsum(terms)


def gain_upper_bound(kernel, candidates, alpha, horizon):
    """Return greedy / (1 - 1/e) at T, a computable upper bound on gamma_T(k, alpha)."""
    return float(greedy_gain(kernel, candidates, alpha, horizon)[-1] / (1 - np.exp(-1)))


def lemma1_gain(eigenvalues, gain, *, eta):
    r"""Upper bound on the multi-task gain of an ICM kernel.

    .. math:: \gamma_{nT}(\Gamma, \eta) \le \sum_{i: \xi_i > 0} \gamma_T(k, \eta/\xi_i)

    Source: [MTBO] Lemma 1. For one and the same set of points it is an equality of log dets.

    Parameters
    ----------
    eigenvalues : array_like of shape (n,)
        Eigenvalues xi of B.
    gain : callable
        alpha -> gamma_T(k, alpha), or the log det at given points.
    eta : float
    """
    return float(sum(gain(eta / xi) for xi in np.asarray(eigenvalues, dtype=float) if xi > 0))


def lemma1_norm_sum(gain_eta, *, eta, kappa):
    r"""Upper bound on the sum of posterior norms of an ICM kernel with k(x, x) = 1.

    .. math:: \sum_t \|\Gamma_t(x_t, x_t)\| \le \eta \max\{\kappa, 1\}\, \gamma_T(k, \eta)

    Source: [MTBO] Lemma 1.

    Parameters
    ----------
    gain_eta : float
        gamma_T(k, eta), or log det(I_T + K_T / eta) at the points themselves.
    eta, kappa : float
    """
    return eta * max(kappa, 1.0) * gain_eta


def similarity_gain(n_tasks, omega, gain, *, eta):
    r"""Lemma 1 for the kernel with similarity omega.

    .. math:: \gamma_{nT} \le \gamma_T(k, \eta) + (n - 1)\, \gamma_T(k, \eta/\omega)

    increasing in omega, the second term 0 at omega = 0. Source: [MTBO] Sec. 4.1, after Lemma 1.
    """
    return lemma1_gain([1.0, *[omega] * (n_tasks - 1)], gain, eta=eta)


def lemma6_gain(ranks, tops, gains):
    r"""Upper bound on the multi-task gain of a sum of separable kernels.

    .. math:: \gamma_{nT}(\Gamma, \eta) \le \sum_j \rho_j \max\{\xi_j, 1\}\, \gamma_T(k_j, \eta)

    Source: [MTBO] Lemma 6.

    Parameters
    ----------
    ranks, tops : array_like of shape (M,)
        Rank and largest eigenvalue of each B_j.
    gains : array_like of shape (M,)
        gamma_T(k_j, eta).
    """
    return float(np.sum(np.asarray(ranks) * np.maximum(tops, 1) * np.asarray(gains)))


def lemma6_norm_sum(tops, gains, *, eta):
    r"""Upper bound on the sum of posterior norms of a sum of separable kernels.

    .. math:: \sum_t \|\Gamma_t(x_t, x_t)\| \le \eta \sum_j \max\{\xi_j, 1\}\, \gamma_T(k_j, \eta)

    Source: [MTBO] Lemma 6.
    """
    return float(eta * np.sum(np.maximum(tops, 1) * np.asarray(gains)))
