"""Confidence bounds of the mean F_1 and of the negative standard deviation F_2, for all x at once.

Reference: [MVABO] Sec. 3.1. They are deterministic consequences of ``l_t <= f <= u_t``.
"""

from dataclasses import dataclass

import numpy as np

BLOCK_ELEMENTS = 2**16
"""Elements of one working block, small enough for the processor's cache."""


@dataclass(frozen=True)
class Bounds:
    r"""Intervals ``[l, u]`` of F_1 and F_2 at n designs, each field an ndarray of shape (n,).

    Parameters
    ----------
    l1, u1 : ndarray
        Of ``F_1 = E_w[f]``, in units of f.
    l2, u2 : ndarray
        Of ``F_2 = -sqrt(V_w[f])``, in units of f; u2 <= 0.
    """

    l1: np.ndarray
    u1: np.ndarray
    l2: np.ndarray
    u2: np.ndarray

    def at(self, rows):
        """Return the bounds of some designs only."""
        return Bounds(self.l1[rows], self.u1[rows], self.l2[rows], self.u2[rows])

    def scalarized(self, alpha):
        """Return l and u of ``G = alpha F_1 + (1 - alpha) F_2``. [MVABO] Sec. 3.2."""
        return (
            alpha * self.l1 + (1 - alpha) * self.l2,
            alpha * self.u1 + (1 - alpha) * self.u2,
        )

    @property
    def diameter(self):
        """lambda_t(x), the diagonal of the rectangle of both intervals. [MVABO] Eq. (8)."""
        return np.hypot(self.u1 - self.l1, self.u2 - self.l2)

    @property
    def pessimistic(self):
        """F_pes = (l1, l2), shape (n, 2). [MVABO] Sec. 3.2."""
        return np.column_stack([self.l1, self.l2])


def objective_bounds(mean, var, p, beta_sqrt):
    r"""Bounds of F_1 and F_2 from a Gaussian posterior of f.

    .. math::
        l^{(F_1)} = \int l_t p, \quad u^{(F_1)} = \int u_t p, \qquad
        l_t, u_t = \mu_{t-1} \mp \beta_t^{1/2} \sigma_{t-1}

    .. math::
        \tilde l_t = l_t - E_w[u_t] \le f - E_w[f] \le u_t - E_w[l_t] = \tilde u_t

    .. math::
        l^{(F_2)} = -\sqrt{\int \max\{\tilde l_t^2, \tilde u_t^2\} p}, \quad
        u^{(F_2)} = -\sqrt{\int \tilde l^{(sq)}_t p}

    where the last integrand is 0 if ``l~ <= 0 <= u~``, else ``min{l~^2, u~^2}``. With
    ``m = mu - E mu`` and ``s = beta^{1/2} (sigma + E sigma)`` the two are ``(|m| + s)^2`` and
    ``max(0, |m| - s)^2``, which is what is computed.

    Source: [MVABO] Sec. 2 (l_t, u_t), Sec. 3.1, Eqs. (2), (6); "p(x)dw" there is p(w)dw.

    Parameters
    ----------
    mean, var : ndarray of shape (n, m)
        mu_{t-1} and sigma_{t-1}^2 of f at all (x, w).
    p : ndarray of shape (m,)
        Probabilities of w.
    beta_sqrt : float
        beta_t^{1/2}: it multiplies the standard deviation.

    Returns
    -------
    Bounds

    Examples
    --------
    >>> mean, var, p = np.array([[1.0, -1.0]]), np.full((1, 2), 0.25), np.array([0.5, 0.5])
    >>> b = objective_bounds(mean, var, p, 1.0)
    >>> [float(v[0]) for v in (b.l1, b.u1, b.l2, b.u2)]
    [-0.5, 0.5, -2.0, -0.0]
    """
    n, m = mean.shape
    found = np.empty((4, n))
    step = max(1, BLOCK_ELEMENTS // m)
    for start in range(0, n, step):
        block = slice(start, start + step)
        found[:, block] = _block_bounds(mean[block], var[block], p, beta_sqrt)
    return Bounds(*found)


def _block_bounds(mean, var, p, beta_sqrt):
    s = np.sqrt(var)
    s *= beta_sqrt
    mean_1, width_1 = mean @ p, s @ p
    s += width_1[:, None]
    m = mean - mean_1[:, None]
    np.abs(m, out=m)
    low = m - s
    np.maximum(low, 0, out=low)
    low *= low
    m += s
    m *= m
    return mean_1 - width_1, mean_1 + width_1, -np.sqrt(m @ p), -np.sqrt(low @ p)


def objectives(f, p):
    r"""Return F_1 and F_2 of a known f.

    .. math:: F_1(x) = E_w[f(x, w)], \qquad F_2(x) = -\sqrt{V_w[f(x, w)]}

    Source: [MVABO] Eqs. (1), (3), (4), (5).

    Parameters
    ----------
    f : ndarray of shape (n, m)
    p : ndarray of shape (m,)

    Returns
    -------
    F1, F2 : ndarray of shape (n,)
    """
    F1 = f @ p
    return F1, -np.sqrt((f - F1[:, None]) ** 2 @ p)


def spread(f, p):
    """Return B~ = max |f(x, w) - E_w[f(x, w)]|. Source: [MVABO] Theorems 4.1, C.1."""
    return float(np.abs(f - (f @ p)[:, None]).max())
